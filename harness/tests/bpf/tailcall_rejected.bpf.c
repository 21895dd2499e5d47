/* SPDX-License-Identifier: GPL-2.0-only */
/* A prog array that holds a program that no verifier accepts: the program that jumps to it cannot
 * be loaded either. */
#include "bb_bpf.h"

int reads_past_the_end(struct xdp_md *ctx);

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__array(values, int(struct xdp_md *));
} jumps SEC(".maps") = {
	.values = {[0] = (void *)&reads_past_the_end},
};

SEC("xdp")
int first(struct xdp_md *ctx)
{
	bpf_tail_call(ctx, &jumps, 0);
	return XDP_ABORTED;
}

SEC("xdp")
int reads_past_the_end(struct xdp_md *ctx)
{
	return *(int *)(long)ctx->data;
}
