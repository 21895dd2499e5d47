/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_STATS_SPECIAL_H
#define BB_STATS_SPECIAL_H

#include "base/std.h"

/*
 * The special functions that the tests of stats/ need. Pure, reentrant (lgamma_r, not lgamma, which
 * writes the global signgam), without allocation. NAN in, or an argument outside the domain, gives
 * NAN.
 */

/* ln Gamma(x), x > 0. */
double bb_lgamma(double x);

/*
 * Regularised incomplete beta function I_x(a, b), a, b > 0, 0 <= x <= 1: continued fraction 26.5.8
 * of Abramowitz & Stegun 1964 by Lentz's method (Press et al., Numerical Recipes, 6.4). Relative
 * error about 1e-13 for a, b < 1e4.
 */
double bb_incomplete_beta(double a, double b, double x);

/* P(Z > z) of the standard normal; keeps its relative precision in the upper tail. */
double bb_normal_upper(double z);

/* P(|T| > |t|) of Student's t with df > 0 degrees of freedom (need not be whole). */
double bb_student_two_sided(double t, double df);

/* The t >= 0 for which P(|T| > t) = alpha, 0 < alpha < 1: by bisection. */
double bb_student_critical(double alpha, double df);

/* The quantile of chi-square with df > 0 that belongs to the standard normal's quantile `normal`
 * (Wilson & Hilferty 1931). */
double bb_chi_square_limit(double normal, double df);

/* P(X <= k), X ~ Bin(n, p): I_{1-p}(n - k, k + 1). 1 for k >= n; NAN if p is not in [0, 1]. */
double bb_binomial_cdf(uint64_t k, uint64_t n, double p);

/*
 * The largest p with P(X <= k) > alpha: the upper end of a one-sided interval for the probability
 * behind k successes in n trials (Clopper & Pearson 1934, "exact": its coverage is never below
 * 1 - alpha). 0 of 300 gives 0.99 % at 5 %. 1 for n == 0; NAN if k > n or alpha is not in (0, 1).
 */
double bb_clopper_pearson_upper(uint64_t k, uint64_t n, double alpha);

#endif
