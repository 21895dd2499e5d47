/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_STATS_SEQUENTIAL_H
#define BB_STATS_SEQUENTIAL_H

#include <stddef.h>

#include "stats/estimate.h"

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

#endif
