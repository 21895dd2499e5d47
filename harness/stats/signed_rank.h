/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_STATS_SIGNED_RANK_H
#define BB_STATS_SIGNED_RANK_H

#include <stddef.h>

#include "stats/estimate.h"

/*
 * Paired comparison by signed ranks. Sources: Wilcoxon 1945; Hodges & Lehmann 1963; Hollander &
 * Wolfe 1999, 3.1-3.3. The null distribution is exact for n <= BB_SIGNED_RANK_EXACT_MAX and a
 * normal approximation, corrected for continuity and ties, beyond. All of these allocate (and free)
 * O(n^2) bytes at most, 0.7 MB, and take a few milliseconds at n = 300, microseconds at n = 24.
 */
#define BB_SIGNED_RANK_EXACT_MAX 300

struct bb_signed_rank {
	/* median of the Walsh averages (d[i] + d[j]) / 2, i <= j; NAN if n == 0 */
	double estimate;
	/* at confidence >= 1 - alpha; NAN, NAN when n is too small (n < 6 at 5 %) */
	struct bb_interval interval;
	double p; /* two-sided, of "symmetric about 0"; 1 if n == 0 or all d are 0 */
};

/*
 * Estimate, interval and p for the differences d[n], any order. The interval is [W(k), W(N + 1 -
 * k)] of the N Walsh averages, k from the distribution without ties; being closed it stays
 * conservative when there are ties (break them at random by arbitrarily little: the interval of the
 * broken ones covers, and ends as near to this one as you like). -EINVAL if any d is not finite (a
 * void pair must be left out by the caller, which then knows) or alpha is not in (0, 1); -ENOMEM.
 */
int bb_signed_rank(const double *d, size_t n, double alpha, struct bb_signed_rank *ret_result);

struct bb_signed_rank_p {
	double greater;   /* P(T >= t): small when d is above theta */
	double less;      /* P(T <= t): small when d is below theta */
	double two_sided; /* min(1, 2 min(greater, less)) */
};

/*
 * p-values of "d[n] is symmetric about theta". Ties in |d - theta| share midranks, differences of 0
 * are ranked and then left out (Pratt 1959), and p is the exact conditional one: over all 2^n signs
 * of the ranks seen. Holm's correction of a verdict "regressed" uses its `greater` at theta = ln(1
 * + eps). Errors as above.
 */
int bb_signed_rank_test(const double *d, size_t n, double theta, struct bb_signed_rank_p *ret_p);

/*
 * The rank k above: the largest with 2 P(T <= k - 1) <= alpha for n differences without ties, so
 * that k - 1 is the usual tabulated critical value; 0 if there is none. -EINVAL if alpha is not in
 * (0, 1), -ENOMEM.
 */
int bb_signed_rank_critical(size_t n, double alpha, size_t *ret_k);

#endif
