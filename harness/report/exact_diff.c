/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/exact_diff.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/grow.h"
#include "report/table_cells.h"
#include "report/text_table.h"

#define LEAST_CHANGE 1e-9 /* of a mean over runs: below is rounding */

static enum bb_verdict judge(const struct bb_counted_case *a, const struct bb_counted_case *b)
{
	bool exact = bb_counted_case__is_exact(a) && bb_counted_case__is_exact(b);

	if (a->void_why || b->void_why || !a->runs || !b->runs)
		return BB_VERDICT_INCONCLUSIVE;
	if (b->least > a->most)
		return BB_VERDICT_REGRESSED;
	if (b->most < a->least)
		return BB_VERDICT_IMPROVED;
	return exact ? BB_VERDICT_SAME : BB_VERDICT_INCONCLUSIVE;
}

/* What tells a case from the others of its program: "input=syn", or nothing. */
static const char *rest_of(const struct bb_counted *c, const struct bb_counted_case *k)
{
	size_t len = strlen(c->name);

	return strlen(k->name) > len ? k->name + len : "";
}

static const struct bb_counted_case *find_case(const struct bb_counted *c, const char *rest)
{
	for (size_t i = 0; i < c->n_cases; i++)
		if (!strcmp(rest_of(c, &c->cases[i]), rest))
			return &c->cases[i];
	return NULL;
}

static const struct bb_counted *find_program(const struct bb_report *r,
					     const struct bb_counted *like, const char *variant)
{
	for (size_t i = 0; i < r->n_counted; i++) {
		const struct bb_counted *c = &r->counted[i];

		if (variant ? !strcmp(c->variant, variant) && !strcmp(c->scenario, like->scenario)
			    : !strcmp(c->name, like->name))
			return c;
	}
	return NULL;
}

static bool same_line(const struct bb_counted_line *a, const struct bb_counted_line *b)
{
	return !strcmp(bb_counted_line__file(a), bb_counted_line__file(b)) &&
	       !strcmp(a->text, b->text) && (a->text[0] || a->line == b->line);
}

/* Instructions per run of all lines like this one. */
static double per_run(const struct bb_counted *c, const struct bb_counted_line *like)
{
	double sum = 0;

	for (size_t i = 0; i < c->n_lines; i++)
		if (same_line(&c->lines[i], like))
			sum += (double)c->lines[i].instructions;
	return c->runs ? sum / (double)c->runs : 0;
}

static bool is_first(const struct bb_counted *c, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (same_line(&c->lines[k], &c->lines[i]))
			return false;
	return true;
}

static bool has_line(const struct bb_counted *c, const struct bb_counted_line *like)
{
	for (size_t i = 0; i < c->n_lines; i++)
		if (same_line(&c->lines[i], like))
			return true;
	return false;
}

static int by_change(const void *a, const void *b)
{
	const struct bb_exact_line *x = a, *y = b;
	double dx = fabs(x->more), dy = fabs(y->more);

	return dx > dy ? -1 : dx < dy;
}

static int find_lines(struct bb_exact_program *p)
{
	p->lines = calloc(p->a->n_lines + p->b->n_lines + 1, sizeof(*p->lines));
	if (!p->lines)
		return -ENOMEM;
	for (size_t i = 0; i < p->b->n_lines; i++) {
		const struct bb_counted_line *l = &p->b->lines[i];
		double more = per_run(p->b, l) - per_run(p->a, l);

		if (is_first(p->b, i) && fabs(more) > LEAST_CHANGE)
			p->lines[p->n_lines++] = (struct bb_exact_line){l, more};
	}
	for (size_t i = 0; i < p->a->n_lines; i++) {
		const struct bb_counted_line *l = &p->a->lines[i];

		if (is_first(p->a, i) && !has_line(p->b, l) && l->instructions)
			p->lines[p->n_lines++] = (struct bb_exact_line){l, -per_run(p->a, l)};
	}
	qsort(p->lines, p->n_lines, sizeof(*p->lines), by_change);
	return 0;
}

static int add_row(struct bb_exact_diff *d, const struct bb_counted_case *a,
		   const struct bb_counted_case *b)
{
	struct bb_exact_row *rows = bb_grow(d->rows, d->n_rows, sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	d->rows = rows;
	rows[d->n_rows++] = (struct bb_exact_row){b->name, a, b, judge(a, b)};
	return 0;
}

static int add_program(struct bb_exact_diff *d, const struct bb_counted *a,
		       const struct bb_counted *b)
{
	struct bb_exact_program *programs = bb_grow(d->programs, d->n_programs, sizeof(*programs));
	size_t matched = 0;
	int rc = 0;

	if (!programs)
		return -ENOMEM;
	d->programs = programs;
	programs[d->n_programs++] = (struct bb_exact_program){.a = a, .b = b};
	for (size_t i = 0; !rc && i < b->n_cases; i++) {
		const struct bb_counted_case *old = find_case(a, rest_of(b, &b->cases[i]));

		matched += old != NULL;
		if (old)
			rc = add_row(d, old, &b->cases[i]);
		else
			d->n_only_b++;
	}
	d->n_only_a += a->n_cases - matched;
	return rc ? rc : find_lines(&programs[d->n_programs - 1]);
}

int bb_exact_diff__make(const struct bb_report *a, const struct bb_report *b, const char *base,
			const char *head, struct bb_exact_diff *ret_diff, struct bb_err *err)
{
	struct bb_exact_diff d = {0};
	int rc = 0;

	for (size_t i = 0; !rc && i < b->n_counted; i++) {
		const struct bb_counted *old;

		if (head && strcmp(b->counted[i].variant, head))
			continue;
		old = find_program(a, &b->counted[i], base);
		if (old)
			rc = add_program(&d, old, &b->counted[i]);
		else
			d.n_only_b += b->counted[i].n_cases;
	}
	for (size_t i = 0; !rc && !base && i < a->n_counted; i++)
		if (!find_program(b, &a->counted[i], NULL))
			d.n_only_a += a->counted[i].n_cases;
	if (rc)
		rc = bb_fail_nomem(err);
	else if (!d.n_rows)
		rc = bb_fail(err, -ENODATA,
			     "nothing to compare: no case of a drive {with: exact} is in both");
	if (rc)
		bb_exact_diff__done(&d);
	else
		*ret_diff = d;
	return rc;
}

void bb_exact_diff__done(struct bb_exact_diff *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->n_programs; i++)
		free(d->programs[i].lines);
	free(d->programs);
	free(d->rows);
	*d = (struct bb_exact_diff){0};
}

size_t bb_exact_diff__count(const struct bb_exact_diff *d, enum bb_verdict verdict)
{
	size_t n = 0;

	for (size_t i = 0; i < d->n_rows; i++)
		n += d->rows[i].verdict == verdict;
	return n;
}

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
