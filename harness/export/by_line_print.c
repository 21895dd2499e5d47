/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/by_line_print.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "export/table_cells.h"

#define NAMED 3u          /* in the sentence */
#define NAMED_LEAST 0.005 /* of the run */

#define LEFT_OUT_LEAST 0.01 /* of the runs, below which nothing is said */

void bb_by_line__before(const struct bb_timed_row *row, char *buf, size_t size)
{
	struct bb_timed_call calls[BB_TIMED_MOST_CALLS];
	size_t at = 0, n = bb_timed_row__calls(row, calls);

	buf[0] = '\0';
	for (size_t i = n; i-- > 0 && at < size;)
		at += (size_t)snprintf(buf + at, size - at, "%s of line %u%s", calls[i].name,
				       calls[i].line, i ? ", " : ": ");
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

void bb_by_line__add_ns(struct bb_text_table *t, double ns)
{
	if (isnan(ns))
		bb_text_table__add_text(t, BB_TEXT_ABSENT);
	else if (ns < BB_BY_LINE_LEAST_NS)
		bb_text_table__add(t, "< %g", BB_BY_LINE_LEAST_NS);
	else
		bb_text_table__add(t, "%s", bb_table_cell_value(ns).text);
}

static void add_estimate(struct bb_text_table *t, const struct bb_estimate *e)
{
	bb_by_line__add_ns(t, e->value);
	if (isnan(e->lo) || e->value < BB_BY_LINE_LEAST_NS)
		bb_text_table__add_text(t, BB_TEXT_ABSENT);
	else
		bb_text_table__add(t, "[%s, %s]", bb_table_cell_value(e->lo).text,
				   bb_table_cell_value(e->hi).text);
}

/* With cold caches; no column where they were never cold. */
static void add_cold(struct bb_text_table *t, const struct bb_by_line *b, double ns)
{
	if (isfinite(b->cold.value))
		bb_by_line__add_ns(t, ns);
}

static void add_share(struct bb_text_table *t, const struct bb_by_line *b, double ns)
{
	double share = 100 * bb_by_line__share(b, ns);

	if (isnan(share) || ns < BB_BY_LINE_LEAST_NS)
		bb_text_table__add_text(t, BB_TEXT_ABSENT);
	else
		bb_text_table__add(t, "%.1f", share);
}

static void add_count(struct bb_text_table *t, double n)
{
	if (isnan(n))
		bb_text_table__add_text(t, BB_TEXT_ABSENT);
	else
		bb_text_table__add(t, "%s", bb_table_cell_number(n, BB_WHOLE).text);
}

static void add_row(struct bb_text_table *t, const struct bb_by_line *b,
		    const struct bb_estimate *ns, double cold_ns, double insns, const char *place,
		    const char *before, const char *text)
{
	add_estimate(t, ns);
	add_cold(t, b, cold_ns);
	add_share(t, b, ns->value);
	add_count(t, insns);
	bb_text_table__add_text(t, place);
	bb_text_table__add(t, "%s%.100s", before, text);
}

static void add_calls(struct bb_text_table *t, const struct bb_by_line *b,
		      const struct bb_line_time *line)
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
			add_row(t, b, &p->ns, p->cold.value, NAN, "", "  ", call);
		} else if (line->n_parts > 1 && p->ns.value >= BB_BY_LINE_LEAST_NS) {
			char own[280];

			snprintf(own, sizeof(own), "its own code%s", turns);
			add_row(t, b, &p->ns, p->cold.value, NAN, "", "  ", own);
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

int bb_by_line__table(const struct bb_by_line *b, bool longest_first,
		      struct bb_text_table *ret_table)
{
	static const struct bb_text_column hot[] = {
		{"ns", false},    {"95 % interval", false}, {"% of run", false},
		{"insns", false}, {"line", false},          {"source", true},
	};
	static const struct bb_text_column both[] = {
		{"ns", false},    {"95 % interval", false}, {"cold ns", false}, {"% of run", false},
		{"insns", false}, {"line", false},          {"source", true},
	};
	bool is_both = isfinite(b->cold.value);
	size_t n = is_both ? sizeof(both) / sizeof(both[0]) : sizeof(hot) / sizeof(hot[0]);
	const struct bb_line_time **order = calloc(b->n_lines + 1, sizeof(*order));
	struct bb_text_table *t = ret_table;
	const char *file = "";

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < b->n_lines; i++)
		order[i] = &b->lines[i];
	if (longest_first)
		qsort(order, b->n_lines, sizeof(*order), by_time);
	bb_text_table__init(t, is_both ? both : hot, n);
	add_row(t, b, &b->calling, NAN, NAN, "", "", "(calling and timing)");
	for (size_t i = 0; i < b->n_lines; i++) {
		const struct bb_timed_row *row = order[i]->row;
		char place[64], before[400];

		if (strcmp(file, row->file)) {
			file = row->file;
			for (size_t k = 0; k + 1 < n; k++)
				bb_text_table__add_text(t, "");
			bb_text_table__add(t, "%.200s:", file);
		}
		bb_by_line__place(row, place, sizeof(place));
		bb_by_line__before(row, before, sizeof(before));
		add_row(t, b, &order[i]->ns, order[i]->cold_ns, order[i]->insns, place, before,
			row->text);
		add_calls(t, b, order[i]);
	}
	if (b->rest.value != 0) {
		char rest[80] = "(after the last cut: a tail call)";

		if (bb_by_line__other_ways(b) > 0)
			snprintf(rest, sizeof(rest), "(%.0f %% of the runs took another way)",
				 100 * bb_by_line__other_ways(b));
		else if (bb_timed__is_cold(b->timed))
			snprintf(rest, sizeof(rest), "(not attributed to a line)");
		add_row(t, b, &b->rest, NAN, NAN, "", "", rest);
	}
	free(order);
	return 0;
}

