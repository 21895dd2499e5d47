/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two programs that the verifier takes long for: it follows each of the 100 000 turns of their
 * loop. Behind the loop, slow_rejected has an instruction that the verifier rejects. A log of all
 * that it did until then has some 50 MB.
 */
#include "bb_bpf.h"

static __always_inline __u64 long_walk(const struct xdp_md *ctx)
{
	__u64 sum = ctx->rx_queue_index;

	for (__u64 i = 0; i < 100000; i++) {
		sum = sum * 3 + i;
		__asm__ volatile("" : "+r"(i), "+r"(sum)); /* the loop must stay a loop */
	}
	return sum;
}

SEC("xdp")
int slow_accepted(struct xdp_md *ctx)
{
	return long_walk(ctx) == 1 ? XDP_DROP : XDP_PASS;
}

SEC("xdp")
int slow_rejected(struct xdp_md *ctx)
{
	const __u8 *data = (const void *)(long)ctx->data;

	return long_walk(ctx) == 1 ? data[0] : XDP_PASS;
}
