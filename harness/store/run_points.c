/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/run_points.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "stats/quantile.h"

#define MAD_TO_SD 1.4826
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
	return MEDIAN_SE * MAD_TO_SD * mad / sqrt((double)m);
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

/* ln of the locations of `c`, of which those of the anchor (may be NULL) are subtracted round by
 * round. */
static int log_locations(const struct bb_case *c, const struct bb_case *anchor, double *ret_x)
{
	double *ns = anchor ? calloc(anchor->n_series + 1, sizeof(*ns)) : NULL;
	int rc = bb_case__locations(c, ret_x);

	if (!rc && anchor)
		rc = ns ? bb_case__locations(anchor, ns) : -ENOMEM;
	for (size_t i = 0; !rc && i < c->n_series; i++) {
		ret_x[i] = log_of(ret_x[i]);
		if (anchor)
			ret_x[i] -= log_of(location_at(anchor, ns, c->series[i].load, i));
	}
	free(ns);
	return rc;
}

int bb_run_point__make(const struct bb_report *r, size_t i, struct bb_run_point *ret_point)
{
	const struct bb_case *c = &r->cases[i], *anchor = c->is_anchor ? NULL : find_anchor(r, c);
	struct bb_run_point p = {
		.latency = c->summary.latency,
		.ratio = {NAN, NAN, NAN},
		.loads = c->summary.loads,
		.voids = c->summary.voids,
		.is_anchor = c->is_anchor,
	};
	double *x = calloc(c->n_series + 1, sizeof(*x));
	int rc = x ? log_locations(c, anchor, x) : -ENOMEM;

	if (!rc) {
		struct bb_over_loads l;

		rc = bb_case__over_loads(c, x, &l);
		p.se = isnan(l.se) ? median_se(x, c->n_series) : l.se;
		if (anchor)
			p.ratio = (struct bb_estimate){exp(l.estimate.value), exp(l.estimate.lo),
						       exp(l.estimate.hi)};
		*ret_point = p;
	}
	free(x);
	return rc;
}
