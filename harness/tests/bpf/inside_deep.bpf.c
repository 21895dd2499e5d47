/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A program with 64 paths, which its runs take in turn. Its stack has no room for a byte for each
 * branch. Run by tools/live_prog, which reads live_runs.
 */
#include "bb_bpf.h"

#define BRANCHES 64
#define DEEP 432

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} live_runs SEC(".maps");

SEC("xdp")
int inside_deep(struct xdp_md *ctx)
{
	__u32 zero = 0;
	__u64 *runs = bpf_map_lookup_elem(&live_runs, &zero), n;
	volatile __u8 deep[DEEP];

	if (!runs)
		return XDP_ABORTED;
	n = __sync_fetch_and_add(runs, 1);
	deep[0] = 0;
#pragma unroll
	for (int i = 0; i < BRANCHES; i++)
		if (n >> i % 6 & 1)
			deep[i] = 1;
	return XDP_PASS;
}
