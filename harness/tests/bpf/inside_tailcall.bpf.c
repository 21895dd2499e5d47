/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A chain of three tail-called programs; each takes four times as many rounds as the one before.
 * Each 10th run of the first tries a tail call that fails. Run by tools/live_prog, which reads
 * live_runs.
 */
#include "live_runs.h"

#define ROUNDS 100

int inside_first(struct xdp_md *ctx);
int inside_second(struct xdp_md *ctx);
int inside_third(struct xdp_md *ctx);

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 4);
	__uint(key_size, sizeof(__u32));
	__array(values, int(struct xdp_md *));
} jumps SEC(".maps") = {
	.values = {[0] = (void *)&inside_first,
		   [1] = (void *)&inside_second,
		   [2] = (void *)&inside_third},
};

static __always_inline void spin(int rounds)
{
	volatile __u64 sum = 0;

	for (int i = 0; i < rounds; i++)
		sum = sum + i;
}

SEC("xdp")
int inside_first(struct xdp_md *ctx)
{
	__u64 *runs = find_live_runs();

	if (!runs)
		return XDP_ABORTED;
	__sync_fetch_and_add(runs, 1);
	spin(ROUNDS);
	bpf_tail_call(ctx, &jumps, *runs % 10 ? 1 : 3);
	return XDP_TX;
}

SEC("xdp")
int inside_second(struct xdp_md *ctx)
{
	spin(4 * ROUNDS);
	bpf_tail_call(ctx, &jumps, 2);
	return XDP_ABORTED;
}

SEC("xdp")
int inside_third(struct xdp_md *ctx)
{
	spin(16 * ROUNDS);
	return XDP_PASS;
}
