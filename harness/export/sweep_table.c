/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "export/documents.h"
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

static void add_end(struct bb_doc *d, const struct bb_case *c)
{
	double ns = c ? c->summary.latency.value : (double)NAN;

	bb_doc__number_cell(d, ns, ns);
	bb_doc__text_cell(d, c ? c->param_text : NULL);
}

static void add_median(struct bb_doc *d, double *values, size_t n)
{
	double ns = n ? bb_median(values, n) : (double)NAN;

	bb_doc__number_cell(d, ns, ns);
}

static void add_row(struct bb_doc *d, const char *variant, struct span *s, size_t n_cases)
{
	bb_doc__text_cell(d, variant);
	bb_doc__cell(d, "%zu", n_cases);
	add_end(d, s->least);
	add_median(d, s->latencies, s->n);
	add_end(d, s->most);
	add_median(d, s->nets, s->n_nets);
}

/* The row of the variant of case `first`, if it is the variant's first in the sweep. */
static void add_variant(const struct bb_report *r, size_t head, size_t first, struct bb_doc *d)
{
	const struct bb_case *c = &r->cases[first];
	struct span s = {0};
	size_t n_cases = 0;

	for (size_t i = head; i < first; i++)
		if (same_sweep(&r->cases[i], c) && !strcmp(r->cases[i].variant, c->variant))
			return;
	s.latencies = calloc(r->n_cases, sizeof(*s.latencies));
	s.nets = calloc(r->n_cases, sizeof(*s.nets));
	for (size_t i = first; s.latencies && s.nets && i < r->n_cases; i++) {
		if (!same_sweep(&r->cases[i], c) || strcmp(r->cases[i].variant, c->variant))
			continue;
		n_cases++;
		add_case(&s, &r->cases[i]);
	}
	d->failed |= !n_cases;
	add_row(d, c->variant, &s, n_cases);
	free(s.latencies);
	free(s.nets);
}

void bb_doc_sweep(const struct bb_report *r, size_t head, struct bb_doc *d)
{
	static const struct bb_doc_column columns[] = {
		{BB_TEXT("variant")}, {BB_NUMBER("values")},     {BB_NUMBER("least")},
		{BB_NUMBER("at")},    {BB_NUMBER("median")},     {BB_NUMBER("most")},
		{BB_NUMBER("at")},    {BB_NUMBER("net median")},
	};

	bb_doc_group_title(&r->cases[head], false,
			   "(latency, ns per run; `show --format bmf` and `make plot` have every "
			   "value)",
			   d);
	bb_doc__table(d, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = head; i < r->n_cases; i++)
		if (same_sweep(&r->cases[i], &r->cases[head]))
			add_variant(r, head, i, d);
}
