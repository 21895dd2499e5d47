/* SPDX-License-Identifier: GPL-2.0-only */
/* Every BPF program here includes this: UAPI types and libbpf's helpers. So a build needs no BTF of
 * the kernel. */
#ifndef BB_BPF_H
#define BB_BPF_H

#include <linux/types.h>
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

/* Number of runs whose result was thrown away because a ring or map was full. bpfbench reads a
 * global of this name after every series, also in the programs of users. */
__u64 drops;

static __always_inline void bb_count_drop(void)
{
	__sync_fetch_and_add(&drops, 1);
}

#endif
