/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_STATS_PAIRED_H
#define BB_STATS_PAIRED_H

#include "base/std.h"
#include "stats/estimate.h"

/*
 * Paired comparison by signed ranks. Sources: Hodges & Lehmann 1963; Hollander & Wolfe 1999,
 * 3.1-3.3. The null distribution is exact for n <= BB_SIGNED_RANK_EXACT_MAX and a
 * normal approximation, corrected for continuity, beyond. All of these allocate (and free)
 * O(n^2) bytes at most, 0.7 MB, and take a few milliseconds at n = 300, microseconds at n = 24.
 */
#define BB_SIGNED_RANK_EXACT_MAX 300

struct bb_signed_rank {
	/* median of the Walsh averages (d[i] + d[j]) / 2, i <= j; NAN if n == 0 */
	double estimate;
	/* at confidence >= 1 - alpha; NAN, NAN when n is too small (n < 6 at 5 %) */
	struct bb_interval interval;
};

/*
 * Estimate and interval for the differences d[n], any order. The interval is [W(k), W(N + 1 -
 * k)] of the N Walsh averages, k from the distribution without ties; being closed it stays
 * conservative when there are ties: were they broken at random by next to nothing, the interval
 * would cover, and its ends would move by next to nothing. -EINVAL if any d is not finite (a
 * void pair must be left out by the caller, which then knows) or alpha is not in (0, 1); -ENOMEM.
 */
int bb_signed_rank(const double *d, size_t n, double alpha, struct bb_signed_rank *ret_result);

/*
 * The same, but the estimate for fewer than BB_FEW differences is their median. One wild value of
 * three decides the Hodges-Lehmann estimate but not the median; of four or more it decides neither.
 */
#define BB_FEW 4u
int bb_robust_rank(const double *d, size_t n, double alpha, struct bb_signed_rank *ret_result);

/*
 * The rank k above: the largest with 2 P(T <= k - 1) <= alpha for n differences without ties, so
 * that k - 1 is the usual tabulated critical value; 0 if there is none. -EINVAL if alpha is not in
 * (0, 1), -ENOMEM.
 */
int bb_signed_rank_critical(size_t n, double alpha, size_t *ret_k);

/*
 * Looking at every new pair without paying for it in false alarms. For differences D (one a load
 * pair) and a candidate median theta, s = #{D > theta} of n; the mixture of likelihood ratios of a
 * coin's sides over Beta(1/2, 1/2)
 *
 *	M_n(s) = 2^n G(s + 1/2) G(n - s + 1/2) / (pi n!)
 *
 * is a martingale of mean 1 when the coin is fair, so M >= 1 / alpha at any look at all has
 * probability <= alpha (Ville 1939; Robbins 1970; the betting form of Howard & Ramdas, arXiv
 * 1906.09712). It needs each D to fall on either side of theta with probability 1/2 whatever came
 * before: that holds for independent pairs, whatever their distribution, and at theta = 0 it holds
 * for A/A by the coin that ordered each pair.
 */

/* ln M_n(s). 0 for n == 0; NAN if s > n. */
double bb_eprocess_log(size_t n, size_t s);

/* The smallest s that is not rejected after n: M_n(s) < 1 / alpha. 0 (n < 7 at 5 %): nothing is
 * rejected yet. */
size_t bb_eprocess_rank(size_t n, double alpha);

/*
 * The theta not rejected by d[n], any order, all so far: [D(k), D(n + 1 - k)] with k of
 * bb_eprocess_rank(). Closed, and so conservative under ties: a D equal to theta counts for neither
 * side. All looks together cover the median with probability >= 1 - alpha. NAN, NAN if k = 0, any d
 * is NAN, alpha is not in (0, 1) or memory is out: it allocates (and frees) a copy of d.
 */
struct bb_interval bb_eprocess_interval(const double *d, size_t n, double alpha);

/*
 * The p-value, valid at every look, of "the median is at most theta" (direction > 0) or "at least
 * theta" (< 0): min(1, 1 / M) where d leans beyond theta, else 1; not halved for its one side,
 * which is conservative. Counts are strict, so p <= alpha exactly when bb_eprocess_interval() at
 * alpha lies beyond theta. NAN if theta or any d is NAN. With theta = +-ln(1 + eps) Holm's
 * correction of a sequential verdict uses it. Does not allocate.
 */
double bb_eprocess_p(const double *d, size_t n, double theta, int direction);

/*
 * One ABBA or BAAB block of an A/B comparison is one observation
 * (docs/methods/two-programs.md): both labels are pooled for one threshold
 * T = median + max(5 * IQR, 3 * tick, 10 ns), and d = ln(mean of b <= T) - ln(mean of a <= T). With
 * one T for both, swapping the labels negates d to the last bit, so that the coin which orders the
 * block makes d symmetric about 0 when the programs are the same: nothing else is assumed.
 */
struct bb_ab_block {
	double d; /* ln(mean b / mean a); NAN if a label has no value <= T or a mean of 0 */
	/* of the values <= T; NAN if there are none. For net ratios */
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
