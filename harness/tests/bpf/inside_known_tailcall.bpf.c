/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs of known cost for bench/bench_inside.c: a chain of three tail-called programs, and one
 * with two paths, of which each 50th run takes the slow one. Beside them, the same work in separate
 * programs, which the bench measures with the step drive.
 */
#include "bb_bpf.h"

#define FAST 20
#define SLOW (10 * FAST)

int known_100(struct xdp_md *ctx);
int known_400(struct xdp_md *ctx);
int known_1600(struct xdp_md *ctx);

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 3);
	__uint(key_size, sizeof(__u32));
	__array(values, int(struct xdp_md *));
} jumps SEC(".maps") = {
	.values = {[0] = (void *)&known_100, [1] = (void *)&known_400, [2] = (void *)&known_1600},
};

__u64 runs;

/* A round is a chain of 8 multiplications: about 10 ns at 2.4 GHz. It does not access memory, as
 * the time of that depends on addresses. */
static __always_inline void spin(int rounds)
{
	__u64 product = 3;

	for (int i = 0; i < rounds; i++)
		asm volatile("%0 *= 3; %0 *= 3; %0 *= 3; %0 *= 3;"
			     "%0 *= 3; %0 *= 3; %0 *= 3; %0 *= 3;"
			     : "+r"(product));
}

SEC("xdp")
int known_paths(struct xdp_md *ctx)
{
	if (__sync_fetch_and_add(&runs, 1) % 50 == 49) {
		spin(SLOW);
		return XDP_DROP;
	}
	spin(FAST);
	return XDP_PASS;
}

SEC("xdp")
int known_100(struct xdp_md *ctx)
{
	spin(10);
	bpf_tail_call(ctx, &jumps, 1);
	return XDP_ABORTED;
}

SEC("xdp")
int known_400(struct xdp_md *ctx)
{
	spin(40);
	bpf_tail_call(ctx, &jumps, 2);
	return XDP_ABORTED;
}

SEC("xdp")
int known_1600(struct xdp_md *ctx)
{
	spin(160);
	return XDP_PASS;
}

#define ALONE(name, rounds)                                                                        \
	SEC("xdp") int name(struct xdp_md *ctx)                                                    \
	{                                                                                          \
		spin(rounds);                                                                      \
		return XDP_PASS;                                                                   \
	}

ALONE(alone_100, 10)
ALONE(alone_400, 40)
ALONE(alone_1600, 160)

/* Each as one path of known_paths; the condition never holds. */
#define ALONE_PATH(name, rounds)                                                                   \
	SEC("xdp") int name(struct xdp_md *ctx)                                                    \
	{                                                                                          \
		if (__sync_fetch_and_add(&runs, 1) % 50 == 50)                                     \
			return XDP_DROP;                                                           \
		spin(rounds);                                                                      \
		return XDP_PASS;                                                                   \
	}

ALONE_PATH(alone_fast, FAST)
ALONE_PATH(alone_slow, SLOW)
