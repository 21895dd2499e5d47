/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "judge/stored_ratio.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "stats/estimate.h"
#include "stats/quantile.h"
#include "stats/special.h"

#define BETWEEN_ALPHA 0.05 /* of bb_case.between */

struct side {
	double *ns; /* [n] locations of the loads that count, ascending */
	size_t n;
	struct bb_over_loads over;
	/* of the ln of the run: standard error by what moves between runs, 0: not known */
	double run_se, run_df;
};

/* A sum of variances with their degrees of freedom (Welch 1947). */
struct variance {
	double sum, squares; /* squares: of v^2 / df */
};

static void add(struct variance *v, double se, double df)
{
	v->sum += se * se;
	v->squares += se * se * se * se / df;
}

static double df_of(const struct variance *v)
{
	return v->sum * v->sum / v->squares;
}

static double known(double x)
{
	return isnan(x) ? 0 : x;
}

static int open_side(const struct bb_case *c, struct side *s)
{
	double floor_share = known(c->summary.floor.value / c->summary.latency.value);
	int rc;

	*s = (struct side){.ns = calloc(c->n_series + 1, sizeof(*s->ns))};
	rc = s->ns ? bb_case__locations(c, s->ns) : -ENOMEM;
	if (!rc)
		rc = bb_case__over_loads(c, s->ns, &s->over);
	if (rc)
		return rc;
	bb_sort_doubles(s->ns, c->n_series); /* NANs last */
	while (s->n < c->n_series && !isnan(s->ns[s->n]))
		s->n++;
	if (c->between_runs < 2)
		return 0;
	s->run_df = c->between_runs - 1;
	s->run_se = hypot(known(c->between), known(c->between_floor) * floor_share) /
		    bb_student_critical(BETWEEN_ALPHA, s->run_df);
	return 0;
}

/* Both runs against each other: what moves between them. */
static struct variance variance_of_runs(const struct side side[2])
{
	struct variance v = {0, 0};

	for (int i = 0; i < 2; i++)
		if (side[i].run_se > 0)
			add(&v, side[i].run_se, side[i].run_df);
	return v;
}

/* p of |ln ratio| beyond ln(1 + threshold), by a t of that variance. */
static double p_beyond(double ln_ratio, double threshold, const struct variance *v)
{
	double beyond = fabs(ln_ratio) - log1p(threshold);

	return beyond > 0 ? bb_student_two_sided(beyond / sqrt(v->sum), df_of(v)) : 1;
}

static void by_place(const struct side side[2], double threshold, double alpha,
		     struct bb_stored_ratio *r)
{
	struct variance v = variance_of_runs(side);
	double ln_ratio, half;

	for (int i = 0; i < 2; i++)
		add(&v, side[i].over.se / side[i].over.estimate.value, side[i].over.df);
	r->ratio = side[1].over.estimate.value / side[0].over.estimate.value;
	ln_ratio = log(r->ratio);
	half = bb_student_critical(alpha, df_of(&v)) * sqrt(v.sum);
	r->interval = (struct bb_interval){exp(ln_ratio - half), exp(ln_ratio + half)};
	r->p = p_beyond(ln_ratio, threshold, &v);
}

static void by_order(const struct side side[2], double threshold, double alpha,
		     struct bb_stored_ratio *r)
{
	struct variance v = variance_of_runs(side);
	const struct side *a = &side[0], *b = &side[1];
	struct bb_order_ratio o = bb_order_ratio(a->ns, a->n, b->ns, b->n, alpha);
	double ln_ratio = log(o.ratio), half;

	r->ratio = o.ratio;
	r->interval = o.interval;
	r->p = fmin(bb_order_ratio_p(a->ns, a->n, b->ns, b->n, 1 + threshold),
		    bb_order_ratio_p(b->ns, b->n, a->ns, a->n, 1 + threshold));
	if (!(v.sum > 0) || isnan(o.interval.lo))
		return;
	half = bb_student_critical(alpha, df_of(&v)) * sqrt(v.sum);
	r->interval.lo = exp(ln_ratio - hypot(ln_ratio - log(o.interval.lo), half));
	r->interval.hi = exp(ln_ratio + hypot(log(o.interval.hi) - ln_ratio, half));
	r->p = fmax(r->p, p_beyond(ln_ratio, threshold, &v));
}

int bb_stored_ratio(const struct bb_case *a, const struct bb_case *b, double threshold,
		    double alpha, struct bb_stored_ratio *ret)
{
	struct side side[2] = {{0}};
	int rc = open_side(a, &side[0]);

	if (!rc)
		rc = open_side(b, &side[1]);
	*ret = (struct bb_stored_ratio){NAN, {NAN, NAN}, NAN, side[0].n, side[1].n, 0};
	if (!rc && side[0].over.se > 0 && side[1].over.se > 0) {
		by_place(side, threshold, alpha, ret);
	} else if (!rc) {
		ret->needs = bb_order_ratio_needs(alpha);
		by_order(side, threshold, alpha, ret);
	}
	free(side[0].ns);
	free(side[1].ns);
	return rc;
}
