/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/counted_table.h"

#include <inttypes.h>

#include "export/table_cells.h"
#include "export/text_table.h"

static void add_extreme(struct bb_text_table *t, const struct bb_counted_case *c, uint64_t value)
{
	bb_text_table__add(t, c ? "%" PRIu64 : BB_TEXT_ABSENT, value);
	bb_text_table__add(t, "%s", c && c->param ? c->param_text : BB_TEXT_ABSENT);
}

static void add_row(struct bb_text_table *t, const struct bb_counted *c)
{
	struct bb_counted_range g = bb_counted__range(c);

	bb_text_table__add(t, "%s", c->name);
	bb_text_table__add(t, "%zu", c->n_cases);
	bb_text_table__add(t, "%" PRIu64, c->runs);
	add_extreme(t, g.least, g.least ? g.least->least : 0);
	add_extreme(t, g.most, g.most ? g.most->most : 0);
	bb_text_table__add(t, "%" PRIu64, c->paths);
	if (g.n_exact == c->n_cases)
		bb_text_table__add(t, "yes");
	else
		bb_text_table__add(t, "%zu of %zu", g.n_exact, c->n_cases);
}

static void put_notes(const struct bb_counted *c, FILE *out)
{
	for (size_t i = 0; i < c->n_cases; i++) {
		if (!c->cases[i].void_why)
			continue;
		fputs("  ", out);
		bb_put_clean(out, c->cases[i].name);
		fputs(" is void: ", out);
		bb_put_clean(out, c->cases[i].void_why);
		putc('\n', out);
	}
	if (!c->tail_calls)
		return;
	fputs("  ", out);
	bb_put_clean(out, c->name);
	fprintf(out,
		" left by %" PRIu64 " tail calls: instructions of the programs called are not "
		"counted\n",
		c->tail_calls);
}

void bb_counted_table__make(const struct bb_report *r, struct bb_text_table *ret_table)
{
	static const struct bb_text_column columns[] = {
		{"program", true}, {"cases", false}, {"runs", false},
		{"least", false},  {"at", false},    {"most", false},
		{"at", false},     {"paths", false}, {"exact", true},
	};

	bb_text_table__init(ret_table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < r->n_counted; i++)
		add_row(ret_table, &r->counted[i]);
}

int bb_put_counted(const struct bb_report *r, FILE *out)
{
	struct bb_text_table t;
	int rc;

	if (!r->n_counted)
		return 0;
	bb_counted_table__make(r, &t);
	fputs("\ninstructions per run (exact: the same in every run of a case; helpers' own are "
	      "not counted)\n",
	      out);
	rc = bb_text_table__print(&t, 2, out);
	bb_text_table__done(&t);
	for (size_t i = 0; !rc && i < r->n_counted; i++)
		put_notes(&r->counted[i], out);
	return rc;
}
