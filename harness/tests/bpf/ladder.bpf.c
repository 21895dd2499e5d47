/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A ladder: programs that differ only in how often they do the same work, 0 to 128 times. The work
 * is a chain of multiplications without a jump, so its time depends neither on the place of the
 * code nor on branch history. It stands between two locked additions and behind eight times the
 * same work, so that it does not overlap with the runs before and after. With such an overlap the
 * first few rungs all take the same time.
 */
#include "bb_bpf.h"

__u64 sink;

/* `>> 29` keeps the compiler from folding the chain of multiplications into one. */
#define MUL(x) ((x) = ((x) ^ (x) >> 29) * 2862933555777941757ULL)
#define WORK_0(x) ((void)0)
#define WORK_1(x) (MUL(x), MUL(x))
#define WORK_2(x) (WORK_1(x), WORK_1(x))
#define WORK_3(x) (WORK_2(x), WORK_1(x))
#define WORK_4(x) (WORK_2(x), WORK_2(x))
#define WORK_5(x) (WORK_4(x), WORK_1(x))
#define WORK_6(x) (WORK_4(x), WORK_2(x))
#define WORK_7(x) (WORK_4(x), WORK_3(x))
#define WORK_8(x) (WORK_4(x), WORK_4(x))
#define WORK_12(x) (WORK_8(x), WORK_4(x))
#define WORK_16(x) (WORK_8(x), WORK_8(x))
#define WORK_24(x) (WORK_16(x), WORK_8(x))
#define WORK_32(x) (WORK_16(x), WORK_16(x))
#define WORK_48(x) (WORK_32(x), WORK_16(x))
#define WORK_64(x) (WORK_32(x), WORK_32(x))
#define WORK_96(x) (WORK_64(x), WORK_32(x))
#define WORK_128(x) (WORK_64(x), WORK_64(x))

#define RUNG(n)                                                                                    \
	SEC("tc")                                                                                  \
	int rung_##n(struct __sk_buff *ctx)                                                        \
	{                                                                                          \
		__u64 x;                                                                           \
                                                                                                   \
		__sync_fetch_and_add(&sink, 1); /* result unused: that would need Linux 5.12 */    \
		x = *(volatile __u64 *)&sink;                                                      \
		WORK_8(x);                                                                         \
		WORK_##n(x);                                                                       \
		__sync_fetch_and_add(&sink, x);                                                    \
		return 0;                                                                          \
	}

RUNG(0)
RUNG(1)
RUNG(2)
RUNG(3)
RUNG(4)
RUNG(5)
RUNG(6)
RUNG(7)
RUNG(8)
RUNG(12)
RUNG(16)
RUNG(24)
RUNG(32)
RUNG(48)
RUNG(64)
RUNG(96)
RUNG(128)
