/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A program that keeps the results of 24 lookups. A counter at each lookup makes two cases of each,
 * so many in all that the verifier gives up: it accepts the program without counters only.
 */
#include "bb_bpf.h"

#define LOOKUPS 24

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, __u32);
	__type(value, __u64);
} flows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 8);
	__type(key, __u32);
	__type(value, __u32);
} jump_table SEC(".maps");

SEC("xdp")
int looks_often(struct xdp_md *ctx)
{
	void *found[LOOKUPS];

#pragma unroll
	for (__u32 i = 0; i < LOOKUPS; i++) {
		__u32 key = i;

		found[i] = bpf_map_lookup_elem(&flows, &key);
	}
	if (bpf_csum_diff(NULL, 0, (void *)found, sizeof(found), 0) == 1)
		return XDP_DROP;
	bpf_tail_call(ctx, &jump_table, 3);
	return XDP_PASS;
}
