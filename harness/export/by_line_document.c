/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "export/documents.h"

#define NAMED 3u          /* in the sentence */
#define NAMED_LEAST 0.005 /* of the run */

#define LEFT_OUT_LEAST 0.01 /* of the runs, below which nothing is said */

void bb_by_line__before(const struct bb_timed_row *row, char *buf, size_t size)
{
	size_t at = 0;

	buf[0] = '\0';
	for (size_t i = row->n_from; i-- > 0 && at < size;)
		at += (size_t)snprintf(buf + at, size - at, "%s of line %u%s", row->from[i].call,
				       row->from[i].line, i ? ", " : ": ");
	if (row->is_loop && at < size)
		snprintf(buf + at, size - at, "(loop) ");
}

static void put_place(const struct bb_timed_row *row, char *buf, size_t size)
{
	if (!row->line)
		snprintf(buf, size, "instruction %u", row->insn);
	else if (row->line == row->last_line)
		snprintf(buf, size, "line %u", row->line);
	else
		snprintf(buf, size, "lines %u-%u", row->line, row->last_line);
}

void bb_by_line__sentence(const struct bb_by_line *b, char *buf, size_t size)
{
	size_t at = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < b->n_parts && i < NAMED; i++) {
		const struct bb_timed_row *row = b->top[i]->row;
		double share = bb_by_line__share(b, b->top[i]->ns.value);
		char place[64];

		if (!(share >= NAMED_LEAST) || b->top[i]->ns.value < BB_BY_LINE_LEAST_NS ||
		    at >= size)
			break;
		put_place(row, place, sizeof(place));
		at += (size_t)snprintf(buf + at, size - at, "%s%.*f %% %s%s%s%s", i ? ", " : "",
				       share < 0.02, 100 * share, i ? "" : "is ",
				       row->call[0] ? row->call : "", row->call[0] ? " of " : "",
				       place);
	}
	bb_make_clean(buf);
}

static int by_missed(const void *a, const void *b)
{
	double x = bb_line_part__missed_ns(*(const struct bb_line_part *const *)a),
	       y = bb_line_part__missed_ns(*(const struct bb_line_part *const *)b);

	return x > y ? -1 : x < y;
}

void bb_by_line__cold_sentence(const struct bb_by_line *b, char *buf, size_t size)
{
	const struct bb_line_part **order = calloc(b->n_parts + 1, sizeof(*order));
	size_t at = 0;

	buf[0] = '\0';
	if (order && isfinite(b->cold.value)) {
		memcpy(order, b->top, b->n_parts * sizeof(*order));
		qsort(order, b->n_parts, sizeof(*order), by_missed);
		at += (size_t)snprintf(buf, size, "with cold caches %s ns",
				       bb_table_cell_value(b->cold.value).text);
	}
	for (size_t i = 0; at && i < b->n_parts && i < NAMED && at < size; i++) {
		const struct bb_timed_row *row = order[i]->row;
		double missed = bb_line_part__missed_ns(order[i]);
		char place[64];

		if (missed <= 0)
			break;
		put_place(row, place, sizeof(place));
		at += (size_t)snprintf(buf + at, size - at, "%s%s%s%s +%s", i ? ", " : ": ",
				       row->call, row->call[0] ? " of " : "", place,
				       bb_table_cell_value(missed).text);
	}
	free(order);
	bb_make_clean(buf);
}

void bb_doc_line_ns(double ns, struct bb_doc *d)
{
	if (isnan(ns))
		bb_doc__text_cell(d, NULL);
	else if (ns < BB_BY_LINE_LEAST_NS)
		bb_doc__cell(d, "< %g", BB_BY_LINE_LEAST_NS);
	else
		bb_doc__number_cell(d, ns, ns);
}

static void add_estimate(struct bb_doc *d, const struct bb_estimate *e)
{
	bb_doc_line_ns(e->value, d);
	if (isnan(e->lo) || e->value < BB_BY_LINE_LEAST_NS)
		bb_doc__text_cell(d, NULL);
	else
		bb_doc__cell(d, "[%s, %s]", bb_table_cell_value(e->lo).text,
			     bb_table_cell_value(e->hi).text);
}

/* With cold caches; no column where they were never cold. */
static void add_cold(struct bb_doc *d, const struct bb_by_line *b, double ns)
{
	if (isfinite(b->cold.value))
		bb_doc_line_ns(ns, d);
}

