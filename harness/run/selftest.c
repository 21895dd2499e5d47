/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/selftest.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/deadline.h"
#include "base/grow.h"
#include "plan/plan.h"
#include "report/report.h"
#include "stats/quantile.h"
#include "store/run_index.h"

/* --- plain runs --- */

static int add(struct bb_repeat_list *f, double x)
{
	double *at = isnan(x) ? NULL : bb_append(&f->v, &f->n, sizeof(*f->v));

	if (at)
		*at = x;
	return at || isnan(x) ? 0 : -ENOMEM;
}

/* Is it the floor of another? */
static bool is_floor(const struct bb_report *r, const struct bb_case *c)
{
	for (size_t i = 0; i < r->n_cases; i++)
		if (r->cases[i].floor < r->n_cases && &r->cases[r->cases[i].floor] == c)
			return true;
	return false;
}

enum bb_repeat_class bb_repeat_class_of(const struct bb_report *r, const struct bb_case *c)
{
	if (is_floor(r, c))
		return c->emptied ? BB_REPEAT_EMPTY_COLD : BB_REPEAT_EMPTY;
	return c->emptied                                     ? BB_REPEAT_COLD
	       : bb_case__reference(c) == BB_REFERENCE_WAKEUP ? BB_REPEAT_WAKES
							      : BB_REPEAT_CALM;
}

/* ln of the second half of the loads over the first, over places that both have. NAN: none. */
static double halves_of(const struct bb_case *c, const double *ns)
{
	double sum[2][BB_PLACES] = {0}, n[2][BB_PLACES] = {0}, ln = 0, places = 0;

	for (size_t i = 0; i < c->n_series; i++) {
		int place = c->series[i].jit_mod64, half = 2 * i >= c->n_series;

		if (place < 0 || place >= BB_PLACES || !(ns[i] > 0))
			continue;
		sum[half][place] += log(ns[i]);
		n[half][place]++;
	}
	for (size_t k = 0; k < BB_PLACES; k++) {
		if (n[0][k] <= 0 || n[1][k] <= 0)
			continue;
		ln += sum[1][k] / n[1][k] - sum[0][k] / n[0][k];
		places++;
	}
	return places > 0 ? ln / places : (double)NAN;
}

static int take_case(struct bb_repeat_row *row, const struct bb_report *report, size_t i,
		     bool alone)
{
	static const enum bb_predictor by[BB_N_REPEATS] = {BB_BY_LATENCY, BB_BY_RELATIVE};
	const struct bb_case *c = &report->cases[i];
	double *ns = calloc(c->n_series + 1, sizeof(*ns));
	struct bb_run_point p;
	int rc = ns ? bb_run_point__make(report, i, &p) : -ENOMEM;

	if (!rc && alone)
		rc = add(&row->alone, log(p.figure[BB_BY_LATENCY].value));
	for (int of = 0; !rc && !alone && of < BB_N_REPEATS; of++)
		rc = add(&row->ln[of], log(p.figure[by[of]].value));
	if (!rc)
		rc = bb_case__locations(c, ns);
	if (!rc && !alone)
		rc = add(&row->halves, halves_of(c, ns));
	free(ns);
	return rc;
}

/* The references, of the first case: all of a drive share them. */
static int take_references(struct bb_repeat *r, const struct bb_report *report)
{
	const struct bb_case *c = &report->cases[0];
	int rc = add(&r->memory, c->summary.reference[BB_REFERENCE_MEMORY].value);

	for (size_t i = 0; !rc && i < c->n_series; i++)
		rc = add(&r->clock, c->series[i].reference_ns[BB_REFERENCE_INSTRUCTIONS]);
	return rc;
}

/* NULL: out of memory. */
static struct bb_repeat_row *row_of(struct bb_repeat *r, const char *program,
				    enum bb_repeat_class class)
{
	struct bb_repeat_row *row;

	for (size_t i = 0; i < r->n_rows; i++)
		if (r->rows[i].class == class && !strcmp(r->rows[i].program, program))
			return &r->rows[i];
	row = bb_append(&r->rows, &r->n_rows, sizeof(*row));
	if (row)
		*row = (struct bb_repeat_row){.program = program, .class = class};
	return row;
}

/* As the scenario names it, which outlives the report. */
static const char *name_in(const struct bb_scenario *s, const char *variant)
{
	for (size_t i = 0; i < s->n_variants; i++)
		if (!strcmp(s->variants[i].name, variant))
			return s->variants[i].name;
	return NULL;
}

static int take_run(struct bb_repeat *r, const struct bb_scenario *s, struct bb_report *report,
		    bool alone)
{
	int rc = bb_report__summarise(report);

	for (size_t i = 0; !rc && i < report->n_cases; i++) {
		const struct bb_case *c = &report->cases[i];
		struct bb_repeat_row *row;

		if (isnan(c->summary.latency.value))
			continue;
		row = row_of(r, name_in(s, c->variant), bb_repeat_class_of(report, c));
		rc = row ? take_case(row, report, i, alone) : -ENOMEM;
	}
	return !rc && report->n_cases ? take_references(r, report) : rc;
}