static void put_notes(const struct bb_by_line *b, FILE *out)
{
	const struct bb_timed *t = b->timed;
	double other = bb_by_line__other_ways(b), left_out = bb_by_line__left_out(b);

	if (bb_by_line__differs(b))
		fprintf(out,
			"the parts sum to %s ns, the program takes %s ns: more than 2 %% apart\n",
			bb_table_cell_value(b->sum.value).text,
			bb_table_cell_value(b->program.value).text);
	if (other > 0)
		fprintf(out,
			"%.0f %% of the runs took another way than the rows show; how much longer "
			"all runs are than those is one row\n",
			100 * other);
	if (t->thinned_why) {
		fprintf(out, "cuts at %u of %u points, so some rows are several lines: ", t->cuts,
			t->points);
		bb_put_clean(out, t->thinned_why);
		putc('\n', out);
	}
	if (t->refused) {
		fprintf(out, "%u of %u cuts are not allowed, so some parts are not divided: ",
			t->refused, t->cuts);
		bb_put_clean(out, t->refused_why);
		putc('\n', out);
	}
	if (left_out >= LEFT_OUT_LEAST)
		fprintf(out,
			"%.0f %% of the runs are left out: the program took longer then than at "
			"its best, as the machine was disturbed\n",
			100 * left_out);
	if (t->measured && t->measured < t->passed)
		fprintf(out,
			"%" PRIu64 " of the %" PRIu64 " cuts that a run passes were measured; the "
			"time between two of them is shared out\n",
			t->measured, t->passed);
}

int bb_by_line__notes(const struct bb_by_line *b, char **ret_text)
{
	size_t len;
	FILE *out = open_memstream(ret_text, &len);

	if (!out)
		return -ENOMEM;
	put_notes(b, out);
	if (!fclose(out))
		return 0;
	free(*ret_text);
	return -ENOMEM;
}

int bb_by_line__print(const struct bb_by_line *b, bool longest_first, FILE *out)
{
	struct bb_text_table t;
	char sentence[1000], *notes = NULL;
	int rc;

	bb_put_clean(out, b->timed->name);
	fprintf(out, ": %s ns a run, over ", bb_table_cell_value(b->program.value).text);
	if (b->n_loads < b->n_all)
		fprintf(out, "%zu of ", b->n_loads);
	fprintf(out, "%zu load%s; its parts sum to %s ns\n", b->n_all, b->n_all == 1 ? "" : "s",
		bb_table_cell_value(b->sum.value).text);
	bb_by_line__sentence(b, sentence, sizeof(sentence));
	if (sentence[0])
		fprintf(out, "%s\n", sentence);
	bb_by_line__cold_sentence(b, sentence, sizeof(sentence));
	if (sentence[0])
		fprintf(out, "%s\n", sentence);
	putc('\n', out);
	rc = bb_by_line__table(b, longest_first, &t);
	if (rc)
		return rc;
	rc = bb_text_table__print(&t, 2, out);
	bb_text_table__done(&t);
	if (!rc)
		rc = bb_by_line__notes(b, &notes);
	for (const char *at = notes; at && *at; at += strcspn(at, "\n") + 1)
		fprintf(out, "  %.*s\n", (int)strcspn(at, "\n"), at);
	free(notes);
	return rc;
}
