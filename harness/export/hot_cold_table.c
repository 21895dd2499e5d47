/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/hot_cold_table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/drive_kind.h"
#include "export/sweep_table.h"
#include "export/table_cells.h"
#include "export/text_table.h"
#include "stats/quantile.h"

struct bands {
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
static double end_of_row(const struct bands *b, size_t first, bool cold,
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

static void put_row(const struct bands *b, size_t first, struct bb_text_table *t)
{
	const struct bb_case *c = &b->r->cases[first];
	double hot_ns = end_of_row(b, first, false, latency_of),
	       cold_ns = end_of_row(b, first, true, latency_of);
	size_t n_values = 0;

	for (size_t i = first; i < b->r->n_cases; i++)
		n_values += b->cold[i] && same_row(b->r, first, i);
	if (c->param && bb_is_sweep(b->r, first))
		bb_text_table__add(t, "%zu", n_values);
	else if (c->param)
		bb_text_table__add(t, "%s", c->param_text);
	bb_text_table__add(t, "%s", c->variant);
	bb_text_table__add(t, "%s", bb_table_cell_value(hot_ns).text);
	bb_text_table__add(t, "%s", bb_table_cell_value(cold_ns).text);
	bb_text_table__add(t, "%s", bb_table_cell_value(hot_ns > 0 ? cold_ns / hot_ns : NAN).text);
	bb_text_table__add(t, "%s", bb_table_cell_value(end_of_row(b, first, false, net_of)).text);
	bb_text_table__add(t, "%s", bb_table_cell_value(end_of_row(b, first, true, net_of)).text);
}

/* Is case i the first, with another end, of its table or row? */
static bool is_first(const struct bands *b, size_t i, bool of_row)
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
static int put_table(const struct bands *b, size_t head, FILE *out)
{
	const struct bb_case *c = &b->r->cases[head];
	bool sweep = bb_is_sweep(b->r, head);
	const struct bb_text_column columns[] = {
		{sweep ? "values" : c->param, false},
		{"variant", true},
		{"hot", false},
		{"cold", false},
		{"cold/hot", false},
		{"hot net", false},
		{"cold net", false},
	};
	size_t left_out = c->param ? 0 : 1;
	struct bb_text_table t;
	int rc;

	fputs("\n", out);
	bb_put_clean(out, c->scenario);
	fputs(", ", out);
	bb_put_clean(out, c->drive);
	fprintf(out, ", from hot to cold (latency and net, %sns per run)\n",
		sweep ? "medians over the values, " : "");
	bb_text_table__init(&t, columns + left_out,
			    sizeof(columns) / sizeof(columns[0]) - left_out);
	for (size_t i = head; i < b->r->n_cases; i++)
		if (same_table(&b->r->cases[i], c) && is_first(b, i, true))
			put_row(b, i, &t);
	rc = bb_text_table__print(&t, 2, out);
	bb_text_table__done(&t);
	return rc;
}

int bb_put_hot_cold(const struct bb_report *r, FILE *out)
{
	struct bands b = {.r = r};
	int rc = 0;

	if (!r->n_cases)
		return 0;
	b.cold = calloc(r->n_cases, sizeof(*b.cold));
	b.ns = calloc(r->n_cases, sizeof(*b.ns));
	if (!b.cold || !b.ns)
		rc = -ENOMEM;
	for (size_t i = 0; !rc && i < r->n_cases; i++)
		b.cold[i] = find_cold(r, &r->cases[i]);
	for (size_t i = 0; !rc && i < r->n_cases; i++)
		if (is_first(&b, i, false))
			rc = put_table(&b, i, out);
	free(b.ns);
	free(b.cold);
	return rc;
}