static int run_once(struct bb_repeat *r, const struct bb_scenario *scenario,
		    const struct bb_plan_opts *plan_opts, const struct bb_run_opts *opts,
		    bool alone, struct bb_err *err)
{
	struct bb_report *report = bb_report__new();
	struct bb_plan plan = {0};
	int rc = report ? bb_plan__make(scenario, plan_opts, &plan, err) : bb_fail_nomem(err);

	if (!rc)
		rc = bb_run_plan(&plan, opts, report, err);
	if (rc == -ETIME || (!rc && bb_must_end())) /* cut short, it is none */
		rc = bb_stop_signal ? -EINTR : 0;
	else if (!rc && take_run(r, scenario, report, alone))
		rc = bb_fail_nomem(err);
	bb_plan__done(&plan);
	bb_report__free(report);
	return rc;
}

/* The first that is no floor. */
static const char *first_program(const struct bb_scenario *s)
{
	for (size_t i = 0; i < s->n_variants; i++)
		if (!s->floor || strcmp(s->variants[i].name, s->floor))
			return s->variants[i].name;
	return NULL;
}

int bb_repeat__run(struct bb_repeat *r, const struct bb_scenario *scenario,
		   const struct bb_run_opts *opts, uint32_t turn, struct bb_err *err)
{
	const char *first = first_program(scenario), *hot = bb_drive_name(&scenario->drives[0]);
	struct bb_plan_opts all = {0};
	struct bb_plan_opts one = {.variants = &first,
				   .n_variants = 1,
				   .drives = &hot,
				   .n_drives = 1};
	int rc = 0;

	for (uint32_t k = 0; !rc && k < 2; k++) {
		bool alone = (turn + k) % 2;

		rc = run_once(r, scenario, alone ? &one : &all, opts, alone, err);
	}
	return rc;
}

void bb_repeat__done(struct bb_repeat *r)
{
	for (size_t i = 0; i < r->n_rows; i++) {
		struct bb_repeat_row *row = &r->rows[i];

		for (int of = 0; of < BB_N_REPEATS; of++)
			free(row->ln[of].v);
		free(row->halves.v);
		free(row->alone.v);
	}
	free(r->rows);
	free(r->clock.v);
	free(r->memory.v);
	memset(r, 0, sizeof(*r));
}

const char *bb_selftest_mode_name(enum bb_selftest_mode mode)
{
	static const char *const names[] = {"same-load", "reloads", "injected"};

	return mode < BB_N_SELFTEST_MODES ? names[mode] : "?";
}

