/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The loop of bpf/loops.bpf.c in a program of a type that has test runs. Its time depends on where
 * the JIT puts it, in the drives step and slope alike.
 */
#include "bb_bpf.h"

const volatile __u32 rounds = 400;
__u64 sink;

SEC("xdp")
int loop(struct xdp_md *ctx)
{
	__u64 a = 1, b = 7;

	for (__u32 i = 0; i < 100000; i++) {
		if (i >= rounds)
			break;
		a += b;
		b ^= a;
		b >>= 3;
		if (b & 1)
			a += 3;
	}
	sink = a;
	return XDP_PASS;
}
