/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "judge/timeline.h"

void bb_timeline__done(struct bb_timeline *t)
{
	for (size_t i = 0; i < t->n_cases; i++)
		free(t->cases[i].points);
	free(t->runs);
	free(t->cases);
	bb_run_index__done(&t->index);
	memset(t, 0, sizeof(*t));
}

static bool is_wanted(const struct bb_timeline_filter *f, const struct bb_index_case *c)
{
	return (!f->scenario || !strcmp(f->scenario, c->scenario)) &&
	       (!f->variants.n || BB_ANY(f->variants.v, f->variants.n, !strcmp(c->variant, *it))) &&
	       (!f->drives.n || BB_ANY(f->drives.v, f->drives.n, !strcmp(c->drive, *it)));
}

static int by_time(const void *x, const void *y)
{
	const struct bb_timeline_run *a = x, *b = y;

	if (isnan(a->epoch_s) != isnan(b->epoch_s))
		return isnan(a->epoch_s) ? -1 : 1;
	return BB_ORDER(a->epoch_s, b->epoch_s) ?: strcmp(a->of->id, b->of->id);
}

/* Adds the points of run `i` to its cases. t->cases[k] must be case k of the index. */
static void take_points(struct bb_timeline *t, size_t i, const struct bb_timeline_filter *filter)
{
	const struct bb_index_run *run = t->runs[i].of;

	for (size_t k = 0; k < run->n_points; k++) {
		const struct bb_run_point *p = &t->index.points[run->first_point + k];
		struct bb_timeline_case *c = &t->cases[p->what];

		if (!is_wanted(filter, c->of))
			continue;
		struct bb_timeline_point *point = bb_append(&c->points, &c->n_points,
							    sizeof(*point));
		point->run = i;
		point->of = p;
		/* runs come in order of time, so the value of the newest run remains */
		c->is_anchor = p->is_anchor;
		if (!isnan(p->figure[BB_BY_RATIO].value))
			c->by = BB_BY_RATIO;
	}
}

static void take(struct bb_timeline *t, const char *dir, const struct bb_timeline_opts *opts)
{
	const struct bb_run_index *x = &t->index;

	t->runs = bb_calloc(x->n_runs + 1, sizeof(*t->runs));
	t->cases = bb_calloc(x->n_cases + 1, sizeof(*t->cases));
	for (size_t i = 0; i < x->n_runs; i++) {
		const struct bb_index_run *run = &x->runs[i];
		struct tm tm = {0};
		char *why;

		/* Leave out a copy of a run, such as a baseline made by hand. The name of its file
		 * is not the id of the run, and another file has this id as its name. */
		if (strcmp(run->name, run->id) && bb_run_index__find(x, run->id)) {
			why = bb_asprintf("%s/%s.json: a copy of the run %s, which is counted once",
					  dir, run->name, run->id);
			if (opts->passed_over)
				opts->passed_over(opts->arg, why);
			free(why);
			continue;
		}
		if (!run->n_points || !BB_ANY(x->points + run->first_point, run->n_points,
					      is_wanted(&opts->filter, &x->cases[it->what])))
			continue;
		const char *end = run->started ? strptime(run->started, "%Y-%m-%dT%H:%M:%SZ", &tm)
					       : NULL;
		t->runs[t->n_runs++] = (struct bb_timeline_run){
			.of = run,
			.epoch_s = end && !*end ? (double)timegm(&tm) : (double)NAN,
		};
	}
	/* The order of names may differ from the order of time, because people rename files. */
	qsort(t->runs, t->n_runs, sizeof(*t->runs), by_time);
	for (; t->n_cases < x->n_cases; t->n_cases++)
		t->cases[t->n_cases].of = &x->cases[t->n_cases];
	for (size_t i = 0; i < t->n_runs; i++)
		take_points(t, i, &opts->filter);
	BB_KEEP(t->cases, t->n_cases, it->n_points);
}

const char *bb_predictor_name(enum bb_predictor by)
{
	static const char *const names[BB_N_PREDICTORS] = {"latency", "ratio", "relative"};

	return (size_t)by < BB_N_PREDICTORS ? names[by] : "?";
}

/* The usual figure of a case is the ratio to the anchor variant or, if there is no anchor, the
 * latency. Another figure is judged if its error of prediction is less than this share of the error
 * of the usual figure. */
#define BETTER 0.9
/* The usual figure is judged in any case if its error is at most this share of the threshold. */
#define FINE_SHARE 0.3

/* Chooses a figure by its error of prediction (BETTER, FINE_SHARE), and judges the case by this
 * figure. A change does not count if another figure contradicts it (stats/history.h). */