static int record(struct bb_selftest_row *row, const struct bb_comparison *c)
{
	double truth = 1 + row->injected, *grown;

	if (!c->n_matched) {
		row->voids++;
		return 0;
	}
	grown = reallocarray(row->log_ratios, row->n + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	row->log_ratios = grown;
	grown = reallocarray(row->half_widths, row->n + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	row->half_widths = grown;
	row->log_ratios[row->n] = log(c->ratio.value);
	row->half_widths[row->n] = log(c->ratio.hi / c->ratio.lo) / 2;
	row->verdicts[c->verdict]++;
	/* No interval (too few pairs in the budget) excludes nothing. */
	row->covered += isnan(c->ratio.lo) || (c->ratio.lo <= truth && truth <= c->ratio.hi);
	row->n++;
	return 0;
}

static int run_experiment(const struct bb_scenario *scenario, const struct bb_selftest_opts *opts,
			  uint64_t seed, struct bb_selftest_row *row, struct bb_err *err)
{
	struct bb_plan_opts plan_opts = {.variants = &row->program, .n_variants = 1};
	struct bb_report *report = bb_report__new();
	struct bb_plan plan = {0};
	struct bb_ab_opts ab = {
		.run = opts->run,
		.base = row->program,
		.head = row->program,
		.threshold = opts->threshold,
		.alpha = opts->alpha,
		.same_load = row->mode == BB_SELFTEST_SAME_LOAD,
		.inject = row->injected,
		.watch = opts->watch,
	};
	uint64_t began_ns = bb_now_ns();
	int rc = report ? bb_plan__make(scenario, &plan_opts, &plan, err) : bb_fail_nomem(err);

	ab.run.seed = seed;
	ab.run.budget_s = opts->experiment_budget_s;
	ab.run.progress = NULL;
	if (!rc)
		rc = bb_run_ab(&plan, &ab, report, err);
	if (rc == -ETIME || (!rc && bb_must_end())) /* cut short, it is none */
		rc = bb_stop_signal ? -EINTR : 0;
	else if (!rc && record(row, &report->comparisons[0]))
		rc = bb_fail_nomem(err);
	row->seconds += bb_seconds_since(began_ns);
	bb_plan__done(&plan);
	bb_report__free(report);
	return rc;
}

static int run_plain(const struct bb_selftest_opts *opts, uint64_t seed, uint32_t turn,
		     struct bb_repeat *repeat, struct bb_err *err)
{
	struct bb_run_opts run = opts->run;

	run.seed = seed;
	run.budget_s = opts->experiment_budget_s;
	run.progress = NULL;
	return bb_repeat__run(repeat, opts->plain, &run, turn, err);
}

static int make_rows(const struct bb_scenario *s, const struct bb_selftest_opts *opts,
		     struct bb_selftest *t, struct bb_err *err)
{
	t->rows = calloc(s->n_variants * BB_N_SELFTEST_MODES, sizeof(*t->rows));
	if (!t->rows)
		return bb_fail_nomem(err);
	for (size_t i = 0; i < s->n_variants; i++) {
		const char *name = s->variants[i].name;

		if ((s->floor && !strcmp(name, s->floor)) ||
		    (opts->program && strcmp(name, opts->program)))
			continue;
		for (int mode = 0; mode < BB_N_SELFTEST_MODES; mode++) {
			if (opts->mode >= 0 && opts->mode != mode)
				continue;
			t->rows[t->n_rows++] = (struct bb_selftest_row){
				.program = name,
				.mode = (enum bb_selftest_mode)mode,
				.injected = mode == BB_SELFTEST_INJECTED ? opts->inject : 0,
			};
		}
	}
	return t->n_rows ? 0
			 : bb_fail(err, -ENOENT,
				   "the self-test has no program '%s'; `bpfbench list` shows them",
				   opts->program);
}

/* 95th percentile of |ratio - 1| of what should have been 1, over all programs: layout and timing
 * together. */
static int find_resolution(struct bb_selftest *t)
{
	size_t n = 0;
	double *x;

	for (size_t i = 0; i < t->n_rows; i++)
		n += t->rows[i].mode == BB_SELFTEST_RELOADS ? t->rows[i].n : 0;
	t->resolution = NAN;
	if (!n)
		return 0;
	x = calloc(n, sizeof(*x));
	if (!x)
		return -ENOMEM;
	n = 0;
	for (size_t i = 0; i < t->n_rows; i++)
		for (uint32_t j = 0; t->rows[i].mode == BB_SELFTEST_RELOADS && j < t->rows[i].n;
		     j++)
			x[n++] = fabs(expm1(t->rows[i].log_ratios[j]));
	bb_sort_doubles(x, n);
	t->resolution = bb_quantile_sorted(x, n, 0.95);
	free(x);
	return 0;
}

static bool any_experiment(const struct bb_selftest *t)
{
	for (size_t i = 0; i < t->n_rows; i++)
		if (t->rows[i].n || t->rows[i].voids)
			return true;
	return false;
}

int bb_selftest__run(const struct bb_scenario *scenario, const struct bb_selftest_opts *opts,
		     struct bb_selftest *ret_selftest, struct bb_err *err)
{
	struct bb_selftest t = {.resolution = NAN};
	const struct bb_progress *p = opts->run.progress;
	uint64_t began_ns = bb_now_ns();
	struct bb_deadline budget;
	struct bb_rng rng;
	int rc = make_rows(scenario, opts, &t, err);

	bb_rng_seed(&rng, opts->run.seed);
	bb_deadline__begin(&budget, opts->run.budget_s);
	for (uint32_t i = 0; !rc && !bb_must_end() && (!opts->experiments || i < opts->experiments);
	     i++) {
		for (size_t r = 0; !rc && !bb_must_end() && r < t.n_rows; r++) {
			double elapsed_s = bb_seconds_since(began_ns);

			if (p)
				p->update(p->arg,
					  opts->experiments ? i * (double)t.n_rows + (double)r
							    : elapsed_s,
					  opts->experiments ? opts->experiments * (double)t.n_rows
							    : opts->run.budget_s,
					  t.rows[r].program);
			rc = run_experiment(scenario, opts, bb_rng_u64(&rng), &t.rows[r], err);
		}
		if (!rc && !opts->program && opts->mode < 0 && !bb_must_end())
			rc = run_plain(opts, bb_rng_u64(&rng), i, &t.repeat, err);
	}
	bb_deadline__end(&budget);
	if (!rc && bb_stop_signal)
		rc = -EINTR;
	if (!rc && !any_experiment(&t))
		rc = bb_fail(err, -ETIME,
			     "no experiment ended within the budget of %g s; --budget gives more",
			     opts->run.budget_s);
	if (!rc && find_resolution(&t))
		rc = bb_fail_nomem(err);
	*ret_selftest = t;
	return rc;
}

void bb_selftest__done(struct bb_selftest *t)
{
	for (size_t i = 0; i < t->n_rows; i++) {
		free(t->rows[i].log_ratios);
		free(t->rows[i].half_widths);
	}
	free(t->rows);
	bb_repeat__done(&t->repeat);
	memset(t, 0, sizeof(*t));
}
