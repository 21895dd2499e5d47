/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_STATS_AB_BLOCK_H
#define BB_STATS_AB_BLOCK_H

#include <stddef.h>
#include <stdint.h>

/*
 * One ABBA or BAAB block of an A/B comparison is one observation
 * (docs/methods/two-programs.md): both labels are pooled for one threshold
 * T = median + max(5 * IQR, 3 * tick, 10 ns), and d = ln(mean of b <= T) - ln(mean of a <= T). With
 * one T for both, swapping the labels negates d to the last bit, so that the coin which orders the
 * block makes d symmetric about 0 when the programs are the same: nothing else is assumed.
 */
struct bb_ab_block {
	double d; /* ln(mean b / mean a); NAN when a label has nothing <= T or a mean of 0 */
	/* of the values <= T; NAN when there are none. For net ratios */
	double mean_a_ns, mean_b_ns;
	double threshold_ns;           /* T */
	size_t outliers_a, outliers_b; /* values > T */
};

/*
 * The observation of a_ns[na] and b_ns[nb]. `tick_ns` is the clock's (bb_tick() of the whole series
 * of both labels, or of the warm-up: tens of values are too few to see it); 0 or NAN leaves that
 * term out. scratch[na + nb] is the caller's and is overwritten. Values up to 2^53 ns are exact.
 * Does not allocate; well under 2 us for 2 x 32 values, O(n log n) beyond. 0, or -EINVAL if na or
 * nb is 0.
 */
int bb_ab_block_difference(const uint64_t *a_ns, size_t na, const uint64_t *b_ns, size_t nb,
			   double tick_ns, double *scratch, struct bb_ab_block *ret_block);

/*
 * The observation of one load pair: the median of d[n], its blocks. NAN entries (void blocks) are
 * left out; NAN if there is no other. Reorders d. *ret_used (may be NULL) is the number of blocks
 * counted. Does not allocate.
 */
double bb_ab_pair_difference(double *d, size_t n, size_t *ret_used);

#endif
