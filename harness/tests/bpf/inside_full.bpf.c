/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A program whose stack has no room for any instrument. Run by tools/live_prog, which reads
 * live_runs.
 */
#include "bb_bpf.h"

#define FULL 500

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} live_runs SEC(".maps");

SEC("xdp")
int inside_full(struct xdp_md *ctx)
{
	__u32 zero = 0;
	__u64 *runs = bpf_map_lookup_elem(&live_runs, &zero);
	__u8 full[FULL];

	if (!runs)
		return XDP_ABORTED;
	asm volatile("" : : "r"(full) : "memory"); /* or the compiler keeps one byte of them */
	full[0] = (__u8)__sync_fetch_and_add(runs, 1);
	return full[0] ? XDP_PASS : XDP_DROP;
}
