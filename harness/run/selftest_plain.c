/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/selftest_plain.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/deadline.h"
#include "base/grow.h"
#include "plan/plan.h"
#include "report/report.h"
#include "store/run_points.h"

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
