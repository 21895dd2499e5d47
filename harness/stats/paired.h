/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "stats/estimate.h"

/* Paired comparison by signed ranks (Hodges & Lehmann 1963; Hollander & Wolfe 1999, 3.1-3.3). The
 * null distribution is exact for n <= BB_SIGNED_RANK_EXACT_MAX. For a larger n it is a normal
 * approximation with continuity correction. The functions take a few milliseconds and 0.7 MB at n =
 * 300, and microseconds at n = 24. */
#define BB_SIGNED_RANK_EXACT_MAX 300

struct bb_signed_rank {
	/* Median of the Walsh averages (d[i] + d[j]) / 2, i <= j. NAN if n == 0, a value is not
	 * finite, or alpha is not in (0, 1). */
	double estimate;
	/* at confidence >= 1 - alpha; NAN, NAN if n < 6 (at 5 %) */
	struct bb_interval interval;
};

/* Computes estimate and interval for the differences d[n], in any order. The interval is [W(k), W(N
 * + 1 - k)] of the N Walsh averages, with k of bb_signed_rank_critical(). It is closed, so it is
 * conservative with ties. */
struct bb_signed_rank bb_signed_rank(const double *d, size_t n, double alpha);

/* Like bb_signed_rank(), but for fewer than BB_FEW differences the estimate is their median. One
 * outlier among three values decides the Hodges-Lehmann estimate, but not the median. One outlier
 * among four or more decides neither. */
#define BB_FEW 4u
struct bb_signed_rank bb_robust_rank(const double *d, size_t n, double alpha);

/* Returns the rank k of the interval of bb_signed_rank(): the largest k with 2 P(T <= k - 1) <=
 * alpha for n differences without ties. So k - 1 is the tabulated critical value. Returns 0 if
 * there is no such k or alpha is not in (0, 1). */
size_t bb_signed_rank_critical(size_t n, double alpha);

/*
 * Tests that stay valid when they are repeated after every new pair of loads. Each pair gives a
 * difference D. theta is a hypothesis about the median of the D. A D is like the toss of a coin
 * with the sides "above theta" and "below theta". For n differences of which s are above theta, the
 * mixture of the coin's likelihood ratios over Beta(1/2, 1/2)
 *
 *         M_n(s) = 2^n G(s + 1/2) G(n - s + 1/2) / (pi n!)
 *
 * is a martingale with mean 1 if the coin is fair. So the probability that M ever reaches 1 / alpha
 * is at most alpha (Ville 1939; Robbins 1970; the betting form of Howard & Ramdas, arXiv
 * 1906.09712). The only condition is that each D is above theta with probability 1/2, whatever the
 * D before it are. Independent D with the median theta fulfil it. Pairs of two equal programs
 * fulfil it with theta = 0, because the order in each pair is random.
 */

/* Returns ln M_n(s): 0 for n == 0, NAN if s > n. */
double bb_eprocess_log(size_t n, size_t s);

/* Returns the smallest s at which n differences do not reject theta: M_n(s) < 1 / alpha. 0 (n < 7
 * at 5 %) means that no theta can be rejected yet. */
size_t bb_eprocess_rank(size_t n, double alpha);

/* Returns the interval of all theta that d[n] does not reject: [D(k), D(n + 1 - k)] with k of
 * bb_eprocess_rank(). d[n] are all differences so far, in any order. The interval is closed, so it
 * is conservative with ties. With probability >= 1 - alpha, the intervals after 1, 2, 3, ...
 * differences all contain the median. NAN, NAN if k = 0, a value of d is NAN, or alpha is not in
 * (0, 1). */
struct bb_interval bb_eprocess_interval(const double *d, size_t n, double alpha);

/* Returns the p-value of the hypothesis "the median is at most theta" (direction > 0) or "the
 * median is at least theta" (direction < 0). It is valid after any number of differences: min(1, 1
 * / M) if more than half of d is strictly beyond theta, else 1. It is not halved, although the test
 * is one-sided. So p <= alpha exactly if bb_eprocess_interval() at alpha lies beyond theta. NAN if
 * theta or a value of d is NAN. */
double bb_eprocess_p(const double *d, size_t n, double theta, int direction);

/* The result of one block, in which the programs a and b take turns: ABBA or BAAB
 * (docs/methods/two-programs.md). All values of the block give one threshold T = median + max(5 *
 * IQR, 3 * tick, 10 ns), and d = ln(mean of b <= T) - ln(mean of a <= T). With one T for both
 * programs, swapping a and b negates d to the last bit. The order of each block is random. So if a
 * and b are the same program, d and -d are equally likely. */
struct bb_ab_block {
	double d; /* NAN if a or b has no value <= T or a mean of 0 */
	/* means of the values <= T; NAN without such values, and if a or b is empty */
	double mean_a_ns, mean_b_ns;
	double threshold_ns;
	size_t outliers_a, outliers_b;
};

/* Computes the result of a block with the values a_ns[na] and b_ns[nb]. `tick_ns` is the clock's
 * tick, or 0 or NAN if unknown. It must come from bb_tick() of the whole series or of the warm-up,
 * because a block has too few values to show the tick. scratch[na + nb] is overwritten. Values up
 * to 2^53 ns are exact. */
struct bb_ab_block bb_ab_block_difference(const uint64_t *a_ns, size_t na, const uint64_t *b_ns,
					  size_t nb, double tick_ns, double *scratch);

/* Returns the difference of a pair of loads: the median of d[n], which has one value per block. NAN
 * values do not count. Returns NAN if no value counts. Reorders d. `*ret_used` (may be NULL)
 * receives the number of blocks used. */
double bb_ab_pair_difference(double *d, size_t n, size_t *ret_used);
