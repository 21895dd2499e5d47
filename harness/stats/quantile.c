/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stats/quantile.h"

#include <math.h>

#define INSERTION_MAX                                                                              \
	48 /* a block of an A/B comparison is 32 values: insertion sort wins there                 \
	    */

static void insertion_sort(double *x, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		double v = x[i];
		size_t j = i;

		for (; j > 0 && x[j - 1] > v; j--)
			x[j] = x[j - 1];
		x[j] = v;
	}
}

/* Let x[root] sink to its place in the heap x[n] (largest on top). */
static void sift_down(double *x, size_t root, size_t n)
{
	double v = x[root];
	size_t child;

	while ((child = 2 * root + 1) < n) {
		if (child + 1 < n && x[child + 1] > x[child])
			child++;
		if (x[child] <= v)
			break;
		x[root] = x[child];
		root = child;
	}
	x[root] = v;
}

static void heap_sort(double *x, size_t n)
{
	for (size_t i = n / 2; i > 0; i--)
		sift_down(x, i - 1, n);
	for (size_t i = n; i > 1; i--) {
		double top = x[0];

		x[0] = x[i - 1];
		x[i - 1] = top;
		sift_down(x, 0, i - 1);
	}
}

void bb_sort_doubles(double *x, size_t n)
{
	size_t n_numbers = 0;

	for (size_t i = 0; i < n; i++) {
		if (!isnan(x[i])) {
			double v = x[i];

			x[i] = x[n_numbers];
			x[n_numbers++] = v;
		}
	}
	if (n_numbers <= INSERTION_MAX)
		insertion_sort(x, n_numbers);
	else
		heap_sort(x, n_numbers);
}

/* Where quantile p of n values lies: between the values of 0-based rank *ret_rank and the next one.
 */
static double split_rank(double n, double p, double *ret_rank)
{
	double h = (n - 1) * p;

	*ret_rank = floor(h);
	return h - *ret_rank;
}

/* An endpoint is returned as it is, so that infinities and the extremes come out exact. */
static double between(double lo, double hi, double fraction)
{
	return fraction > 0 && lo < hi ? lo + fraction * (hi - lo) : lo;
}

double bb_quantile_sorted(const double *x, size_t n, double p)
{
	double rank, fraction;
	size_t i;

	if (!n || !(p >= 0 && p <= 1))
		return NAN;
	fraction = split_rank((double)n, p, &rank);
	i = (size_t)rank;
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
