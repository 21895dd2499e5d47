/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stats/history.h"

#include "stats/quantile.h"
#include "stats/special.h"
#include "stats/verdict.h"

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

/* The latest values: v[n] in order of time, sorted[n] in ascending order. */
struct window {
	double v[BB_HISTORY_WINDOW_MAX];
	double sorted[BB_HISTORY_WINDOW_MAX];
	size_t n;
};

/* The latest runs of a level: figures `r` and their standard errors `se`. */
struct runs {
	struct window r, se;
};

/* State of the walk over the runs in order of time. The side of a run is -1 if its figure is below
 * the limits around the baseline, +1 if it is above them, else 0. */
struct walk {
	const struct bb_history_rule *rule;
	const struct bb_history_figure *figures;
	size_t n_figures;
	/* The runs by which each figure is judged. A level is the value around which a figure
	 * stays. `level` has the runs at the new level after a change, if side != 0. */
	struct runs base[BB_HISTORY_FIGURES], level[BB_HISTORY_FIGURES];
	size_t t_window; /* number of baseline runs for which the critical value `t` was computed */
	double t;
	size_t n_level; /* number of runs since the change */
	/* side of the runs at the present level: 0 at the baseline, +1 or -1 after a change */
	int side;
	/* true if run `odd` left the side of the present level; the next run then decides */
	bool have_odd;
	size_t odd;
	int odd_side;
	/* distance from the baseline of the latest run that was beyond its limit */
	double shift;
};

static void push_value(struct window *w, double v, size_t max)
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

static double se_of(const struct bb_history_figure *f, size_t i)
{
	return f->se ? f->se[i] : (double)NAN;
}

/* Predicts a run with standard error `se`. `*ret_baseline` is the median of the baseline. `*ret_sd`
 * is the standard deviation of the distance between the run and this median. */
static void predict(const struct runs *base, double se, double *ret_baseline, double *ret_sd)
{
	const double *x = base->r.sorted;
	size_t n = base->r.n, below = n / 2, above = n / 2;
	double dev[BB_HISTORY_WINDOW_MAX], median = bb_quantile_sorted(x, n, 0.5), usual_se, sd;

	/* x[below - 1] and x[above] are the nearest values below and above the median that are not
	 * in dev[] yet. Taking the nearer one each time makes dev[] sorted. */
	for (size_t i = 0; i < n; i++) {
		if (!below || (above < n && x[above] - median < median - x[below - 1]))
			dev[i] = x[above++] - median;
		else
			dev[i] = median - x[--below];
	}
	sd = BB_MAD_TO_SD * bb_quantile_sorted(dev, n, 0.5);
	usual_se = base->se.n ? bb_quantile_sorted(base->se.sorted, base->se.n, 0.5) : 0;
	if (isnan(se))
		se = 0;
	if (usual_se > 0)
		sd *= fmax(se / usual_se, 1);
	*ret_baseline = median;
	*ret_sd = sqrt(sd * sd * (1 + 1 / (double)n) + se * se);
}

/* Returns the side of run i by its first figure, or 0 if another figure denies the change. Sets
 * point->baseline and point->limit. */
static int side_of(struct walk *walk, size_t i, struct bb_history_point *point)
{
	const struct bb_history_rule *rule = walk->rule;
	size_t n = walk->base[0].r.n;
	double sd, change;

	predict(&walk->base[0], se_of(&walk->figures[0], i), &point->baseline, &sd);
	if (walk->t_window != n) {
		walk->t_window = n;
		walk->t = bb_student_critical(rule->alpha, (double)n - 1);
	}
	point->limit = fmax(log1p(rule->eps), walk->t * sd);
	change = walk->figures[0].r[i] - point->baseline;
	int side = (change > point->limit) - (change < -point->limit);
	for (size_t k = 1; side && k < walk->n_figures; k++) {
		const struct bb_history_figure *f = &walk->figures[k];
		const struct runs *base = &walk->base[k];
		double baseline;

		if (isnan(f->r[i]) || base->r.n < rule->window_min)
			continue;
		predict(base, se_of(f, i), &baseline, &sd);
		if (bb_change_is_denied(change, f->r[i] - baseline, sd))
			side = 0;
	}
	return side;
}

static enum bb_history_mark mark_of(int side)
{
	return side > 0 ? BB_HISTORY_REGRESSED : side < 0 ? BB_HISTORY_IMPROVED : BB_HISTORY_STEADY;
}

