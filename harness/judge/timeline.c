/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "judge/timeline.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void bb_timeline__done(struct bb_timeline *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n_cases; i++)
		free(t->cases[i].points);
	free(t->runs);
	free(t->cases);
	bb_run_index__done(&t->index);
	memset(t, 0, sizeof(*t));
}

/* --- what to take --- */

/* What becomes of a case of the index. */
struct fate {
	bool wanted;
	size_t n;                         /* points */
	struct bb_timeline_case *becomes; /* NULL when n is 0 */
};

static bool is_among(const char *name, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(name, names[i]))
			return true;
	return !n;
}

static bool is_wanted(const struct bb_timeline_filter *f, const struct bb_index_case *c)
{
	return (!f->scenario || !strcmp(f->scenario, c->scenario)) &&
	       is_among(c->variant, f->variants, f->n_variants) &&
	       is_among(c->drive, f->drives, f->n_drives);
}

/* A file of another name than its run's id, while that is there too: a baseline somebody made by
 * hand, say. */
static bool is_copy(const struct bb_run_index *x, const struct bb_index_run *run)
{
	return strcmp(run->name, run->id) && bb_run_index__find(x, run->id);
}

static int say_copy(const char *dir, const struct bb_index_run *run,
		    const struct bb_timeline_opts *opts)
{
	char *why;

	if (!opts->passed_over)
		return 0;
	if (asprintf(&why, "%s/%s.json: a copy of the run %s, which is counted once", dir,
		     run->name, run->id) < 0)
		return -ENOMEM;
	opts->passed_over(opts->arg, why);
	free(why);
	return 0;
}

static double epoch_of(const char *started)
{
	struct tm tm = {0};
	const char *end = started ? strptime(started, "%Y-%m-%dT%H:%M:%SZ", &tm) : NULL;

	return end && !*end ? (double)timegm(&tm) : NAN;
}

/* A run, if it has a case that is wanted. There is room. */
static void add_run(struct bb_timeline *t, const struct bb_index_run *run, struct fate *fates)
{
	const struct bb_run_index *x = &t->index;
	size_t n = 0;

	for (size_t i = 0; i < run->n_points; i++) {
		struct fate *fate = &fates[x->points[run->first_point + i].what];

		fate->n += fate->wanted;
		n += fate->wanted;
	}
	if (n)
		t->runs[t->n_runs++] = (struct bb_timeline_run){
			.of = run,
			.id = run->id,
			.started = run->started,
			.incomplete = run->incomplete,
			.commit = run->commit,
			.epoch_s = epoch_of(run->started),
		};
}

static int by_time(const void *x, const void *y)
{
	const struct bb_timeline_run *a = x, *b = y;

	if (isnan(a->epoch_s) != isnan(b->epoch_s))
		return isnan(a->epoch_s) ? -1 : 1;
	if (a->epoch_s < b->epoch_s || a->epoch_s > b->epoch_s)
		return a->epoch_s < b->epoch_s ? -1 : 1;
	return strcmp(a->id, b->id);
}

/* Names need not be in the order of time: people rename files. */
static int take_runs(struct bb_timeline *t, const char *dir, const struct bb_timeline_opts *opts,
		     struct fate *fates)
{
	const struct bb_run_index *x = &t->index;
	int rc = 0;

	t->runs = calloc(x->n_runs + 1, sizeof(*t->runs));
	if (!t->runs)
		return -ENOMEM;
	for (size_t i = 0; i < x->n_cases; i++)
		fates[i].wanted = is_wanted(&opts->filter, &x->cases[i]);
	for (size_t i = 0; !rc && i < x->n_runs; i++) {
		if (is_copy(x, &x->runs[i]))
			rc = say_copy(dir, &x->runs[i], opts);
		else
			add_run(t, &x->runs[i], fates);
	}
	qsort(t->runs, t->n_runs, sizeof(*t->runs), by_time);
	return rc;
}

