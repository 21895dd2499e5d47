/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_STATS_BINOMIAL_H
#define BB_STATS_BINOMIAL_H

#include <stdint.h>

#include "stats/estimate.h"

/* P(X <= k), X ~ Bin(n, p): I_{1-p}(n - k, k + 1). 1 for k >= n; NAN if p is not in [0, 1]. */
double bb_binomial_cdf(uint64_t k, uint64_t n, double p);

/* P(X >= k), with its relative precision kept where it is small. */
double bb_binomial_upper(uint64_t k, uint64_t n, double p);

/*
 * Interval for the probability behind k successes in n trials at confidence 1 - alpha, alpha / 2 a
 * side (Clopper & Pearson 1934, "exact": coverage is never below 1 - alpha). [0, 1] for n == 0;
 * NAN, NAN if k > n or alpha is not in (0, 1).
 */
struct bb_interval bb_clopper_pearson(uint64_t k, uint64_t n, double alpha);

/* One-sided: the largest p with P(X <= k) > alpha; 0 of 300 gives 0.99 % at 5 %. 1 for n == 0; NAN
 * as above. */
double bb_clopper_pearson_upper(uint64_t k, uint64_t n, double alpha);

#endif
