/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_FUN_XDP_H
#define BB_FUN_XDP_H

#include <linux/types.h>

/*
 * The classification of an IPv4 source address by fun_xdp, as inline functions for BPF and user
 * space. `addr` has the address's four bytes as a little-endian machine reads them, without
 * bpf_ntohl(). So the low byte is the first byte of the address: N of N.0.0.1, byte 26 of an
 * Ethernet frame.
 *
 * The functions return the value to push to SOURCE_ADDR_QUEUE, or BB_NO_PUSH.
 */
enum bb_source_addr {
	BB_FIZZ = 0,
	BB_BUZZ = 1,
	BB_FIZZ_BUZZ = 2,
	BB_FIBONACCI = 3,
};

#define BB_NO_PUSH (-1)

#define BB_SOURCE_ADDR_QUEUE_ENTRIES 1024

#define bb_inline static inline __attribute__((always_inline))

bb_inline int bb_fizz(__u32 addr)
{
	return addr % 3 == 0 ? BB_FIZZ : BB_NO_PUSH;
}

bb_inline int bb_fizz_buzz(__u32 addr)
{
	int fizz = addr % 3 == 0, buzz = addr % 5 == 0;

	return fizz && buzz ? BB_FIZZ_BUZZ : fizz ? BB_FIZZ : buzz ? BB_BUZZ : BB_NO_PUSH;
}

/*
 * The regression: computes Fibonacci numbers from 0 and 1 in 8 bits until one is at least n. The
 * next number after 233, 377, does not fit in 8 bits. So for n > 233 the sum wraps around, and the
 * loop goes on, up to 381 times, until a value happens to be large enough. `*trips` counts the
 * rounds unless `trips` is NULL.
 */
bb_inline int bb_is_fibonacci_by_loop(__u8 n, __u32 *trips)
{
	__u8 a = 0, b = 1;

	while (b < n) {
		__u8 sum = (__u8)(a + b);

		a = b;
		b = sum;
		if (trips)
			++*trips;
	}
	return b == n;
}

/* The repair: a table of all Fibonacci numbers below 256. */
bb_inline int bb_is_fibonacci_by_table(__u8 n)
{
	switch (n) {
	case 0:
	case 1:
	case 2:
	case 3:
	case 5:
	case 8:
	case 13:
	case 21:
	case 34:
	case 55:
	case 89:
	case 144:
	case 233: return 1;
	default: return 0;
	}
}

#endif
