/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stats/pooled_spread.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "stats/quantile.h"
#include "stats/special.h"

#define NORMAL_0_05 1.6449 /* one-sided: Bartlett's test is at 5 % */
#define HALVINGS 60

struct bb_spread bb_spread_of(const double *x, size_t n)
{
	double mean = 0, squares = 0;

	for (size_t i = 0; i < n; i++)
		mean += x[i] / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += (x[i] - mean) * (x[i] - mean);
	return (struct bb_spread){sqrt(squares / (double)(n - 1)), (double)n};
}

/* The sum of all, with the variance of each as it is. */
static struct bb_spread pool(const struct bb_spread *x, size_t n, double *ret_df)
{
	double squares = 0, values = 0, df = 0;

	for (size_t i = 0; i < n; i++) {
		squares += (x[i].n - 1) * x[i].sd * x[i].sd;
		df += x[i].n - 1;
		values += x[i].n;
	}
	*ret_df = df;
	return (struct bb_spread){sqrt(squares / df), values};
}

/* Do the variances agree? */
static bool is_alike(const struct bb_spread *x, size_t n)
{
	double df, ln = 0, parts = 0, k = (double)n - 1, statistic;
	struct bb_spread all = pool(x, n, &df);

	if (n < 2 || !(all.sd > 0))
		return true;
	for (size_t i = 0; i < n; i++) {
		ln += (x[i].n - 1) * 2 * log(all.sd / x[i].sd); /* INFINITY where sd is 0 */
		parts += 1 / (x[i].n - 1);
	}
	statistic = ln / (1 + (parts - 1 / df) / (3 * k));
	return statistic <= bb_chi_square_limit(NORMAL_0_05, k);
}

static double half_width_of(const struct bb_spread *x, double df, double alpha)
{
	return bb_student_critical(alpha, df) * x->sd * sqrt(1 + 1 / x->n);
}

/* The half width that a figure of an occasion drawn at random exceeds with probability alpha. */
static struct bb_pooled_spread mixture(const struct bb_spread *x, size_t n, double alpha)
{
	double lo = 0, hi = 0, df = INFINITY;

	for (size_t i = 0; i < n; i++) {
		hi = fmax(hi, half_width_of(&x[i], x[i].n - 1, alpha));
		df = fmin(df, x[i].n - 1);
	}
	for (int k = 0; k < HALVINGS; k++) {
		double mid = (lo + hi) / 2, p = 0;

		for (size_t i = 0; i < n; i++)
			if (x[i].sd > 0)
				p += bb_student_two_sided(mid / (x[i].sd * sqrt(1 + 1 / x[i].n)),
							  x[i].n - 1) /
				     (double)n;
		if (p > alpha)
			lo = mid;
		else
			hi = mid;
	}
	return (struct bb_pooled_spread){hi, df};
}

int bb_offsets_of(const double *x, size_t n, double *ret_offset)
{
	double *copy = calloc(n, sizeof(*copy)), median,
	       scale = sqrt((1 + 1 / (double)n) / (1 - (2 - M_PI / 2) / (double)n));

	if (!copy)
		return -ENOMEM;
	memcpy(copy, x, n * sizeof(*copy));
	median = bb_median(copy, n);
	free(copy);
	for (size_t i = 0; i < n; i++)
		ret_offset[i] = scale * fabs(x[i] - median);
	return 0;
}

struct bb_pooled_spread bb_pool_spreads(const struct bb_spread *x, size_t n, double *offset,
					size_t n_offsets, double alpha)
{
	size_t rank = (size_t)ceil((1 - alpha) * ((double)n_offsets + 1));
	struct bb_pooled_spread p = {NAN, NAN};
	struct bb_spread all;
	bool alike;

	if (!n)
		return p;
	alike = is_alike(x, n);
	if (!alike && rank >= n_offsets)
		return mixture(x, n, alpha);
	all = pool(x, n, &p.df);
	p.half_width = half_width_of(&all, p.df, alpha);
	if (alike)
		return p;
	bb_sort_doubles(offset, n_offsets);
	p.half_width = offset[rank - 1];
	return p;
}