static int judge_case(const struct bb_timeline *t, struct bb_timeline_case *c,
		      const struct bb_history_rule *rule, const char **differs)
{
	size_t n = c->n_points, n_figures = 1;
	double *all = bb_calloc(2 * BB_N_PREDICTORS * n, sizeof(*all));
	struct bb_history_point *judged = bb_calloc(n, sizeof(*judged));
	struct bb_history_figure of[BB_N_PREDICTORS], figures[BB_N_PREDICTORS];
	enum bb_predictor usual = c->by;

	for (enum bb_predictor by = 0; by < BB_N_PREDICTORS; by++) {
		/* r[i]: logarithm of the figure at point i; se[i]: standard error of r[i] */
		double *r = all + 2 * (size_t)by * n, *se = r + n;

		for (size_t i = 0; i < n; i++) {
			struct bb_timeline_point *p = &c->points[i];
			double v = p->of->figure[by].value;

			p->differs = differs[t->runs[p->run].of->machine];
			r[i] = bb_timeline__is_judged(t, p) && v > 0 ? log(v) : (double)NAN;
			se[i] = p->of->se[by];
		}
		of[by] = (struct bb_history_figure){r, se};
		bb_history_error(r, n, rule, &c->error[by]);
	}
	for (enum bb_predictor by = 0; by < BB_N_PREDICTORS; by++)
		if (c->error[usual] > FINE_SHARE * rule->eps &&
		    c->error[by] < c->error[c->by] * (c->by == usual ? BETTER : 1))
			c->by = by;
	figures[0] = of[c->by];
	for (enum bb_predictor by = 0; by < BB_N_PREDICTORS; by++)
		if (by != c->by)
			figures[n_figures++] = of[by];
	int rc = bb_history_judge(figures, n_figures, n, rule, judged);
	for (size_t i = 0; !rc && i < n; i++)
		c->points[i].judged = judged[i];
	free(all);
	free(judged);
	return rc;
}

int bb_timeline__read(const char *dir, const struct bb_timeline_opts *opts,
		      struct bb_timeline *ret_timeline, struct bb_err *err)
{
	struct bb_timeline t = {0};
	const struct bb_run_index *x = &t.index;
	int rc = bb_run_index__read(dir, opts->passed_over, opts->arg, &t.index, err);

	if (rc)
		return rc;
	take(&t, dir, opts);
	/* differs[k]: first fingerprint key in which the machines k and `now` differ, or NULL */
	const char **differs = bb_calloc(x->n_machines + 1, sizeof(*differs));
	/* index of the machine with which differs[] compares; n_machines before the first case */
	size_t now = x->n_machines;
	for (size_t i = 0; !rc && i < t.n_cases; i++) {
		struct bb_timeline_case *c = &t.cases[i];
		size_t machine = t.runs[c->points[c->n_points - 1].run].of->machine;

		for (size_t k = 0; machine != now && k < x->n_machines; k++)
			if (!bb_fingerprint_differences(&x->machines[k], &x->machines[machine],
							&differs[k], 1))
				differs[k] = NULL;
		now = machine;
		rc = judge_case(&t, c, &opts->rule, differs);
	}
	free(differs);
	if (rc) {
		bb_timeline__done(&t);
		return bb_fail(err, rc,
			       "a history over windows of %zu to %zu runs at %g: out of bounds",
			       opts->rule.window_min, opts->rule.window_max, opts->rule.eps);
	}
	t.window_min = opts->rule.window_min;
	*ret_timeline = t;
	return 0;
}

bool bb_timeline__is_judged(const struct bb_timeline *t, const struct bb_timeline_point *p)
{
	return !p->differs && !t->runs[p->run].of->incomplete;
}

double bb_timeline__change(const struct bb_timeline_case *c, const struct bb_timeline_point *p)
{
	double v = p->of->figure[c->by].value;

	return expm1((v > 0 ? log(v) : (double)NAN) - p->judged.baseline);
}

const struct bb_timeline_point *bb_timeline__newest(const struct bb_timeline *t,
						    const struct bb_timeline_case *c)
{
	for (size_t i = c->n_points; i-- > 0;)
		if (bb_timeline__is_judged(t, &c->points[i]) &&
		    c->points[i].judged.mark != BB_HISTORY_VOID)
			return &c->points[i];
	return NULL;
}

const struct bb_timeline_point *bb_timeline__since(const struct bb_timeline_case *c)
{
	for (size_t i = c->n_points; i-- > 0;)
		if (c->points[i].judged.change)
			return &c->points[i];
	return NULL;
}

enum bb_history_mark bb_timeline__mark(const struct bb_timeline *t,
				       const struct bb_timeline_case *c)
{
	const struct bb_timeline_point *p = bb_timeline__newest(t, c);

	return p ? p->judged.mark : BB_HISTORY_VOID;
}
