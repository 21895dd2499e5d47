/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>

#include "export/documents.h"

static void add_extreme(struct bb_doc *d, const struct bb_counted_case *c, uint64_t value)
{
	bb_doc__cell(d, c ? "%" PRIu64 : "", value);
	bb_doc__text_cell(d, c && c->param ? c->param_text : NULL);
}

static void add_row(struct bb_doc *d, const struct bb_counted *c)
{
	struct bb_counted_range g = bb_counted__range(c);

	bb_doc__text_cell(d, c->name);
	bb_doc__cell(d, "%zu", c->n_cases);
	bb_doc__cell(d, "%" PRIu64, c->runs);
	add_extreme(d, g.least, g.least ? g.least->least : 0);
	add_extreme(d, g.most, g.most ? g.most->most : 0);
	bb_doc__cell(d, "%" PRIu64, c->paths);
	if (g.n_exact == c->n_cases)
		bb_doc__cell(d, "yes");
	else
		bb_doc__cell(d, "%zu of %zu", g.n_exact, c->n_cases);
}

static void add_notes(const struct bb_counted *c, struct bb_doc *d)
{
	for (size_t i = 0; i < c->n_cases; i++)
		if (c->cases[i].void_why)
			bb_doc__add(d, BB_DOC_BAD_ITEM, NULL, "%s is void: %s", c->cases[i].name,
				    c->cases[i].void_why);
	if (c->tail_calls)
		bb_doc__add(d, BB_DOC_BAD_ITEM, NULL,
			    "%s left by %" PRIu64 " tail calls: instructions of the programs "
			    "called are not counted",
			    c->name, c->tail_calls);
}

void bb_doc_counted(const struct bb_report *r, struct bb_doc *d)
{
	static const struct bb_doc_column columns[] = {
		{BB_TEXT("program")}, {BB_NUMBER("cases")}, {BB_NUMBER("runs")},
		{BB_NUMBER("least")}, {BB_NUMBER("at")},    {BB_NUMBER("most")},
		{BB_NUMBER("at")},    {BB_NUMBER("paths")}, {BB_TEXT("exact")},
	};

	if (!r->n_counted)
		return;
	bb_doc__add(d, BB_DOC_TITLE, NULL,
		    "instructions per run (exact: the same in every run of a case; helpers' own "
		    "are not counted)");
	bb_doc__table(d, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < r->n_counted; i++)
		add_row(d, &r->counted[i]);
	for (size_t i = 0; i < r->n_counted; i++)
		add_notes(&r->counted[i], d);
}
