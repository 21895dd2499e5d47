/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <linux/bpf.h>

#include "base/std.h"

/* Asks the kernel about the BPF program, map, BTF or link with the descriptor `fd`. `*info` is the
 * bpf_..._info struct of that kind of object. The caller zeroes `*info` first, and may then set
 * addresses and lengths of arrays for the kernel to fill. Returns 0 or -errno. */
#define bb_info__read(fd, info) bb_info__read_bytes(fd, info, sizeof(*(info)))
static inline int bb_info__read_bytes(int fd, void *info, uint32_t bytes)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.info.bpf_fd = (uint32_t)fd;
	attr.info.info_len = bytes;
	attr.info.info = (uintptr_t)info;
	return syscall(__NR_bpf, BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr)) < 0 ? -errno : 0;
}

static inline bool bb_map_type__is_per_cpu(uint32_t type)
{
	return type == BPF_MAP_TYPE_PERCPU_HASH || type == BPF_MAP_TYPE_PERCPU_ARRAY ||
	       type == BPF_MAP_TYPE_LRU_PERCPU_HASH;
}

/* True for hash maps of any kind and for tries. */
static inline bool bb_map_type__is_table(uint32_t type)
{
	return type == BPF_MAP_TYPE_HASH || type == BPF_MAP_TYPE_LRU_HASH ||
	       type == BPF_MAP_TYPE_PERCPU_HASH || type == BPF_MAP_TYPE_LRU_PERCPU_HASH ||
	       type == BPF_MAP_TYPE_LPM_TRIE;
}