static void add_share(struct bb_doc *d, const struct bb_by_line *b, double ns)
{
	double share = 100 * bb_by_line__share(b, ns);

	if (isnan(share) || ns < BB_BY_LINE_LEAST_NS)
		bb_doc__text_cell(d, NULL);
	else
		bb_doc__cell(d, "%.1f", share);
}

static void add_count(struct bb_doc *d, double n)
{
	if (isnan(n))
		bb_doc__text_cell(d, NULL);
	else
		bb_doc__number_cell(d, n, BB_WHOLE);
}

static void add_row(struct bb_doc *d, const struct bb_by_line *b, const struct bb_estimate *ns,
		    double cold_ns, double insns, const char *place, const char *before,
		    const char *text)
{
	add_estimate(d, ns);
	add_cold(d, b, cold_ns);
	add_share(d, b, ns->value);
	add_count(d, insns);
	bb_doc__text_cell(d, place);
	bb_doc__cell(d, "%s%.100s", before, text);
}

static void add_calls(struct bb_doc *d, const struct bb_by_line *b, const struct bb_line_time *line)
{
	for (size_t i = 0; i < line->n_parts; i++) {
		const struct bb_line_part *p = &line->parts[i];
		char turns[240] = "";

		if (p->row->turns > 1 && isfinite(p->first.value))
			snprintf(turns, sizeof(turns), ", %" PRIu64 " times, the first %s ns",
				 p->row->turns, bb_table_cell_value(p->first.value).text);
		else if (p->row->turns > 1)
			snprintf(turns, sizeof(turns), ", %" PRIu64 " times", p->row->turns);
		if (p->row->call[0]) {
			char call[440];

			snprintf(call, sizeof(call), "%.160s%s%s", p->row->call, turns,
				 p->row->enters ? ", without its lines" : "");
			add_row(d, b, &p->ns, p->cold.value, NAN, "", "  ", call);
		} else if (line->n_parts > 1 && p->ns.value >= BB_BY_LINE_LEAST_NS) {
			char own[280];

			snprintf(own, sizeof(own), "its own code%s", turns);
			add_row(d, b, &p->ns, p->cold.value, NAN, "", "  ", own);
		}
	}
}

void bb_by_line__place(const struct bb_timed_row *row, char *buf, size_t size)
{
	if (!row->line)
		snprintf(buf, size, "@%u", row->insn);
	else if (row->line == row->last_line)
		snprintf(buf, size, "%u", row->line);
	else
		snprintf(buf, size, "%u-%u", row->line, row->last_line);
}

