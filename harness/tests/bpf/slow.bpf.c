/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs whose run takes as long as `turns` says, from microseconds to seconds: each turn is
 * 100000 steps of a loop, 0.1 to 0.5 ms. Needs bpf_loop (Linux 5.17).
 */
#include "bb_bpf.h"

#define STEPS 100000

const volatile __u32 turns = 1;

static long step(__u32 i, void *sum)
{
	*(volatile __u64 *)sum += i;
	return 0;
}

static long turn(__u32 i, void *sum)
{
	bpf_loop(STEPS, step, sum, 0);
	return 0;
}

static __always_inline __u64 spin(void)
{
	__u64 sum = 0;

	bpf_loop(turns, turn, &sum, 0);
	return sum;
}

SEC("perf_event")
int slow_perf_event(struct bpf_perf_event_data *ctx)
{
	return spin() == 1;
}

SEC("xdp")
int slow_xdp(struct xdp_md *ctx)
{
	return spin() == 1 ? XDP_DROP : XDP_PASS;
}

/* A test run of this type takes no `repeat`. */
SEC("syscall")
int slow_syscall(void *ctx)
{
	return spin() == 1;
}

/* No loop, for a fast program beside the slow ones. */
SEC("xdp")
int fast_xdp(struct xdp_md *ctx)
{
	return XDP_PASS;
}
