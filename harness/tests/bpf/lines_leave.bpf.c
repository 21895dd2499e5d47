/* SPDX-License-Identifier: GPL-2.0-only */
/* For tests of the drive `lines`: a program that ends in a tail call. */
#include "bb_bpf.h"
#include "multiplications.h"

__u64 sink;

int tail(struct xdp_md *ctx);

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__array(values, int(void *));
} programs SEC(".maps") = {.values = {[0] = (void *)&tail}};

SEC("xdp")
int tail(struct xdp_md *ctx)
{
	__u64 x = bpf_ktime_get_ns();

	BB_STEP64(x);
	sink = x;
	return XDP_PASS;
}

/* One line, and then a tail call. */
SEC("xdp")
int leaves(struct xdp_md *ctx)
{
	sink = bpf_ktime_get_ns();
	bpf_tail_call(ctx, &programs, 0);
	return XDP_DROP;
}
