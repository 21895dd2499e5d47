/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* Special functions for the tests in stats/. They are reentrant, allocate no memory, and return NAN
 * for a NAN or an argument outside the domain. */

/* ln Gamma(x), x > 0 */
double bb_lgamma(double x);

/* The regularised incomplete beta function I_x(a, b), a, b > 0, 0 <= x <= 1, by the continued
 * fraction 26.5.8 of Abramowitz & Stegun 1964 and Lentz's method (Press et al., Numerical Recipes,
 * 6.4). The relative error is about 1e-13 for a, b < 1e4. */
double bb_incomplete_beta(double a, double b, double x);

/* P(Z > z) of the standard normal distribution, with full relative precision in the upper tail */
double bb_normal_upper(double z);

/* P(|T| > |t|) of Student's t with df > 0 degrees of freedom, which need not be whole */
double bb_student_two_sided(double t, double df);

/* the t >= 0 with P(|T| > t) = alpha, 0 < alpha < 1 */
double bb_student_critical(double alpha, double df);

/* The quantile of the chi-square distribution with df > 0 degrees of freedom (Wilson & Hilferty
 * 1931). Its probability is P(Z <= normal) of the standard normal distribution. */
double bb_chi_square_limit(double normal, double df);

/* P(X <= k), X ~ Bin(n, p): I_{1-p}(n - k, k + 1) */
double bb_binomial_cdf(uint64_t k, uint64_t n, double p);

/* Returns the upper end of a one-sided interval for the probability of success, after k successes
 * in n trials: the largest p with P(X <= k) > alpha (Clopper & Pearson 1934). The coverage is never
 * below 1 - alpha. For example, 0 of 300 gives 0.99 % at alpha 5 %. Returns 1 for n == 0; NAN if k
 * > n or alpha is not in (0, 1). */
double bb_clopper_pearson_upper(uint64_t k, uint64_t n, double alpha);
