/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/run_points.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/quantile.h"

#define MEDIAN_SE 1.2533 /* sqrt(pi / 2) */

/* x[n], NANs left out: the median's standard error. NAN when there are fewer than 2 or memory is
 * out. */
static double median_se(const double *x, size_t n)
{
	double *v = calloc(n + 1, sizeof(*v)), median, mad = NAN;
	size_t m = 0;

	for (size_t i = 0; v && i < n; i++)
		if (!isnan(x[i]))
			v[m++] = x[i];
	if (m >= 2) {
		median = bb_median(v, m);
		for (size_t i = 0; i < m; i++)
			v[i] = fabs(v[i] - median);
		mad = bb_median(v, m);
	}
	free(v);
	return MEDIAN_SE * BB_MAD_TO_SD * mad / sqrt((double)m);
}

/* NAN for what has none. */
static double log_of(double x)
{
	return x > 0 ? log(x) : NAN;
}

/* The location of the series of that round; as a rule it is the one with the same index. NAN when
 * there is none. */
static double location_at(const struct bb_case *c, const double *ns, uint32_t load, size_t hint)
{
	if (hint < c->n_series && c->series[hint].load == load)
		return ns[hint];
	for (size_t i = 0; i < c->n_series; i++)
		if (c->series[i].load == load)
			return ns[i];
	return NAN;
}

static const struct bb_case *find_anchor(const struct bb_report *r, const struct bb_case *c)
{
	for (size_t i = 0; i < r->n_cases; i++) {
		const struct bb_case *k = &r->cases[i];

		if (k->is_anchor && k != c && bb_same_text(k->scenario, c->scenario) &&
		    bb_same_text(k->drive, c->drive) && bb_same_text(k->param, c->param) &&
		    k->param_value == c->param_value)
			return k;
	}
	return NULL;
}

/* The locations of `c` in terms of that predictor, by series, into ret_x[n_series]. 0 or -ENOMEM.
 */
static int figures(const struct bb_report *r, const struct bb_case *c, const double *ns,
		   enum bb_predictor by, double *ret_x)
{
	const struct bb_case *anchor = c->is_anchor ? NULL : find_anchor(r, c);
	double *of;
	int rc;

	if (by == BB_BY_RELATIVE)
		bb_case__relative(c, ns, ret_x);
	else if (by == BB_BY_LATENCY)
		memcpy(ret_x, ns, c->n_series * sizeof(*ns));
	for (size_t i = 0; by == BB_BY_RATIO && i < c->n_series; i++)
		ret_x[i] = NAN;
	if (by != BB_BY_RATIO || !anchor)
		return 0;
	of = calloc(anchor->n_series + 1, sizeof(*of));
	rc = of ? bb_case__locations(anchor, of) : -ENOMEM;
	for (size_t i = 0; !rc && i < c->n_series; i++)
		ret_x[i] = ns[i] / location_at(anchor, of, c->series[i].load, i);
	free(of);
	return rc;
}

/* Over loads, in ln. */
static int put_together(const struct bb_case *c, double *x, struct bb_estimate *ret_figure,
			double *ret_se)
{
	struct bb_over_loads l;
	int rc;

	for (size_t i = 0; i < c->n_series; i++)
		x[i] = log_of(x[i]);
	rc = bb_case__over_loads(c, x, &l);
	if (rc)
		return rc;
	*ret_se = isnan(l.se) ? median_se(x, c->n_series) : l.se;
	*ret_figure = (struct bb_estimate){exp(l.estimate.value), exp(l.estimate.lo),
					   exp(l.estimate.hi)};
	return 0;
}

int bb_run_point__make(const struct bb_report *r, size_t i, struct bb_run_point *ret_point)
{
	const struct bb_case *c = &r->cases[i];
	struct bb_run_point p = {
		.loads = c->summary.loads,
		.voids = c->summary.voids,
		.is_anchor = c->is_anchor,
	};
	double *ns = calloc(2 * c->n_series + 1, sizeof(*ns)), *x = ns + c->n_series;
	int rc = ns ? bb_case__locations(c, ns) : -ENOMEM;

	for (int by = 0; !rc && by < BB_N_PREDICTORS; by++) {
		rc = figures(r, c, ns, (enum bb_predictor)by, x);
		if (!rc)
			rc = put_together(c, x, &p.figure[by], &p.se[by]);
	}
	p.figure[BB_BY_LATENCY] = c->summary.latency; /* as everybody shows it */
	if (!rc)
		*ret_point = p;
	free(ns);
	return rc;
}
