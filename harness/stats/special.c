/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stats/special.h"

#include <float.h>

double bb_lgamma(double x)
{
	int sign; /* lgamma() would write the sign to a global variable */

	return x > 0 ? lgamma_r(x, &sign) : NAN;
}

/* Lentz's method divides by v, so 0 becomes a number that is too small to matter. */
static double not_zero(double v)
{
	return fabs(v) < DBL_MIN ? DBL_MIN : v;
}

/* The continued fraction of I_x(a, b). It converges fast if x < (a + 1) / (a + b + 2). */
static double beta_fraction(double a, double b, double x)
{
	double c = 1, d = 1 / not_zero(1 - (a + b) * x / (a + 1)), h = d;

	for (int m = 1; m < 1000000; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));

		d = 1 / not_zero(1 + even * d);
		c = not_zero(1 + even / c);
		h *= d * c;
		d = 1 / not_zero(1 + odd * d);
		c = not_zero(1 + odd / c);
		double step = d * c;
		h *= step;
		if (fabs(step - 1) < 2 * DBL_EPSILON)
			break;
	}
	return h;
}

double bb_incomplete_beta(double a, double b, double x)
{
	if (!(a > 0 && b > 0 && x >= 0 && x <= 1) || isinf(a) || isinf(b))
		return NAN;
	if (x == 0 || x == 1)
		return x;
	double front =
		exp(bb_lgamma(a + b) - bb_lgamma(a) - bb_lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double bb_normal_upper(double z)
{
	return 0.5 * erfc(z / M_SQRT2);
}

double bb_student_two_sided(double t, double df)
{
	if (isnan(t) || !(df > 0))
		return NAN;
	if (isinf(t))
		return 0;
	return bb_incomplete_beta(df / 2, 0.5, df / (df + t * t));
}

double bb_student_critical(double alpha, double df)
{
	double lo = 0, hi = 1;

	if (!(alpha > 0 && alpha < 1) || !(df > 0))
		return NAN;
	while (bb_student_two_sided(hi, df) > alpha && hi < 1e300)
		hi *= 2;
	for (int i = 0; i < 100 && hi - lo > DBL_EPSILON * hi; i++) {
		double mid = (lo + hi) / 2;

		if (bb_student_two_sided(mid, df) > alpha)
			lo = mid;
		else
			hi = mid;
	}
	return hi;
}

double bb_chi_square_limit(double normal, double df)
{
	double root = 1 - 2 / (9 * df) + normal * sqrt(2 / (9 * df));

	return df * root * root * root;
}

double bb_binomial_cdf(uint64_t k, uint64_t n, double p)
{
	if (!(p >= 0 && p <= 1))
		return NAN;
	if (k >= n)
		return 1;
	return bb_incomplete_beta((double)(n - k), (double)k + 1, 1 - p);
}

double bb_clopper_pearson_upper(uint64_t k, uint64_t n, double alpha)
{
	double lo = 0, hi = 1;

	if (k > n || !(alpha > 0 && alpha < 1))
		return NAN;
	for (int i = 0; i < 200 && k < n; i++) {
		double mid = lo + (hi - lo) / 2;

		if (mid <= lo || mid >= hi)
			break;
		if (bb_binomial_cdf(k, n, mid) < alpha)
			hi = mid;
		else
			lo = mid;
	}
	return hi;
}
