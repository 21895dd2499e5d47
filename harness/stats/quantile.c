/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stats/quantile.h"

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return BB_ORDER(x, y) + !!isnan(x) - !!isnan(y);
}

void bb_sort_doubles(double *x, size_t n)
{
	if (n)
		qsort(x, n, sizeof(*x), by_value);
}

/* The quantile p of n values lies between two neighbours in the sorted list. `*ret_rank` is the
 * index of the lower one, from 0 on. Returns the position between them: 0 is the lower neighbour, 1
 * the upper one. */
static double split_rank(double n, double p, double *ret_rank)
{
	double h = (n - 1) * p;

	*ret_rank = floor(h);
	return h - *ret_rank;
}

/* Interpolates from `lo` to `hi`. Fraction 0 gives `lo`, so extremes stay exact. */
static double between(double lo, double hi, double fraction)
{
	return fraction > 0 && lo < hi ? lo + fraction * (hi - lo) : lo;
}

double bb_quantile_sorted(const double *x, size_t n, double p)
{
	double rank, fraction;

	if (!n || !(p >= 0 && p <= 1))
		return NAN;
	fraction = split_rank((double)n, p, &rank);
	size_t i = (size_t)rank;
	return between(x[i], i + 1 < n ? x[i + 1] : x[i], fraction);
}

double bb_median(double *x, size_t n)
{
	if (!n)
		return NAN;
	bb_sort_doubles(x, n);
	return isnan(x[n - 1]) ? NAN : bb_quantile_sorted(x, n, 0.5);
}

double bb_hist_quantile(const struct bb_sorted *s, double p)
{
	double rank, fraction, lo;
	uint64_t before = 0, r;
	size_t i = 0;

	if (!s->n || !(p >= 0 && p <= 1))
		return NAN;
	fraction = split_rank((double)s->n, p, &rank);
	r = (uint64_t)rank;
	while (i + 1 < s->n_bins && before + s->bins[i].count <= r)
		before += s->bins[i++].count;
	lo = (double)s->bins[i].value_ns;
	if (r + 1 < before + s->bins[i].count || i + 1 == s->n_bins)
		return lo;
	return between(lo, (double)s->bins[i + 1].value_ns, fraction);
}
