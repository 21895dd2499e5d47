/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Three prog arrays whose slots are given in the object. `bad` has a program that no verifier
 * accepts. The programs that cannot get to that one can be loaded.
 */
#include "bb_bpf.h"

int passes(struct xdp_md *ctx);
int goes_on(struct xdp_md *ctx);
int reads_past_the_end(struct xdp_md *ctx);

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 2);
	__uint(key_size, sizeof(__u32));
	__array(values, int(struct xdp_md *));
} good SEC(".maps") = {
	.values = {[1] = (void *)&passes},
};

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__array(values, int(struct xdp_md *));
} bad SEC(".maps") = {
	.values = {[0] = (void *)&reads_past_the_end},
};

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__array(values, int(struct xdp_md *));
} onward SEC(".maps") = {
	.values = {[0] = (void *)&goes_on},
};

SEC("xdp")
int passes(struct xdp_md *ctx)
{
	return XDP_PASS;
}

SEC("xdp")
int reads_past_the_end(struct xdp_md *ctx)
{
	return *(int *)(long)ctx->data;
}

/* The second of the two tail calls that lead from jumps_to_bad to the rejected program. */
static __attribute__((noinline)) int jump(struct xdp_md *ctx)
{
	bpf_tail_call(ctx, &bad, 0);
	return XDP_ABORTED;
}

SEC("xdp")
int goes_on(struct xdp_md *ctx)
{
	return jump(ctx);
}

SEC("xdp")
int jumps_to_good(struct xdp_md *ctx)
{
	bpf_tail_call(ctx, &good, 1);
	return XDP_ABORTED;
}

SEC("xdp")
int jumps_to_bad(struct xdp_md *ctx)
{
	bpf_tail_call(ctx, &onward, 0);
	return XDP_ABORTED;
}
