/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A prog array that only user space fills, a program that jumps into it, and a program of the same
 * type that no verifier accepts. The first program can still be measured: nothing in the object
 * says that it would call the other.
 */
#include "bb_bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} jumps SEC(".maps");

SEC("xdp")
int jumps_nowhere(struct xdp_md *ctx)
{
	bpf_tail_call(ctx, &jumps, 0);
	return XDP_DROP;
}

SEC("xdp")
int reads_past_the_end(struct xdp_md *ctx)
{
	return *(int *)(long)ctx->data;
}

/* Its section names no hook of any kernel: another program jumps to it. */
SEC("raw_tp/the_rest_of_it")
int is_jumped_to(void *ctx)
{
	return 0;
}