/* Adds run i to the present level. A changed level with window_min runs becomes the baseline. */
static void settle(struct walk *walk, size_t i)
{
	const struct bb_history_rule *rule = walk->rule;
	bool becomes_base = walk->side && ++walk->n_level >= rule->window_min;

	for (size_t k = 0; k < walk->n_figures; k++) {
		struct runs *to = walk->side ? &walk->level[k] : &walk->base[k];
		double r = walk->figures[k].r[i], se = se_of(&walk->figures[k], i);

		if (!isnan(r))
			push_value(&to->r, r, rule->window_max);
		if (!isnan(r) && !isnan(se))
			push_value(&to->se, se, rule->window_max);
		if (becomes_base)
			walk->base[k] = walk->level[k];
	}
	if (becomes_base)
		walk->side = 0;
}

static void judge(struct walk *walk, size_t i, struct bb_history_point *points)
{
	struct bb_history_point *point = &points[i];
	int side = side_of(walk, i, point);
	bool in_question = walk->side || (walk->have_odd && walk->odd_side);

	if (side)
		walk->shift = fabs(walk->figures[0].r[i] - point->baseline);
	if (in_question && !side && walk->shift < point->limit) {
		/* The limit is wider than the change, so this run cannot tell whether the change
		 * stays. */
		point->mark = BB_HISTORY_SUSPECT;
	} else if (side == walk->side) {
		point->mark = mark_of(side);
		if (walk->have_odd)
			settle(walk, walk->odd);
		walk->have_odd = false;
		settle(walk, i);
	} else if (walk->have_odd && walk->odd_side == side) {
		points[walk->odd].change = side > walk->side ? 1 : -1;
		points[walk->odd].mark = point->mark = mark_of(side);
		walk->have_odd = false;
		walk->side = side;
		walk->n_level = 0;
		memset(walk->level, 0, sizeof(walk->level));
		settle(walk, walk->odd);
		settle(walk, i);
	} else {
		/* Run i does not confirm run `odd`, so `odd` is added to the present level. This
		 * may change the baseline, so run i is judged again. */
		if (walk->have_odd) {
			walk->have_odd = false;
			settle(walk, walk->odd);
			judge(walk, i, points);
			return;
		}
		point->mark = side ? BB_HISTORY_SUSPECT : BB_HISTORY_STEADY;
		walk->have_odd = true;
		walk->odd = i;
		walk->odd_side = side;
	}
}

int bb_history_judge(const struct bb_history_figure *figures, size_t n_figures, size_t n,
		     const struct bb_history_rule *rule, struct bb_history_point *ret_points)
{
	struct walk walk = {.rule = rule, .figures = figures, .n_figures = n_figures};

	if (!n_figures || n_figures > BB_HISTORY_FIGURES || !(rule->eps >= 0) || isinf(rule->eps) ||
	    !(rule->alpha > 0 && rule->alpha < 1) || rule->window_min < 2 ||
	    rule->window_max < rule->window_min || rule->window_max > BB_HISTORY_WINDOW_MAX)
		return -EINVAL;
	for (const struct bb_history_figure *f = figures; f < figures + n_figures; f++)
		if (BB_ANY(f->r, n, isinf(*it)) ||
		    (f->se && BB_ANY(f->se, n, *it < 0 || isinf(*it))))
			return -EINVAL;
	for (size_t i = 0; i < n; i++) {
		ret_points[i] = (struct bb_history_point){BB_HISTORY_VOID, 0, NAN, NAN};
		if (isnan(figures[0].r[i]))
			continue;
		if (walk.base[0].r.n < rule->window_min) {
			ret_points[i].mark = BB_HISTORY_LEARNING;
			settle(&walk, i);
			continue;
		}
		judge(&walk, i, ret_points);
	}
	return 0;
}

#define ERROR_WINDOW 5 /* a run is predicted only if it has at least this many earlier runs */

void bb_history_error(const double *r, size_t n, const struct bb_history_rule *rule,
		      double *ret_error)
{
	double *errors = bb_calloc(n + 1, sizeof(*errors));
	struct window w = {.n = 0};
	size_t n_errors = 0;

	for (size_t i = 0; i < n; i++) {
		if (!isfinite(r[i]))
			continue;
		if (w.n >= ERROR_WINDOW)
			errors[n_errors++] = fabs(r[i] - bb_quantile_sorted(w.sorted, w.n, 0.5));
		push_value(&w, r[i], rule->window_min);
	}
	*ret_error = n_errors >= BB_HISTORY_ERROR_MIN ? BB_MAD_TO_SD * bb_median(errors, n_errors)
						      : (double)NAN;
	free(errors);
}

const char *bb_history_mark_name(enum bb_history_mark mark)
{
	return (size_t)mark < BB_LEN(mark_names) ? mark_names[mark] : "?";
}
