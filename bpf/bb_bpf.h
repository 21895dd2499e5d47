/* SPDX-License-Identifier: GPL-2.0-only */
/* Included by every BPF program here: UAPI types and libbpf's helpers. It needs no BTF of the
 * kernel for a build. */
#ifndef BB_BPF_H
#define BB_BPF_H

#include <linux/types.h>
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

/* Number of runs whose result was thrown away because a ring or map was full. bpfbench reads a
 * global of this name after every series, in any program that has one. */
__u64 drops;

static __always_inline void bb_count_drop(void)
{
	__sync_fetch_and_add(&drops, 1);
}

#endif
