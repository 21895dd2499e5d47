/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/sweep_table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "export/table_cells.h"
#include "export/text_table.h"
#include "stats/quantile.h"

static bool same_sweep(const struct bb_case *a, const struct bb_case *b)
{
	return a->param && b->param && !strcmp(a->scenario, b->scenario) &&
	       !strcmp(a->drive, b->drive) && !strcmp(a->param, b->param);
}

bool bb_is_sweep(const struct bb_report *r, size_t i)
{
	size_t n = 0;

	/* As many cases of one variant as there are values. */
	for (size_t k = 0; n <= BB_SWEEP_VALUES && k < r->n_cases; k++)
		n += same_sweep(&r->cases[k], &r->cases[i]) &&
		     !strcmp(r->cases[k].variant, r->cases[i].variant);
	return n > BB_SWEEP_VALUES;
}

bool bb_is_sweep_head(const struct bb_report *r, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (same_sweep(&r->cases[k], &r->cases[i]))
			return false;
	return true;
}

/* What one variant costs over all values. */
struct span {
	const struct bb_case *least, *most; /* NULL: no value has a valid sample */
	double *latencies, *nets;
	size_t n, n_nets;
};

static void add_case(struct span *s, const struct bb_case *c)
{
	double ns = c->summary.latency.value;

	if (isnan(ns))
		return;
	s->latencies[s->n++] = ns;
	if (!isnan(c->summary.net.value))
		s->nets[s->n_nets++] = c->summary.net.value;
	if (!s->least || ns < s->least->summary.latency.value)
		s->least = c;
	if (!s->most || ns > s->most->summary.latency.value)
		s->most = c;
}

static void add_row(struct bb_text_table *t, const char *variant, struct span *s, size_t n_cases)
{
	bb_text_table__add(t, "%s", variant);
	bb_text_table__add(t, "%zu", n_cases);
	bb_text_table__add(t, "%s",
			   bb_table_cell_value(s->least ? s->least->summary.latency.value : NAN)
				   .text);
	bb_text_table__add(t, "%s", s->least ? s->least->param_text : BB_TEXT_ABSENT);
	bb_text_table__add(t, "%s",
			   bb_table_cell_value(s->n ? bb_median(s->latencies, s->n) : NAN).text);
	bb_text_table__add(t, "%s",
			   bb_table_cell_value(s->most ? s->most->summary.latency.value : NAN)
				   .text);
	bb_text_table__add(t, "%s", s->most ? s->most->param_text : BB_TEXT_ABSENT);
	bb_text_table__add(t, "%s",
			   bb_table_cell_value(s->n_nets ? bb_median(s->nets, s->n_nets) : NAN)
				   .text);
}

/* The row of the variant of case `first`, if it is the variant's first in the sweep. 0 or -ENOMEM.
 */
static int put_variant(const struct bb_report *r, size_t head, size_t first,
		       struct bb_text_table *t)
{
	const struct bb_case *c = &r->cases[first];
	struct span s = {0};
	size_t n_cases = 0;

	for (size_t i = head; i < first; i++)
		if (same_sweep(&r->cases[i], c) && !strcmp(r->cases[i].variant, c->variant))
			return 0;
	s.latencies = calloc(r->n_cases, sizeof(*s.latencies));
	s.nets = calloc(r->n_cases, sizeof(*s.nets));
	for (size_t i = first; s.latencies && s.nets && i < r->n_cases; i++) {
		if (!same_sweep(&r->cases[i], c) || strcmp(r->cases[i].variant, c->variant))
			continue;
		n_cases++;
		add_case(&s, &r->cases[i]);
	}
	if (n_cases)
		add_row(t, c->variant, &s, n_cases);
	free(s.latencies);
	free(s.nets);
	return n_cases ? 0 : -ENOMEM;
}

int bb_sweep__make(const struct bb_report *r, size_t head, struct bb_text_table *ret_table)
{
	static const struct bb_text_column columns[] = {
		{"variant", true}, {"values", false}, {"least", false}, {"at", false},
		{"median", false}, {"most", false},   {"at", false},    {"net median", false},
	};
	struct bb_text_table t;
	int rc = 0;

	bb_text_table__init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = head; !rc && i < r->n_cases; i++)
		if (same_sweep(&r->cases[i], &r->cases[head]))
			rc = put_variant(r, head, i, &t);
	if (rc)
		bb_text_table__done(&t);
	else
		*ret_table = t;
	return rc;
}

int bb_put_sweep(const struct bb_report *r, size_t head, FILE *out)
{
	const struct bb_case *c = &r->cases[head];
	struct bb_text_table t;
	int rc = bb_sweep__make(r, head, &t);

	if (rc)
		return rc;
	fputs("\n", out);
	bb_put_clean(out, c->scenario);
	fputs(", ", out);
	bb_put_clean(out, c->drive);
	fputs(", over ", out);
	bb_put_clean(out, c->param);
	fputs(" (latency, ns per run; `show --format bmf` and `make plot` have every value)\n",
	      out);
	rc = bb_text_table__print(&t, 2, out);
	bb_text_table__done(&t);
	return rc;
}
