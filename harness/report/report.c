/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

struct bb_report *bb_report__new(void)
{
	struct bb_report *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->elapsed_s = NAN;
	r->steal = NAN;
	bb_fingerprint_init(&r->fingerprint);
	return r;
}

static void series_done(struct bb_series *s)
{
	free(s->void_why);
	bb_ring_use__free(s->flow);
	bb_hist_done(&s->hist);
}

static void case_done(struct bb_case *c)
{
	for (size_t i = 0; i < c->n_series; i++)
		series_done(&c->series[i]);
	free(c->series);
	free(c->name);
	free(c->scenario);
	free(c->variant);
	free(c->drive);
	free(c->param);
	free(c->command);
	free(c->fired_by);
	free(c->emptied);
}

static void program_done(struct bb_program *p)
{
	free(p->name);
	free(p->scenario);
	free(p->variant);
	free(p->program);
	free(p->object);
	free(p->type);
	free(p->tag);
}

void bb_report__free(struct bb_report *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n_cases; i++)
		case_done(&r->cases[i]);
	free(r->cases);
	for (size_t i = 0; i < r->n_programs; i++)
		program_done(&r->programs[i]);
	free(r->programs);
	for (size_t i = 0; i < r->n_comparisons; i++)
		bb_comparison__done(&r->comparisons[i]);
	free(r->comparisons);
	for (size_t i = 0; i < r->n_counted; i++)
		bb_counted__done(&r->counted[i]);
	free(r->counted);
	for (size_t i = 0; i < r->n_timed; i++)
		bb_timed__done(&r->timed[i]);
	free(r->timed);
	for (size_t i = 0; i < r->n_skips; i++) {
		free(r->skips[i].what);
		free(r->skips[i].why);
	}
	free(r->skips);
	free(r->id);
	free(r->command);
	free(r->started);
	free(r->incomplete);
	free(r);
}

struct bb_case *bb_report__add_case(struct bb_report *r)
{
	struct bb_case *c = bb_append(&r->cases, &r->n_cases, sizeof(*c));

	if (!c)
		return NULL;
	c->floor = BB_NO_FLOOR;
	c->units_per_ns = 1;
	c->wakeups = c->between = c->between_relative = c->between_floor = NAN;
	for (size_t i = 0; i < bb_n_metrics; i++)
		*bb_metric_at(&c->summary, &bb_metrics[i]) = (struct bb_estimate){NAN, NAN, NAN};
	return c;
}

struct bb_comparison *bb_report__add_comparison(struct bb_report *r)
{
	return bb_append(&r->comparisons, &r->n_comparisons, sizeof(*r->comparisons));
}

struct bb_program *bb_report__add_program(struct bb_report *r)
{
	struct bb_program *p = bb_append(&r->programs, &r->n_programs, sizeof(*p));

	if (!p)
		return NULL;
	bb_static_clear(&p->metrics);
	return p;
}

struct bb_counted *bb_report__add_counted(struct bb_report *r)
{
	return bb_append(&r->counted, &r->n_counted, sizeof(*r->counted));
}

struct bb_timed *bb_report__add_timed(struct bb_report *r)
{
	return bb_append(&r->timed, &r->n_timed, sizeof(*r->timed));
}

void bb_report__drop_counted(struct bb_report *r)
{
	bb_counted__done(&r->counted[--r->n_counted]);
}

struct bb_series *bb_case__add_series(struct bb_case *c)
{
	struct bb_series *s = bb_append(&c->series, &c->n_series, sizeof(*s));

	if (!s)
		return NULL;
	s->jit_mod64 = -1;
	s->jit_share = s->floor_ns = NAN;
	s->elapsed_s = NAN;
	s->target_cpu_s = NAN;
	s->steal = NAN;
	s->line_ns = NAN;
	for (int i = 0; i < BB_N_REFERENCES; i++)
		s->reference_ns[i] = NAN;
	s->slope.intercept_ns = s->slope.cycles = s->slope.instructions = s->slope.llc_misses = NAN;
	bb_hist_init(&s->hist);
	return s;
}

void bb_case__drop_empty_series(struct bb_case *c)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->n_series; i++) {
		const struct bb_series *s = &c->series[i];

		if (s->fired || s->run_cnt || s->hist.n || s->void_why || s->flow)
			c->series[kept++] = *s;
		else
			series_done(&c->series[i]);
	}
	c->n_series = kept;
}

static struct bb_timed *like_timed(struct bb_report *r, const struct bb_timed *like)
{
	for (size_t i = 0; i < r->n_timed; i++)
		if (!strcmp(r->timed[i].name, like->name))
			return &r->timed[i];
	return NULL;
}

