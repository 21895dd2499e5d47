/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stats/binomial.h"

#include <math.h>

#include "stats/special.h"

double bb_binomial_cdf(uint64_t k, uint64_t n, double p)
{
	if (!(p >= 0 && p <= 1))
		return NAN;
	if (k >= n)
		return 1;
	return bb_incomplete_beta((double)(n - k), (double)k + 1, 1 - p);
}

/* The p at which P(X <= k) falls to `tail`. */
static double upper_bound(uint64_t k, uint64_t n, double tail)
{
	double lo = 0, hi = 1;

	if (k == n)
		return 1;
	for (int i = 0; i < 200; i++) {
		double mid = lo + (hi - lo) / 2;

		if (mid <= lo || mid >= hi)
			break;
		if (bb_binomial_cdf(k, n, mid) < tail)
			hi = mid;
		else
			lo = mid;
	}
	return hi;
}

double bb_clopper_pearson_upper(uint64_t k, uint64_t n, double alpha)
{
	if (k > n || !(alpha > 0 && alpha < 1))
		return NAN;
	return upper_bound(k, n, alpha);
}
