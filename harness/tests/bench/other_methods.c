/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "other_methods.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/quantile.h"
#include "stats/special.h"

struct moments {
	double mean;
	double variance; /* divided by n - 1; NAN if n < 2 */
};

static int check(const double *a, size_t na, const double *b, size_t nb)
{
	if (!na || !nb)
		return -EINVAL;
	for (size_t i = 0; i < na; i++)
		if (isnan(a[i]))
			return -EINVAL;
	for (size_t i = 0; i < nb; i++)
		if (isnan(b[i]))
			return -EINVAL;
	return 0;
}

/* Takes two passes, because a sum of squares loses precision for values with a small spread. */
static struct moments moments_of(const double *x, size_t n)
{
	struct moments m = {0, 0};

	for (size_t i = 0; i < n; i++)
		m.mean += x[i];
	m.mean /= (double)n;
	for (size_t i = 0; i < n; i++)
		m.variance += (x[i] - m.mean) * (x[i] - m.mean);
	m.variance = n > 1 ? m.variance / (double)(n - 1) : NAN;
	return m;
}

int bb_other_welch(const double *a, size_t na, const double *b, size_t nb, double alpha,
		   struct bb_other_method *ret_result)
{
	struct bb_other_method result = {NAN, NAN, NAN, false};
	struct moments ma, mb;
	double sa, sb, df;

	if (check(a, na, b, nb))
		return -EINVAL;
	ma = moments_of(a, na);
	mb = moments_of(b, nb);
	sa = ma.variance / (double)na;
	sb = mb.variance / (double)nb;
	result.ratio = mb.mean / ma.mean;
	if (sa + sb > 0) {
		df = (sa + sb) * (sa + sb) /
		     (sa * sa / (double)(na - 1) + sb * sb / (double)(nb - 1));
		result.statistic = (mb.mean - ma.mean) / sqrt(sa + sb);
		result.p = bb_student_two_sided(result.statistic, df);
	} else if (sa + sb == 0) {
		result.p = ma.mean == mb.mean;
	}
	result.different = result.p <= alpha;
	*ret_result = result;
	return 0;
}

/* Index after the last value equal to v; these values begin at `from`. `from`: there are none. */
static size_t end_of_equals(const double *sorted, size_t n, size_t from, double v)
{
	while (from < n && sorted[from] == v)
		from++;
	return from;
}

/*
 * U = #{b > a} + #{b = a} / 2 of two ascending samples, in one pass over the groups of equal
 * values of both. *ret_ties = sum of t^3 - t over those groups; t is the size of a group.
 */
static double mann_whitney_u(const double *a, size_t na, const double *b, size_t nb,
			     double *ret_ties)
{
	double u = 0, ties = 0;
	size_t i = 0, j = 0;

	while (i < na || j < nb) {
		double v = i < na && (j == nb || a[i] <= b[j]) ? a[i] : b[j];
		size_t a_end = end_of_equals(a, na, i, v), b_end = end_of_equals(b, nb, j, v);
		double equal_a = (double)(a_end - i), equal_b = (double)(b_end - j),
		       t = equal_a + equal_b;

		u += equal_b * ((double)i + equal_a / 2);
		ties += t * t * t - t;
		i = a_end;
		j = b_end;
	}
	*ret_ties = ties;
	return u;
}

int bb_other_mann_whitney(const double *a, size_t na, const double *b, size_t nb, double alpha,
			  struct bb_other_method *ret_result)
{
	struct bb_other_method result = {NAN, NAN, 1, false};
	double m = (double)na, k = (double)nb, n = m + k, ties, off, sd, *sorted;

	if (check(a, na, b, nb))
		return -EINVAL;
	sorted = malloc((na + nb) * sizeof(*sorted));
	if (!sorted)
		return -ENOMEM;
	memcpy(sorted, a, na * sizeof(*a));
	memcpy(sorted + na, b, nb * sizeof(*b));
	bb_sort_doubles(sorted, na);
	bb_sort_doubles(sorted + na, nb);
	result.ratio = bb_quantile_sorted(sorted + na, nb, 0.5) /
		       bb_quantile_sorted(sorted, na, 0.5);
	result.statistic = mann_whitney_u(sorted, na, sorted + na, nb, &ties);
	free(sorted);
	off = fmax(fabs(result.statistic - m * k / 2) - 0.5, 0);
	sd = sqrt(m * k / 12 * (n + 1 - ties / (n * (n - 1))));
	if (sd > 0)
		result.p = fmin(1, 2 * bb_normal_upper(off / sd));
	result.different = result.p <= alpha;
	*ret_result = result;
	return 0;
}

static void by_threshold(double base, double head, double threshold,
			 struct bb_other_method *ret_result)
{
	double ratio = head / base;

	*ret_result = (struct bb_other_method){ratio, NAN, NAN, fabs(ratio - 1) > threshold};
}

static double minimum(const double *x, size_t n)
{
	double m = x[0];

	for (size_t i = 1; i < n; i++)
		m = fmin(m, x[i]);
	return m;
}

int bb_other_minimum(const double *a, size_t na, const double *b, size_t nb, double threshold,
		     struct bb_other_method *ret_result)
{
	if (check(a, na, b, nb))
		return -EINVAL;
	by_threshold(minimum(a, na), minimum(b, nb), threshold, ret_result);
	return 0;
}

int bb_other_mean(const double *a, size_t na, const double *b, size_t nb, double threshold,
		  struct bb_other_method *ret_result)
{
	if (check(a, na, b, nb))
		return -EINVAL;
	by_threshold(moments_of(a, na).mean, moments_of(b, nb).mean, threshold, ret_result);
	return 0;
}

size_t bb_other_batch_medians(double *x, size_t n, size_t batch, double *ret_medians)
{
	size_t n_batches = batch ? n / batch : 0;

	for (size_t i = 0; i < n_batches; i++)
		ret_medians[i] = bb_median(x + i * batch, batch);
	return n_batches;
}
