/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stats/order_ratio.h"

#include <math.h>
#include <stdbool.h>

#include "stats/binomial.h"
#include "stats/quantile.h"

static bool usable(const double *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isfinite(x[i]) || x[i] <= 0 || (i && x[i] < x[i - 1]))
			return false;
	return n > 0;
}

struct bb_order_ratio bb_order_ratio(const double *a, size_t n_a, const double *b, size_t n_b,
				     double alpha)
{
	struct bb_order_ratio r = {NAN, {NAN, NAN}};
	struct bb_interval ia, ib;

	if (!usable(a, n_a) || !usable(b, n_b) || !(alpha > 0 && alpha < 1))
		return r;
	ia = bb_order_interval(a, n_a, alpha / 2);
	ib = bb_order_interval(b, n_b, alpha / 2);
	r.ratio = bb_quantile_sorted(b, n_b, 0.5) / bb_quantile_sorted(a, n_a, 0.5);
	r.interval = (struct bb_interval){ib.lo / ia.hi, ib.hi / ia.lo};
	return r;
}

/* The alpha from which on the interval of a median of n has rank k or more: 2 P(Bin(n, 1/2) <= k -
 * 1) = alpha / 2. */
static double alpha_of_rank(size_t k, size_t n)
{
	return 4 * bb_binomial_cdf(k - 1, n, 0.5);
}

double bb_order_ratio_p(const double *a, size_t n_a, const double *b, size_t n_b, double factor)
{
	size_t i = 1, j = 1; /* ranks: of b from below, of a from above */
	double next_b, next_a, p;

	if (!usable(a, n_a) || !usable(b, n_b) || !(factor > 0) || isinf(factor))
		return NAN;
	p = fmax(alpha_of_rank(1, n_a), alpha_of_rank(1, n_b));
	/* A larger alpha only ever moves the ends inwards, so the first that rejects is the
	 * smallest. */
	while (p < 1) {
		while ((next_b = alpha_of_rank(i + 1, n_b)) <= p)
			i++;
		while ((next_a = alpha_of_rank(j + 1, n_a)) <= p)
			j++;
		if (b[i - 1] > factor * a[n_a - j])
			return p;
		p = fmin(next_a, next_b);
	}
	return 1;
}

size_t bb_order_ratio_needs(double alpha)
{
	size_t n = 1;

	if (!(alpha > 0 && alpha < 1))
		return 0;
	while (!bb_order_rank(n, alpha / 2))
		n++;
	return n;
}
