/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs that call each other through a prog array whose slots are given in the object. The last
 * one's return value shows that it was reached. Its time counts towards the first one.
 */
#include "bb_bpf.h"

#define ROUNDS 400

int second(struct xdp_md *ctx);
int third(struct xdp_md *ctx);

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 2);
	__uint(key_size, sizeof(__u32));
	__array(values, int(struct xdp_md *));
} jumps SEC(".maps") = {
	.values = {[0] = (void *)&second, [1] = (void *)&third},
};

SEC("xdp")
int first(struct xdp_md *ctx)
{
	bpf_tail_call(ctx, &jumps, 0);
	return XDP_ABORTED;
}

SEC("xdp")
int second(struct xdp_md *ctx)
{
	bpf_tail_call(ctx, &jumps, 1);
	return XDP_ABORTED;
}

SEC("xdp")
int third(struct xdp_md *ctx)
{
	volatile __u64 sum = 0;

	for (int i = 0; i < ROUNDS; i++)
		sum += i;
	return sum ? XDP_TX : XDP_ABORTED;
}
