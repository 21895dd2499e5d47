/* SPDX-License-Identifier: GPL-2.0-only */
/* What every BPF program here starts from: UAPI types and libbpf's helpers, so that a build needs
 * no BTF of the kernel. */
#ifndef BB_BPF_H
#define BB_BPF_H

#include <linux/types.h>
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

/*
 * Runs whose result was thrown away (ring full, map full). bpfbench reads a global of this name
 * after every series, of any program that has one.
 */
__u64 drops;

static __always_inline void bb_count_drop(void)
{
	__sync_fetch_and_add(&drops, 1);
}

#endif
