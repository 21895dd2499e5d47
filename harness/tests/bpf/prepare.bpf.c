/* SPDX-License-Identifier: GPL-2.0-only */
/* `learn` fills the table that `find` looks into; `alone` has no map. */
#include "bb_bpf.h"

#define KEY 7

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} learnt SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u64);
} table SEC(".maps");

SEC("xdp")
int learn(struct xdp_md *ctx)
{
	__u32 zero = 0, *n = bpf_map_lookup_elem(&learnt, &zero);
	__u64 length = ctx->data_end - ctx->data;

	if (!n)
		return XDP_ABORTED;
	bpf_map_update_elem(&table, n, &length, BPF_ANY);
	(*n)++;
	return XDP_DROP;
}

/* Returns XDP_TX if the last key that 8 runs of `learn` add is there. */
SEC("xdp")
int find(struct xdp_md *ctx)
{
	__u32 key = KEY;

	return bpf_map_lookup_elem(&table, &key) ? XDP_TX : XDP_PASS;
}

SEC("xdp")
int alone(struct xdp_md *ctx)
{
	return XDP_PASS;
}
