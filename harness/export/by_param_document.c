/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "export/documents.h"

#define MOST_COLUMNS 8u /* values beside each other; more follow below */

/* The cases of one table. */
struct group {
	const struct bb_by_line *cases[MOST_COLUMNS];
	size_t n;
};

/* A line of one of them. */
struct placed {
	const struct bb_line_time *line;
	size_t column;
};

static bool is_same_program(const struct bb_timed *a, const struct bb_timed *b)
{
	return a->param && b->param && !strcmp(a->scenario, b->scenario) &&
	       !strcmp(a->variant, b->variant) && !strcmp(a->drive, b->drive) &&
	       !strcmp(a->param, b->param);
}

/* "32" of "perf_profiler/ringbuf/lines/stack_depth=32". */
static const char *value_of(const struct bb_timed *t)
{
	size_t name = strlen(t->name), param = t->param ? strlen(t->param) : 0;
	const char *at = t->name + name;

	while (at > t->name && !(at[-1] == '=' && (size_t)(at - t->name) > param &&
				 !strncmp(at - 1 - param, t->param, param)))
		at--;
	return at > t->name ? at : t->name;
}

static int by_place(const struct bb_timed_row *x, const struct bb_timed_row *y)
{
	int rc = bb_timed_row__compare_place(x, y);

	return rc || x->line ? rc : (x->insn > y->insn) - (x->insn < y->insn);
}

static int by_place_and_column(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;
	int rc = by_place(x->line->row, y->line->row);

	return rc ? rc : (x->column > y->column) - (x->column < y->column);
}

/* All lines of all cases, in order; NULL: out of memory. */
static struct placed *lines_of(const struct group *g, size_t *ret_n)
{
	struct placed *lines;
	size_t n = 0;

	for (size_t i = 0; i < g->n; i++)
		n += g->cases[i]->n_lines;
	lines = calloc(n + 1, sizeof(*lines));
	*ret_n = 0;
	for (size_t i = 0; lines && i < g->n; i++)
		for (size_t k = 0; k < g->cases[i]->n_lines; k++)
			lines[(*ret_n)++] = (struct placed){&g->cases[i]->lines[k], i};
	if (lines)
		qsort(lines, n, sizeof(*lines), by_place_and_column);
	return lines;
}

/* lines[0..] of one place; how many. */
static size_t add_line(struct bb_doc *d, const struct group *g, const struct placed *lines,
		       size_t n)
{
	const struct bb_timed_row *row = lines->line->row;
	char place[64], before[400];
	size_t used = 0;

	for (size_t i = 0; i < g->n; i++) {
		double ns = NAN;

		if (used < n && lines[used].column == i && !by_place(lines[used].line->row, row))
			ns = lines[used++].line->ns.value;
		bb_doc_line_ns(ns, d);
	}
	bb_by_line__place(row, place, sizeof(place));
	bb_by_line__before(row, before, sizeof(before));
	bb_doc__text_cell(d, place);
	bb_doc__cell(d, "%s%.100s", before, row->text);
	return used ? used : 1;
}

static void add_whole(struct bb_doc *d, const struct group *g, bool is_calling, const char *text)
{
	for (size_t i = 0; i < g->n; i++)
		bb_doc_line_ns(is_calling ? g->cases[i]->calling.value : g->cases[i]->program.value,
			       d);
	bb_doc__text_cell(d, "");
	bb_doc__text_cell(d, text);
}

static int add_group(const struct group *g, struct bb_doc *d)
{
	const struct bb_timed *first = g->cases[0]->timed;
	struct bb_doc_column columns[MOST_COLUMNS + 2] = {{0}};
	size_t n_lines, at = 0;
	struct placed *lines = lines_of(g, &n_lines);

	if (!lines)
		return -ENOMEM;
	for (size_t i = 0; i < g->n; i++)
		columns[i].head = value_of(g->cases[i]->timed);
	columns[g->n] = (struct bb_doc_column){.head = "line"};
	columns[g->n + 1] = (struct bb_doc_column){.head = "source", .cells = BB_CELLS_CODE};
	bb_doc__add(d, BB_DOC_TITLE, NULL, "%s/%s/%s, ns by %s", first->scenario, first->variant,
		    first->drive, first->param);
	bb_doc__table(d, columns, g->n + 2);
	add_whole(d, g, false, "(the program)");
	add_whole(d, g, true, "(calling and timing)");
	while (at < n_lines)
		at += add_line(d, g, &lines[at], n_lines - at);
	free(lines);
	return 0;
}

/* Has an earlier case that is of the same program begun a table with it? */
static bool is_placed(const struct bb_by_line *cases, size_t i)
{
	size_t before = 0;

	for (size_t k = 0; k < i; k++)
		before += is_same_program(cases[k].timed, cases[i].timed);
	return before % MOST_COLUMNS != 0;
}

int bb_doc_by_param(const struct bb_by_line *cases, size_t n, struct bb_doc *d)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < n; i++) {
		struct group g = {.n = 0};

		if (is_placed(cases, i))
			continue;
		for (size_t k = i; k < n && g.n < MOST_COLUMNS; k++)
			if (k == i || is_same_program(cases[i].timed, cases[k].timed))
				g.cases[g.n++] = &cases[k];
		if (g.n > 1)
			rc = add_group(&g, d);
	}
	return rc;
}
