/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "judge/ecdf.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int merge_valid(const struct bb_case *c, struct bb_sorted *ret_sorted)
{
	struct bb_hist all = {0};
	int rc = 0;

	for (size_t i = 0; !rc && i < c->n_series; i++)
		if (!c->series[i].void_why)
			rc = bb_hist_merge(&all, &c->series[i].hist);
	if (!rc)
		rc = bb_hist_sort(&all, ret_sorted);
	bb_hist_done(&all);
	return rc;
}

static void thin(const struct bb_case *c, const struct bb_sorted *s, size_t points,
		 struct bb_ecdf *e)
{
	double first = log((double)s->bins[0].value_ns + 1),
	       last = log((double)s->bins[s->n_bins - 1].value_ns + 1);
	double steps = (double)points / 2 - 1, drawn_share = -1, drawn_log = first, below = 0;

	for (size_t i = 0; i < s->n_bins; i++) {
		double share, at = log((double)s->bins[i].value_ns + 1);

		below += (double)s->bins[i].count;
		share = below / (double)s->n;
		if (i && i + 1 < s->n_bins && share - drawn_share < 1 / steps &&
		    at - drawn_log < (last - first) / steps)
			continue;
		e->ns[e->n] = bb_case__ns(c, (double)s->bins[i].value_ns);
		e->share[e->n++] = share;
		drawn_share = share;
		drawn_log = at;
	}
}

int bb_ecdf__make(const struct bb_case *c, size_t points, struct bb_ecdf *ret_ecdf)
{
	struct bb_ecdf e = {0};
	struct bb_sorted sorted;

	if (merge_valid(c, &sorted))
		return -ENOMEM;
	e.samples = sorted.n;
	e.ns = calloc(sorted.n_bins + 1, sizeof(*e.ns));
	e.share = calloc(sorted.n_bins + 1, sizeof(*e.share));
	if (!e.ns || !e.share) {
		bb_ecdf__done(&e);
		bb_sorted_done(&sorted);
		return -ENOMEM;
	}
	if (sorted.n)
		thin(c, &sorted, points, &e);
	bb_sorted_done(&sorted);
	*ret_ecdf = e;
	return 0;
}

void bb_ecdf__done(struct bb_ecdf *e)
{
	free(e->ns);
	free(e->share);
	memset(e, 0, sizeof(*e));
}
