/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_STATS_BINOMIAL_H
#define BB_STATS_BINOMIAL_H

#include <stdint.h>

/* P(X <= k), X ~ Bin(n, p): I_{1-p}(n - k, k + 1). 1 for k >= n; NAN if p is not in [0, 1]. */
double bb_binomial_cdf(uint64_t k, uint64_t n, double p);

/*
 * The largest p with P(X <= k) > alpha: the upper end of a one-sided interval for the probability
 * behind k successes in n trials (Clopper & Pearson 1934, "exact": its coverage is never below
 * 1 - alpha). 0 of 300 gives 0.99 % at 5 %. 1 for n == 0; NAN if k > n or alpha is not in (0, 1).
 */
double bb_clopper_pearson_upper(uint64_t k, uint64_t n, double alpha);

#endif
