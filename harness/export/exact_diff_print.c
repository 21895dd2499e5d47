/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/exact_diff_print.h"

#include <inttypes.h>

#include "export/table_cells.h"
#include "export/text_table.h"

static void add_count(struct bb_text_table *t, const struct bb_counted_case *c)
{
	if (c->void_why || !c->runs)
		bb_text_table__add(t, "void");
	else if (c->least == c->most)
		bb_text_table__add(t, "%" PRIu64, c->least);
	else
		bb_text_table__add(t, "%" PRIu64 "..%" PRIu64, c->least, c->most);
}

static int put_rows(const struct bb_exact_diff *d, FILE *out)
{
	static const struct bb_text_column columns[] = {
		{"Case", true}, {"A", false}, {"B", false}, {"Diff", false}, {"Verdict", true},
	};
	struct bb_text_table t;
	size_t shown = 0;
	int rc;

	bb_text_table__init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < d->n_rows && shown < BB_EXACT_ROWS; i++) {
		const struct bb_exact_row *r = &d->rows[i];

		if (r->verdict == BB_VERDICT_SAME)
			continue;
		shown++;
		bb_text_table__add(&t, "%s", r->name);
		add_count(&t, r->a);
		add_count(&t, r->b);
		if (bb_counted_case__is_exact(r->a) && bb_counted_case__is_exact(r->b))
			bb_text_table__add(&t, "%+" PRId64, (int64_t)(r->b->least - r->a->least));
		else
			bb_text_table__add(&t, BB_TEXT_ABSENT);
		bb_text_table__add(&t, "%s", bb_verdict_name(r->verdict));
	}
	rc = shown ? bb_text_table__print(&t, 0, out) : 0;
	bb_text_table__done(&t);
	if (d->n_rows - bb_exact_diff__count(d, BB_VERDICT_SAME) > shown)
		fprintf(out, "... and %zu more that differ\n",
			d->n_rows - bb_exact_diff__count(d, BB_VERDICT_SAME) - shown);
	return rc;
}

static void put_lines(const struct bb_exact_program *p, FILE *out)
{
	if (!p->n_lines)
		return;
	bb_put_clean(out, p->b->name);
	fputs(", instructions per run by source line:\n", out);
	for (size_t i = 0; i < p->n_lines && i < BB_EXACT_LINES; i++) {
		const struct bb_counted_line *l = p->lines[i].line;
		const char *text = l->text;

		while (*text == ' ' || *text == '\t')
			text++;
		fprintf(out, "  %+10.2f  ", p->lines[i].more);
		bb_put_clean(out, bb_counted_line__file(l));
		fprintf(out, ":%u  ", l->line);
		bb_put_code(out, l->line ? text : "(the compiler's own)");
		putc('\n', out);
	}
	if (p->n_lines > BB_EXACT_LINES)
		fprintf(out, "  ... and %zu lines more\n", p->n_lines - BB_EXACT_LINES);
}

int bb_exact_diff__print(const struct bb_exact_diff *d, FILE *out)
{
	int rc = put_rows(d, out);

	for (size_t i = 0; i < d->n_programs; i++)
		put_lines(&d->programs[i], out);
	fprintf(out, "%zu cases: %zu same, %zu regressed, %zu improved, %zu inconclusive",
		d->n_rows, bb_exact_diff__count(d, BB_VERDICT_SAME),
		bb_exact_diff__count(d, BB_VERDICT_REGRESSED),
		bb_exact_diff__count(d, BB_VERDICT_IMPROVED),
		bb_exact_diff__count(d, BB_VERDICT_INCONCLUSIVE));
	if (d->n_only_a || d->n_only_b)
		fprintf(out, "; not compared: %zu only in A, %zu only in B", d->n_only_a,
			d->n_only_b);
	putc('\n', out);
	return rc;
}