static int take_series(struct bb_case *into, struct bb_case *from, uint32_t first)
{
	for (size_t i = 0; i < from->n_series; i++) {
		struct bb_series *s = bb_append(&into->series, &into->n_series, sizeof(*s));

		if (!s)
			return -ENOMEM;
		*s = from->series[i];
		s->load += first;
		from->series[i] = (struct bb_series){0};
	}
	return 0;
}

int bb_report__take_loads(struct bb_report *into, struct bb_report *from, uint32_t first)
{
	int rc = 0;

	for (size_t i = 0; i < from->n_timed; i++) {
		const struct bb_timed *t = like_timed(into, &from->timed[i]);

		if (!t || !bb_timed__same_rows(t, &from->timed[i]))
			return -EINVAL;
	}
	for (size_t i = 0; !rc && i < from->n_timed; i++)
		rc = bb_timed__take_loads(like_timed(into, &from->timed[i]), &from->timed[i]);
	for (size_t i = 0; !rc && i < from->n_cases; i++) {
		const struct bb_case *c = bb_report__find_case(into, from->cases[i].name);

		rc = c ? take_series(&into->cases[c - into->cases], &from->cases[i], first) : 0;
	}
	return rc;
}

/* Remove the cases of which that is true. */
static void drop_cases(struct bb_report *r, size_t first, bool (*is_to_go)(const struct bb_case *c))
{
	size_t kept = first;

	for (size_t i = first; i < r->n_cases; i++) {
		if (!is_to_go(&r->cases[i])) {
			r->cases[kept++] = r->cases[i];
			continue;
		}
		case_done(&r->cases[i]);
		/* `kept` is its place by now, in all floors that were moved with it */
		for (size_t j = 0; j < r->n_cases; j++) {
			struct bb_case *c = &r->cases[j];

			if (c->floor == BB_NO_FLOOR || (j >= kept && j <= i))
				continue;
			if (c->floor == kept)
				c->floor = BB_NO_FLOOR;
			else if (c->floor > kept)
				c->floor--;
		}
	}
	r->n_cases = kept;
}

static bool has_no_series(const struct bb_case *c)
{
	return !c->n_series;
}

void bb_report__drop_empty_cases(struct bb_report *r)
{
	drop_cases(r, 0, has_no_series);
}

const char *bb_case__why_no_sample(const struct bb_case *c)
{
	for (size_t i = 0; i < c->n_series; i++)
		if (!bb_series_why_void(&c->series[i]))
			return NULL;
	return c->n_series ? bb_series_why_void(&c->series[0]) : "it was not measured";
}

static bool has_no_sample(const struct bb_case *c)
{
	return bb_case__why_no_sample(c) != NULL;
}

int bb_report__skip_without_sample(struct bb_report *r, size_t first)
{
	size_t left = 0;

	for (size_t i = first; i < r->n_cases; i++)
		left += !has_no_sample(&r->cases[i]);
	for (size_t i = first; left && i < r->n_cases; i++) {
		const char *why = bb_case__why_no_sample(&r->cases[i]);

		if (why && bb_report__add_skip(r, r->cases[i].name, why))
			return -ENOMEM;
	}
	if (left)
		drop_cases(r, first, has_no_sample);
	return 0;
}

bool bb_report__has_samples(const struct bb_report *r)
{
	for (size_t i = 0; i < r->n_cases; i++)
		for (size_t j = 0; j < r->cases[i].n_series; j++)
			if (r->cases[i].series[j].run_cnt || r->cases[i].series[j].hist.n)
				return true;
	return r->n_counted;
}

const char *bb_series_why_void(const struct bb_series *s)
{
	if (s->void_why)
		return s->void_why;
	if (s->hist.n)
		return NULL;
	return s->run_cnt ? "no run had a window to itself (the poller was kept from its CPU)"
			  : "zero runs counted";
}

int bb_report__add_skip(struct bb_report *r, const char *what, const char *why)
{
	struct bb_skip *skip = bb_append(&r->skips, &r->n_skips, sizeof(*skip));

	if (!skip)
		return -ENOMEM;
	*skip = (struct bb_skip){.what = strdup(what), .why = strdup(why)};
	if (skip->what && skip->why)
		return 0;
	free(skip->what);
	free(skip->why);
	r->n_skips--;
	return -ENOMEM;
}

const struct bb_case *bb_report__find_case(const struct bb_report *r, const char *name)
{
	for (size_t i = 0; i < r->n_cases; i++)
		if (r->cases[i].name && !strcmp(r->cases[i].name, name))
			return &r->cases[i];
	return NULL;
}

const struct bb_program *bb_report__find_program(const struct bb_report *r, const char *name)
{
	for (size_t i = 0; i < r->n_programs; i++)
		if (r->programs[i].name && !strcmp(r->programs[i].name, name))
			return &r->programs[i];
	return NULL;
}

size_t bb_report__count_verdict(const struct bb_report *r, enum bb_verdict verdict)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_comparisons; i++)
		n += r->comparisons[i].verdict == verdict;
	return n;
}