static int by_time(const void *a, const void *b)
{
	const struct bb_line_time *x = *(const struct bb_line_time *const *)a,
				  *y = *(const struct bb_line_time *const *)b;

	if (x->ns.value != y->ns.value)
		return x->ns.value > y->ns.value ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void add_file(struct bb_doc *d, const struct bb_by_line *b, const char *file)
{
	size_t before = isfinite(b->cold.value) ? 6 : 5;

	for (size_t k = 0; k < before; k++)
		bb_doc__text_cell(d, "");
	bb_doc__cell(d, "%.200s:", file);
}

static void add_rest(struct bb_doc *d, const struct bb_by_line *b)
{
	char rest[80] = "(after the last cut: a tail call)";

	if (bb_by_line__other_ways(b) > 0)
		snprintf(rest, sizeof(rest), "(%.0f %% of the runs took another path)",
			 100 * bb_by_line__other_ways(b));
	else if (bb_timed__is_cold(b->timed))
		snprintf(rest, sizeof(rest), "(not attributed to a line)");
	if (b->rest.value != 0)
		add_row(d, b, &b->rest, NAN, NAN, "", "", rest);
}

/* All lines but the columns' heads. */
static void add_rows(struct bb_doc *d, const struct bb_by_line *b,
		     const struct bb_line_time *const *order)
{
	const char *file = "";

	add_row(d, b, &b->calling, NAN, NAN, "", "", "(calling and timing)");
	for (size_t i = 0; i < b->n_lines; i++) {
		const struct bb_timed_row *row = order[i]->row;
		char place[64], before[400];

		if (strcmp(file, row->file)) {
			file = row->file;
			add_file(d, b, file);
		}
		bb_by_line__place(row, place, sizeof(place));
		bb_by_line__before(row, before, sizeof(before));
		add_row(d, b, &order[i]->ns, order[i]->cold_ns, order[i]->insns, place, before,
			row->text);
		add_calls(d, b, order[i]);
	}
	add_rest(d, b);
}

static void add_notes(const struct bb_by_line *b, struct bb_doc *d)
{
	const struct bb_timed *t = b->timed;
	double other = bb_by_line__other_ways(b), left_out = bb_by_line__left_out(b);

	if (bb_by_line__differs(b))
		bb_doc__add(d, BB_DOC_ITEM, NULL,
			    "the parts sum to %s ns, the program takes %s ns: more than 2 %% apart",
			    bb_table_cell_value(b->sum.value).text,
			    bb_table_cell_value(b->program.value).text);
	if (other > 0)
		bb_doc__add(d, BB_DOC_ITEM, NULL,
			    "%.0f %% of the runs took another path than the rows show; how much "
			    "longer all runs are than those is one row",
			    100 * other);
	if (t->thinned_why)
		bb_doc__add(d, BB_DOC_ITEM, NULL,
			    "cuts at %u of %u points, so some rows are several lines: %s", t->cuts,
			    t->points, t->thinned_why);
	if (t->refused)
		bb_doc__add(d, BB_DOC_ITEM, NULL,
			    "%u of %u cuts are not allowed, so some parts are not divided: %s",
			    t->refused, t->cuts, t->refused_why);
	if (left_out >= LEFT_OUT_LEAST)
		bb_doc__add(d, BB_DOC_ITEM, NULL,
			    "%.0f %% of the runs are left out: the program took longer then than "
			    "at its best, as the machine was disturbed",
			    100 * left_out);
	if (t->measured && t->measured < t->passed)
		bb_doc__add(d, BB_DOC_ITEM, NULL,
			    "%" PRIu64 " of the %" PRIu64 " cuts that a run passes were measured; "
			    "the time between two of them is shared out",
			    t->measured, t->passed);
}

void bb_doc_by_line_table(const struct bb_by_line *b, bool longest_first, struct bb_doc *d)
{
	static const struct bb_doc_column columns[] = {
		{BB_NUMBER("ns")},       {BB_NUMBER("95 % interval")}, {BB_NUMBER("cold ns")},
		{BB_NUMBER("% of run")}, {BB_NUMBER("insns")},         {BB_NUMBER("line")},
		{BB_CODE("source")},
	};
	enum { N = sizeof(columns) / sizeof(columns[0]), COLD = 2 };
	const struct bb_line_time **order = calloc(b->n_lines + 1, sizeof(*order));
	struct bb_doc_column shown[N];
	size_t n = 0;

	d->failed |= !order;
	if (d->failed)
		return;
	for (size_t i = 0; i < b->n_lines; i++)
		order[i] = &b->lines[i];
	if (longest_first)
		qsort(order, b->n_lines, sizeof(*order), by_time);
	for (size_t k = 0; k < N; k++)
		if (k != COLD || isfinite(b->cold.value))
			shown[n++] = columns[k];
	bb_doc__table(d, shown, n);
	add_rows(d, b, order);
	add_notes(b, d);
	free(order);
}

void bb_doc_by_line(const struct bb_by_line *b, bool longest_first, struct bb_doc *d)
{
	char sentence[1000];

	bb_doc__add(d, BB_DOC_PARAGRAPH, NULL, "%s: %s ns a run, over ", b->timed->name,
		    bb_table_cell_value(b->program.value).text);
	if (b->n_loads < b->n_all)
		bb_doc__append(d, "%zu of ", b->n_loads);
	bb_doc__append(d, "%zu load%s; its parts sum to %s ns", b->n_all, b->n_all == 1 ? "" : "s",
		       bb_table_cell_value(b->sum.value).text);
	bb_by_line__sentence(b, sentence, sizeof(sentence));
	if (sentence[0])
		bb_doc__add(d, BB_DOC_PARAGRAPH, NULL, "%s", sentence);
	bb_by_line__cold_sentence(b, sentence, sizeof(sentence));
	if (sentence[0])
		bb_doc__add(d, BB_DOC_PARAGRAPH, NULL, "%s", sentence);
	bb_doc_by_line_table(b, longest_first, d);
}