/* The cases of the runs that were taken, with room for their points. */
static int take_cases(struct bb_timeline *t, struct fate *fates)
{
	const struct bb_run_index *x = &t->index;

	t->cases = calloc(x->n_cases + 1, sizeof(*t->cases));
	if (!t->cases)
		return -ENOMEM;
	for (size_t i = 0; i < x->n_cases; i++) {
		const struct bb_index_case *c = &x->cases[i];
		struct bb_timeline_case *k = &t->cases[t->n_cases];

		if (!fates[i].n)
			continue;
		*k = (struct bb_timeline_case){
			.name = c->name,
			.scenario = c->scenario,
			.variant = c->variant,
			.drive = c->drive,
			.param = c->param,
			.param_value = c->param_value,
			.points = calloc(fates[i].n, sizeof(*k->points)),
		};
		if (!k->points)
			return -ENOMEM;
		fates[i].becomes = k;
		t->n_cases++;
	}
	return 0;
}

static void take_points(struct bb_timeline *t, const struct fate *fates)
{
	for (size_t i = 0; i < t->n_runs; i++) {
		const struct bb_index_run *run = t->runs[i].of;

		for (size_t k = 0; k < run->n_points; k++) {
			const struct bb_run_point *p = &t->index.points[run->first_point + k];
			struct bb_timeline_case *c = fates[p->what].becomes;

			if (!c)
				continue;
			c->points[c->n_points++] = (struct bb_timeline_point){.run = i, .of = p};
			c->is_anchor = p->is_anchor; /* the newest run has the last word */
			if (!isnan(p->figure[BB_BY_RATIO].value))
				c->by = BB_BY_RATIO;
		}
	}
}

static int take(struct bb_timeline *t, const char *dir, const struct bb_timeline_opts *opts)
{
	struct fate *fates = calloc(t->index.n_cases + 1, sizeof(*fates));
	int rc = fates ? take_runs(t, dir, opts, fates) : -ENOMEM;

	if (!rc)
		rc = take_cases(t, fates);
	if (!rc)
		take_points(t, fates);
	free(fates);
	return rc;
}

/* --- judging --- */

/* The first key in which each machine differs from machine `now`, NULL where it does not. Keys are
 * static texts. */
static void compare_machines(const struct bb_run_index *x, size_t now, const char **ret_differs)
{
	for (size_t i = 0; i < x->n_machines; i++)
		if (!bb_fingerprint_differences(&x->machines[i], &x->machines[now], &ret_differs[i],
						1))
			ret_differs[i] = NULL;
}

const struct bb_estimate *bb_timeline__judged(const struct bb_timeline_case *c,
					      const struct bb_timeline_point *p)
{
	return &p->of->figure[c->by];
}

/* Its ln. */
static double timeline_ln_judged(const struct bb_timeline_case *c,
				 const struct bb_timeline_point *p)
{
	double v = bb_timeline__judged(c, p)->value;

	return v > 0 ? log(v) : NAN;
}

const char *bb_predictor_name(enum bb_predictor by)
{
	static const char *const names[BB_N_PREDICTORS] = {"latency", "ratio", "relative"};

	return (size_t)by < BB_N_PREDICTORS ? names[by] : "?";
}

/* ln of that figure, ret_r[n_points], and its standard errors. */
static void take_figures(const struct bb_timeline *t, const struct bb_timeline_case *c,
			 enum bb_predictor by, double *ret_r, double *ret_se)
{
	for (size_t i = 0; i < c->n_points; i++) {
		const struct bb_timeline_point *p = &c->points[i];
		double v = p->of->figure[by].value;
		bool is_void = t->runs[p->run].incomplete || p->differs || !(v > 0);

		ret_r[i] = is_void ? (double)NAN : log(v);
		ret_se[i] = p->of->se[by];
	}
}

#define BETTER 0.9     /* times the error: less is no reason to judge by something else */
#define FINE_SHARE 0.3 /* of the threshold, which decides alone where errors are below */

