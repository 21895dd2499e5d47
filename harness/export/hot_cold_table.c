/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/drive_kind.h"
#include "export/documents.h"
#include "stats/quantile.h"

struct ends {
	const struct bb_report *r;
	const struct bb_case **cold; /* by case: its other end; NULL: it has none */
	double *ns;                  /* room for a value of every case */
};

static bool is_cold_of(const struct bb_case *cold, const struct bb_case *hot)
{
	const struct bb_drive_kind *kind = bb_drive_kind_named(hot->drive);

	return kind->cold_name && !strcmp(cold->drive, kind->cold_name) &&
	       !strcmp(hot->drive, bb_drive_kind_name(kind)) &&
	       !strcmp(cold->scenario, hot->scenario) && !strcmp(cold->variant, hot->variant) &&
	       bb_same_text(cold->param, hot->param) && cold->param_value == hot->param_value;
}

static const struct bb_case *find_cold(const struct bb_report *r, const struct bb_case *hot)
{
	for (size_t i = 0; i < r->n_cases && !isnan(hot->summary.latency.value); i++)
		if (is_cold_of(&r->cases[i], hot) && !isnan(r->cases[i].summary.latency.value))
			return &r->cases[i];
	return NULL;
}

static bool same_table(const struct bb_case *a, const struct bb_case *b)
{
	return !strcmp(a->scenario, b->scenario) && !strcmp(a->drive, b->drive) &&
	       bb_same_text(a->param, b->param);
}

/* The values of a sweep share a row. */
static bool same_row(const struct bb_report *r, size_t a, size_t b)
{
	return same_table(&r->cases[a], &r->cases[b]) &&
	       !strcmp(r->cases[a].variant, r->cases[b].variant) &&
	       (r->cases[a].param_value == r->cases[b].param_value || bb_is_sweep(r, a));
}

static double latency_of(const struct bb_case *c)
{
	return c->summary.latency.value;
}

static double net_of(const struct bb_case *c)
{
	return c->summary.net.value;
}

/* One end of the row that begins with case `first`: of one case what it is, of several the median.
 */
static double end_of_row(const struct ends *b, size_t first, bool cold,
			 double (*value)(const struct bb_case *))
{
	size_t n = 0;

	for (size_t i = first; i < b->r->n_cases; i++) {
		double ns = b->cold[i] && same_row(b->r, first, i)
				    ? value(cold ? b->cold[i] : &b->r->cases[i])
				    : NAN;

		if (!isnan(ns))
			b->ns[n++] = ns;
	}
	return bb_median(b->ns, n);
}

static void add_ends(const struct ends *b, size_t first, double (*value)(const struct bb_case *),
		     bool with_ratio, struct bb_doc *d)
{
	double hot = end_of_row(b, first, false, value), cold = end_of_row(b, first, true, value);

	bb_doc__number_cell(d, hot, hot);
	bb_doc__number_cell(d, cold, cold);
	if (with_ratio)
		bb_doc__number_cell(d, hot > 0 ? cold / hot : (double)NAN, cold / hot);
}

static void add_row(const struct ends *b, size_t first, struct bb_doc *d)
{
	const struct bb_case *c = &b->r->cases[first];
	size_t n_values = 0;

	for (size_t i = first; i < b->r->n_cases; i++)
		n_values += b->cold[i] && same_row(b->r, first, i);
	if (c->param && bb_is_sweep(b->r, first))
		bb_doc__cell(d, "%zu", n_values);
	else
		bb_doc__text_cell(d, c->param ? c->param_text : "");
	bb_doc__text_cell(d, c->variant);
	add_ends(b, first, latency_of, true, d);
	add_ends(b, first, net_of, false, d);
}

/* Is case i the first, with another end, of its table or row? */
static bool is_first(const struct ends *b, size_t i, bool of_row)
{
	if (!b->cold[i])
		return false;
	for (size_t k = 0; k < i; k++)
		if (b->cold[k] &&
		    (of_row ? same_row(b->r, k, i) : same_table(&b->r->cases[k], &b->r->cases[i])))
			return false;
	return true;
}

/* The table that begins with case `head`. */
static void add_table(const struct ends *b, size_t head, struct bb_doc *d)
{
	const struct bb_case *c = &b->r->cases[head];
	bool sweep = bb_is_sweep(b->r, head);
	const struct bb_doc_column columns[] = {
		{.head = sweep ? "values" : c->param},
		{BB_TEXT("variant")},
		{BB_NUMBER("hot")},
		{BB_NUMBER("cold")},
		{BB_NUMBER("cold/hot")},
		{BB_NUMBER("hot net")},
		{BB_NUMBER("cold net")},
	};

	bb_doc__add(d, BB_DOC_TITLE, NULL,
		    "%s, %s, from hot to cold (latency and net, %sns per run)", c->scenario,
		    c->drive, sweep ? "medians over the values, " : "");
	bb_doc__table(d, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = head; i < b->r->n_cases; i++)
		if (same_table(&b->r->cases[i], c) && is_first(b, i, true))
			add_row(b, i, d);
}

/* A row is a variant at a value of the parameter; of a sweep it is the medians of a variant over
 * the values that have both ends. */
void bb_doc_hot_cold(const struct bb_report *r, struct bb_doc *d)
{
	struct ends b = {.r = r};

	b.cold = calloc(r->n_cases + 1, sizeof(*b.cold));
	b.ns = calloc(r->n_cases + 1, sizeof(*b.ns));
	if (!b.cold || !b.ns)
		d->failed = true;
	for (size_t i = 0; !d->failed && i < r->n_cases; i++)
		b.cold[i] = find_cold(r, &r->cases[i]);
	for (size_t i = 0; !d->failed && i < r->n_cases; i++)
		if (is_first(&b, i, false))
			add_table(&b, i, d);
	free(b.ns);
	free(b.cold);
}
