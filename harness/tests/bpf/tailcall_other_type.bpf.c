/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A prog array of XDP programs, and a program of another type that has nothing to do with it.
 * libbpf loads an object only if no slot of its prog arrays stays empty.
 */
#include "bb_bpf.h"

int passes(struct xdp_md *ctx);

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__array(values, int(struct xdp_md *));
} jumps SEC(".maps") = {
	.values = {[0] = (void *)&passes},
};

SEC("xdp")
int passes(struct xdp_md *ctx)
{
	return XDP_PASS;
}

SEC("xdp")
int first(struct xdp_md *ctx)
{
	bpf_tail_call(ctx, &jumps, 0);
	return XDP_ABORTED;
}

__u64 faults;

SEC("perf_event")
int counts_faults(struct bpf_perf_event_data *ctx)
{
	faults++;
	return 0;
}
