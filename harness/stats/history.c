/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stats/history.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "stats/quantile.h"
#include "stats/special.h"

#define MAD_TO_SD 1.4826 /* 1 / (the third quartile of the standard normal) */

const struct bb_history_rule bb_history_default_rule = {
	.eps = 0.01,
	.alpha = 0.01,
	.window_min = 20,
	.window_max = 30,
};

static const char *const mark_names[] = {
	[BB_HISTORY_VOID] = "void",           [BB_HISTORY_LEARNING] = "learning",
	[BB_HISTORY_STEADY] = "steady",       [BB_HISTORY_SUSPECT] = "suspect",
	[BB_HISTORY_REGRESSED] = "regressed", [BB_HISTORY_IMPROVED] = "improved",
};

/* The last values of a level, oldest first, and ascending. */
struct window {
	double v[BB_HISTORY_WINDOW_MAX];
	double sorted[BB_HISTORY_WINDOW_MAX];
	size_t n;
};

/* Where the walk over the runs stands. A side is -1 below, 0 within, +1 above the limits of the
 * baseline. */
struct walk {
	const struct bb_history_rule *rule;
	struct window base;  /* what runs are judged by */
	struct window level; /* the runs at the changed level, when side != 0 */
	int side;            /* the level agreed on */
	int have_odd;        /* the run before was on another side than `side`: */
	size_t odd;          /* its index, */
	int odd_side;        /* and its side */
	size_t t_window;     /* t below is that of this W */
	double t;
};

static void push(struct window *w, double v, size_t max)
{
	size_t at = 0;

	if (w->n == max) {
		while (w->sorted[at] < w->v[0])
			at++;
		w->n--;
		memmove(w->sorted + at, w->sorted + at + 1, (w->n - at) * sizeof(*w->sorted));
		memmove(w->v, w->v + 1, w->n * sizeof(*w->v));
	}
	for (at = w->n; at && w->sorted[at - 1] > v; at--)
		w->sorted[at] = w->sorted[at - 1];
	w->sorted[at] = v;
	w->v[w->n++] = v;
}

/* The median absolute deviation of x[n], which is ascending, from its median: they ascend from the
 * middle outwards. */
static double mad_sorted(const double *x, size_t n, double median)
{
	double dev[BB_HISTORY_WINDOW_MAX];
	size_t below = n / 2, above = n / 2; /* x[below - 1] and x[above] come next */

	for (size_t i = 0; i < n; i++) {
		if (!below || (above < n && x[above] - median < median - x[below - 1]))
			dev[i] = x[above++] - median;
		else
			dev[i] = median - x[--below];
	}
	return bb_quantile_sorted(dev, n, 0.5);
}

static void set_limits(struct walk *walk, double se, struct bb_history_point *point)
{
	struct window *base = &walk->base;
	double w = (double)base->n, sd;

	point->baseline = bb_quantile_sorted(base->sorted, base->n, 0.5);
	sd = MAD_TO_SD * mad_sorted(base->sorted, base->n, point->baseline);
	if (walk->t_window != base->n) {
		walk->t_window = base->n;
		walk->t = bb_student_critical(walk->rule->alpha, w - 1);
	}
	point->limit = fmax(log1p(walk->rule->eps),
			    walk->t * sqrt(sd * sd * (1 + 1 / w) + se * se));
}

static enum bb_history_mark mark_of(int side)
{
	return side > 0 ? BB_HISTORY_REGRESSED : side < 0 ? BB_HISTORY_IMPROVED : BB_HISTORY_STEADY;
}

/* Let a run that is not (or not any more) in doubt join the level it was measured at. */
static void settle(struct walk *walk, double r)
{
	const struct bb_history_rule *rule = walk->rule;

	if (!walk->side) {
		push(&walk->base, r, rule->window_max);
		return;
	}
	push(&walk->level, r, rule->window_max);
	if (walk->level.n >= rule->window_min) {
		walk->base = walk->level;
		walk->side = 0;
	}
}

static void judge(struct walk *walk, const double *r, size_t i, double se,
		  struct bb_history_point *points)
{
	struct bb_history_point *point = &points[i];
	int side;

	set_limits(walk, se, point);
	side = (r[i] - point->baseline > point->limit) - (r[i] - point->baseline < -point->limit);
	if (side == walk->side) {
		point->mark = mark_of(side);
		if (walk->have_odd)
			settle(walk, r[walk->odd]);
		walk->have_odd = 0;
		settle(walk, r[i]);
	} else if (walk->have_odd && walk->odd_side == side) {
		points[walk->odd].change = side > walk->side ? 1 : -1;
		points[walk->odd].mark = point->mark = mark_of(side);
		walk->side = side;
		walk->have_odd = 0;
		walk->level.n = 0;
		settle(walk, r[walk->odd]);
		settle(walk, r[i]);
	} else {
		/* settled first: that may make the level the baseline, so judge afresh */
		if (walk->have_odd) {
			walk->have_odd = 0;
			settle(walk, r[walk->odd]);
			judge(walk, r, i, se, points);
			return;
		}
		point->mark = side ? BB_HISTORY_SUSPECT : BB_HISTORY_STEADY;
		walk->have_odd = 1;
		walk->odd = i;
		walk->odd_side = side;
	}
}

static int check(const double *r, const double *se, size_t n, const struct bb_history_rule *rule)
{
	if (!(rule->eps >= 0) || isinf(rule->eps) || !(rule->alpha > 0 && rule->alpha < 1))
		return -EINVAL;
	if (rule->window_min < 2 || rule->window_max < rule->window_min ||
	    rule->window_max > BB_HISTORY_WINDOW_MAX)
		return -EINVAL;
	for (size_t i = 0; i < n; i++)
		if (isinf(r[i]) || (se && (se[i] < 0 || isinf(se[i]))))
			return -EINVAL;
	return 0;
}

int bb_history_judge(const double *r, const double *se, size_t n,
		     const struct bb_history_rule *rule, struct bb_history_point *ret_points)
{
	struct walk walk = {.rule = rule};

	if (check(r, se, n, rule))
		return -EINVAL;
	for (size_t i = 0; i < n; i++) {
		ret_points[i] = (struct bb_history_point){BB_HISTORY_VOID, 0, NAN, NAN};
		if (isnan(r[i]))
			continue;
		if (walk.base.n < rule->window_min) {
			ret_points[i].mark = BB_HISTORY_LEARNING;
			push(&walk.base, r[i], rule->window_max);
			continue;
		}
		judge(&walk, r, i, se && !isnan(se[i]) ? se[i] : 0, ret_points);
	}
	return 0;
}

#define ERROR_WINDOW 5 /* of the least runs that predict one */

double bb_history_error(const double *r, size_t n, const struct bb_history_rule *rule)
{
	struct window w = {.n = 0};
	double squares = 0;
	size_t n_errors = 0;

	for (size_t i = 0; i < n; i++) {
		double error;

		if (!isfinite(r[i]))
			continue;
		if (w.n >= ERROR_WINDOW) {
			error = r[i] - bb_quantile_sorted(w.sorted, w.n, 0.5);
			squares += error * error;
			n_errors++;
		}
		push(&w, r[i], rule->window_min);
	}
	return n_errors >= BB_HISTORY_ERROR_MIN ? sqrt(squares / (double)n_errors) : (double)NAN;
}

const char *bb_history_mark_name(enum bb_history_mark mark)
{
	return (size_t)mark < sizeof(mark_names) / sizeof(mark_names[0]) ? mark_names[mark] : "?";
}
