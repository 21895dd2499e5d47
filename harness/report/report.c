/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "report/records.h"

struct bb_report *bb_report__new(void)
{
	struct bb_report *r = malloc(sizeof(*r));

	if (r)
		bb_record__init(&bb_report_record, r);
	return r;
}

void bb_report__free(struct bb_report *r)
{
	if (r)
		bb_record__done(&bb_report_record, r);
	free(r);
}

struct bb_case *bb_report__add_case(struct bb_report *r)
{
	return bb_record__append(&bb_case_record, &r->cases, &r->n_cases);
}

struct bb_comparison *bb_report__add_comparison(struct bb_report *r)
{
	return bb_record__append(&bb_comparison_record, &r->comparisons, &r->n_comparisons);
}

struct bb_program *bb_report__add_program(struct bb_report *r)
{
	return bb_record__append(&bb_program_record, &r->programs, &r->n_programs);
}

struct bb_counted *bb_report__add_counted(struct bb_report *r)
{
	return bb_record__append(&bb_counted_record, &r->counted, &r->n_counted);
}

struct bb_timed *bb_report__add_timed(struct bb_report *r)
{
	return bb_record__append(&bb_timed_record, &r->timed, &r->n_timed);
}

struct bb_series *bb_case__add_series(struct bb_case *c)
{
	return bb_record__append(&bb_series_record, &c->series, &c->n_series);
}

void bb_report__drop_counted(struct bb_report *r)
{
	bb_record__done(&bb_counted_record, &r->counted[--r->n_counted]);
}

void bb_case__drop_empty_series(struct bb_case *c)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->n_series; i++) {
		const struct bb_series *s = &c->series[i];

		if (s->fired || s->run_cnt || s->hist.n || s->void_why || s->flow)
			c->series[kept++] = *s;
		else
			bb_record__done(&bb_series_record, &c->series[i]);
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
		bb_record__done(&bb_case_record, &r->cases[i]);
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
	struct bb_skip *skip = bb_record__append(&bb_skip_record, &r->skips, &r->n_skips);

	if (!skip)
		return -ENOMEM;
	*skip = (struct bb_skip){.what = strdup(what), .why = strdup(why)};
	if (skip->what && skip->why)
		return 0;
	bb_record__done(&bb_skip_record, skip);
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