/* Which predictor is best is decided by the runs themselves. */
static void choose_predictor(struct bb_timeline_case *c, const struct bb_history_rule *rule)
{
	enum bb_predictor usual = c->by, best = usual;

	for (int by = 0; c->error[usual] > FINE_SHARE * rule->eps && by < BB_N_PREDICTORS; by++)
		if (c->error[by] < c->error[best] * (best == usual ? BETTER : 1))
			best = (enum bb_predictor)by;
	c->by = best;
}

/* Judged by the best predictor, unless another denies it. */
static int judge_case(const struct bb_timeline *t, struct bb_timeline_case *c,
		      const struct bb_history_rule *rule, const char **differs)
{
	size_t n = c->n_points, n_figures = 1;
	double *all = calloc(2 * BB_N_PREDICTORS * n, sizeof(*all));
	struct bb_history_point *judged = calloc(n, sizeof(*judged));
	struct bb_history_figure of[BB_N_PREDICTORS], figures[BB_N_PREDICTORS];
	int rc = all && judged ? 0 : -ENOMEM;

	for (size_t i = 0; i < n; i++)
		c->points[i].differs = differs[t->runs[c->points[i].run].of->machine];
	for (int by = 0; !rc && by < BB_N_PREDICTORS; by++) {
		double *r = all + 2 * (size_t)by * n, *se = r + n;

		take_figures(t, c, (enum bb_predictor)by, r, se);
		of[by] = (struct bb_history_figure){r, se};
		rc = bb_history_error(r, n, rule, &c->error[by]);
	}
	if (!rc) {
		choose_predictor(c, rule);
		figures[0] = of[c->by];
		for (int by = 0; by < BB_N_PREDICTORS; by++)
			if (by != (int)c->by)
				figures[n_figures++] = of[by];
		rc = bb_history_judge(figures, n_figures, n, rule, judged);
	}
	for (size_t i = 0; !rc && i < n; i++)
		c->points[i].judged = judged[i];
	free(all);
	free(judged);
	return rc;
}

static int judge(struct bb_timeline *t, const struct bb_history_rule *rule)
{
	const char **differs = calloc(t->index.n_machines + 1, sizeof(*differs));
	size_t now = t->index.n_machines;
	int rc = differs ? 0 : -ENOMEM;

	for (size_t i = 0; !rc && i < t->n_cases; i++) {
		struct bb_timeline_case *c = &t->cases[i];
		size_t machine = t->runs[c->points[c->n_points - 1].run].of->machine;

		if (machine != now)
			compare_machines(&t->index, machine, differs);
		now = machine;
		rc = judge_case(t, c, rule, differs);
	}
	free(differs);
	return rc;
}

int bb_timeline__read(const char *dir, const struct bb_timeline_opts *opts,
		      struct bb_timeline *ret_timeline, struct bb_err *err)
{
	struct bb_timeline t = {0};
	int rc = bb_run_index__read(dir, opts->passed_over, opts->arg, &t.index, err);

	if (rc)
		return rc;
	rc = take(&t, dir, opts);
	if (!rc)
		rc = judge(&t, &opts->rule);
	if (rc) {
		bb_timeline__done(&t);
		return rc == -ENOMEM ? bb_fail_nomem(err)
				     : bb_fail(err, rc,
					       "a history over windows of %zu to %zu runs at %g: "
					       "out of bounds",
					       opts->rule.window_min, opts->rule.window_max,
					       opts->rule.eps);
	}
	*ret_timeline = t;
	return 0;
}

bool bb_timeline__is_judged(const struct bb_timeline *t, const struct bb_timeline_point *p)
{
	return !p->differs && !t->runs[p->run].incomplete;
}

double bb_timeline__change(const struct bb_timeline_case *c, const struct bb_timeline_point *p)
{
	return expm1(timeline_ln_judged(c, p) - p->judged.baseline);
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

bool bb_history_is_news(enum bb_history_mark mark)
{
	return mark == BB_HISTORY_SUSPECT || mark == BB_HISTORY_REGRESSED ||
	       mark == BB_HISTORY_IMPROVED;
}
