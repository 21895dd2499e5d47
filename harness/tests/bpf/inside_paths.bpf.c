/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A program with known paths: each 50th run takes ten times as many rounds and returns XDP_DROP;
 * the others return XDP_PASS. Run by tools/live_prog, which reads live_runs.
 */
#include "bb_bpf.h"

#define ROUNDS 200

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} live_runs SEC(".maps");

SEC("xdp")
int inside_paths(struct xdp_md *ctx)
{
	__u32 zero = 0;
	__u64 *runs = bpf_map_lookup_elem(&live_runs, &zero);
	volatile __u64 sum = 0;

	if (!runs)
		return XDP_ABORTED;
	__sync_fetch_and_add(runs, 1);
	if (*runs % 50 == 0) {
		for (int i = 0; i < 10 * ROUNDS; i++)
			sum = sum + i;
		return XDP_DROP;
	}
	for (int i = 0; i < ROUNDS; i++)
		sum = sum + i;
	return XDP_PASS;
}
