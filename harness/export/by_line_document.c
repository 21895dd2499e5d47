/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "export/documents.h"

#include "base/text.h"

#define NAMED 3u /* a sentence names at most this many parts */
/* a sentence leaves out parts with a smaller share of the program's own time */
#define NAMED_LEAST 0.005

/* A table shows at most this many values of the parameter. Further values get another table. */
#define MOST_COLUMNS 8u

/* a note about runs that were left out is added only if they are at least this share of all */
#define LEFT_OUT_LEAST 0.01

static const char *unit_of(const struct bb_by_line *b)
{
	return b->timed->counts_instructions ? "machine instructions" : "ns";
}

/* Returns "line 83", "lines 83-90" or, if the line is not known, "instruction 12". */
static struct bb_table_cell position_in_words(const struct bb_timed_row *row)
{
	if (!row->line)
		return bb_table_cell_of("instruction %u", row->insn);
	return row->line == row->last_line
		       ? bb_table_cell_of("line %u", row->line)
		       : bb_table_cell_of("lines %u-%u", row->line, row->last_line);
}

/* Adds the cells of the columns "line" ("83", "83-90" or, for an instruction, "@12") and "source".
 * Before the source text stand the calls that led to its function ("inner() of line 45: "), whether
 * it is a loop, and `call`. */
static void add_position(const struct bb_timed_row *row, const char *call, struct bb_doc *d)
{
	char before[400] = "";

	if (!row->line)
		bb_doc__cell(d, "@%u", row->insn);
	else if (row->line == row->last_line)
		bb_doc__cell(d, "%u", row->line);
	else
		bb_doc__cell(d, "%u-%u", row->line, row->last_line);
	for (size_t i = row->n_from; i-- > 0;)
		bb_list_words(before, sizeof(before), "", "%s of line %u%s", row->from[i].call,
			      row->from[i].line, i ? ", " : ": ");
	if (row->is_loop)
		bb_list_words(before, sizeof(before), "", "(loop) ");
	bb_doc__cell(d, "%s%s%.100s", before, call, row->text);
}

/* Returns how many ns longer a part takes with cold caches than with hot ones. Returns 0 if that is
 * less than BB_BY_LINE_LEAST_NS, or if the intervals of the two times overlap. */
static double missed_ns(const struct bb_line_part *p)
{
	double more = p->cold.value - p->ns.value;

	return more >= BB_BY_LINE_LEAST_NS && p->cold.lo > p->ns.hi ? more : 0;
}

static int by_missed(const void *a, const void *b)
{
	const struct bb_line_part *const *x = a, *const *y = b;

	return BB_ORDER(missed_ns(*y), missed_ns(*x));
}

void bb_by_line__cold_sentence(const struct bb_by_line *b, char *buf, size_t size)
{
	const struct bb_line_part **order = bb_calloc(b->n_parts + 1, sizeof(*order));

	buf[0] = '\0';
	if (isfinite(b->cold.value)) {
		memcpy(order, b->top, b->n_parts * sizeof(*order));
		qsort(order, b->n_parts, sizeof(*order), by_missed);
		snprintf(buf, size, "with cold caches %s ns",
			 bb_table_cell_value(b->cold.value).text);
	}
	for (size_t i = 0; buf[0] && i < b->n_parts && i < NAMED; i++) {
		const struct bb_timed_row *row = order[i]->row;
		double missed = missed_ns(order[i]);

		if (missed <= 0)
			break;
		bb_list_words(buf, size, i ? ", " : ": ", "%s%s%s +%s", row->call,
			      row->call[0] ? " of " : "", position_in_words(row).text,
			      bb_table_cell_value(missed).text);
	}
	free(order);
	bb_make_clean(buf);
}

static struct bb_table_cell line_ns(double ns, double least)
{
	return ns < least ? bb_table_cell_of("< %g", least) : bb_table_cell_number(ns, ns);
}

void bb_doc_line_ns(double ns, double least, struct bb_doc *d)
{
	bb_doc__table_cell(d, line_ns(ns, least));
}

/* Adds the cells before the column "line". The figures of a part of a line (`is_part`) are
 * indented, because the figures of the whole line include them. */
static void add_times(struct bb_doc *d, const struct bb_by_line *b, const struct bb_estimate *ns,
		      double cold_ns, double insns, bool is_part)
{
	double share = 100 * ns->value / b->own.value;
	bool is_small = ns->value < b->least,
	     is_own = ns != &b->calling && b->own.value >= b->least;
	/* below 0 if runs on other paths are shorter than runs on the path shown */
	struct bb_table_cell time = ns == &b->rest && ns->value < -b->least
					    ? bb_table_cell_value(ns->value)
					    : line_ns(ns->value, b->least);

	bb_doc__cell_if(d, time.text[0], "%s%s", time.text, is_part ? "  " : "");
	bb_doc__cell_if(d, !isnan(ns->lo) && !is_small, "[%s, %s]",
			bb_table_cell_value(ns->lo).text, bb_table_cell_value(ns->hi).text);
	bb_doc_line_ns(isfinite(b->cold.value) ? cold_ns : (double)NAN, b->least, d);
	bb_doc__cell_if(d, !isnan(share) && !is_small && is_own, is_part ? "%.1f  " : "%.1f",
			share);
	bb_doc__number_cell(d, insns, BB_WHOLE);
}

/* Adds a row without a line number, with `text` in the column "source". If `text` begins with a
 * blank, the row is a part of the line above it. */
static void add_other(struct bb_doc *d, const struct bb_by_line *b, const struct bb_estimate *ns,
		      double cold_ns, const char *text)
{
	add_times(d, b, ns, cold_ns, NAN, text[0] == ' ');
	bb_doc__text_cell(d, "");
	bb_doc__text_cell(d, text);
}

/* Describes a part of a line in words: "bpf_get_stack, 2 times, the first 4.00 ns". */
static void name_call(const struct bb_by_line *b, const struct bb_line_part *p, char *buf,
		      size_t size)
{
	struct bb_table_cell turns = {""};

	if (p->row->turns > 1)
		turns = bb_table_cell_of(", %" PRIu64 " times", p->row->turns);
	if (p->row->turns > 1 && isfinite(p->first.value))
		turns = bb_table_cell_of("%s, the first %s%s", turns.text,
					 bb_table_cell_value(p->first.value).text,
					 b->timed->counts_instructions ? "" : " ns");
	snprintf(buf, size, "%.100s%s%s", p->row->call[0] ? p->row->call : "its own code",
		 turns.text, p->row->enters ? ", without its lines" : "");
}

/* Returns the call that takes all of the line's time, or NULL if no call does. */
static const struct bb_line_part *only_call(const struct bb_by_line *b,
					    const struct bb_line_time *line)
{
	const struct bb_line_part *only = NULL;

	for (size_t i = 0; i < line->n_parts; i++) {
		const struct bb_line_part *p = &line->parts[i];

		if (p->row->call[0] && !only)
			only = p;
		else if (p->row->call[0] || p->ns.value >= b->least)
			return NULL;
	}
	return only;
}

/* A line, or a part of a line, that a sentence may name. */
struct named {
	double ns;
	const struct bb_timed_row *row;
};

static int by_ns(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	return BB_ORDER(y->ns, x->ns);
}

void bb_by_line__sentence(const struct bb_by_line *b, char *buf, size_t size)
{
	struct named *all = bb_calloc(b->n_parts + 1, sizeof(*all));
	bool is_known = b->own.value >= b->least;
	size_t n = 0;

	/* Take the times that the table shows: of the whole line if one call takes all of it, else
	 * of each part of the line. */
	for (size_t i = 0; i < b->n_lines; i++) {
		const struct bb_line_time *line = &b->lines[i];
		const struct bb_line_part *only = only_call(b, line);

		if (only)
			all[n++] = (struct named){line->ns.value, only->row};
		for (size_t k = 0; !only && k < line->n_parts; k++)
			all[n++] = (struct named){line->parts[k].ns.value, line->parts[k].row};
	}
	qsort(all, n, sizeof(*all), by_ns);
	buf[0] = '\0';
	if (is_known)
		snprintf(buf, size, "of the program's own %s %s",
			 bb_table_cell_value(b->own.value).text, unit_of(b));
	else if (n)
		snprintf(buf, size, "the program's own time is below %g %s", b->least, unit_of(b));
	for (size_t i = 0; is_known && i < n && i < NAMED; i++) {
		const struct bb_timed_row *row = all[i].row;
		double share = all[i].ns / b->own.value;

		if (i && (share < NAMED_LEAST || all[i].ns < b->least))
			break;
		bb_list_words(buf, size, i ? ", " : ": ", "%.*f %% %s", share < 0.02, 100 * share,
			      position_in_words(row).text);
		if (row->call[0])
			bb_list_words(buf, size, " ", "(%s)", row->call);
	}
	free(all);
	bb_make_clean(buf);
}

/* Adds the row of a line, and rows for its calls and its own code. One call that takes all of the
 * line's time gets no row. */
static void add_line(struct bb_doc *d, const struct bb_by_line *b, const struct bb_line_time *line)
{
	const struct bb_line_part *only = only_call(b, line);
	char text[400] = "";

	if (only) {
		name_call(b, only, text, sizeof(text) - 2);
		/* the call is not named if the source of the line names it already */
		if (strstr(line->row->text, text))
			text[0] = '\0';
		else
			strcat(text, ": ");
	}
	add_times(d, b, &line->ns, line->cold_ns, line->insns, false);
	add_position(line->row, text, d);
	for (size_t i = 0; !only && i < line->n_parts; i++) {
		const struct bb_line_part *p = &line->parts[i];

		if (!p->row->call[0] && (line->n_parts == 1 || !(p->ns.value >= b->least)))
			continue;
		name_call(b, p, text, sizeof(text));
		add_other(d, b, &p->ns, p->cold.value, bb_table_cell_of("  %s", text).text);
	}
}

/* Adds one row for the `n` lines whose times cannot be told from 0. */
static void add_folded(struct bb_doc *d, const struct bb_by_line *b, size_t n)
{
	struct bb_estimate sum = {0, NAN, NAN};
	double cold = 0, insns = 0;

	for (size_t i = 0; i < b->n_lines; i++) {
		const struct bb_line_time *line = &b->lines[i];

		if (line->ns.value >= b->least)
			continue;
		sum.value += line->ns.value;
		cold += line->cold_ns;
		insns += line->insns;
	}
	add_times(d, b, &sum, cold, insns, false);
	bb_doc__text_cell(d, "");
	bb_doc__cell(d, "(%zu lines below %g %s each)", n, b->least,
		     b->timed->counts_instructions ? "machine instruction" : "ns");
}

static int by_time(const void *a, const void *b)
{
	const struct bb_line_time *const *x = a, *const *y = b;

	return BB_ORDER((*y)->ns.value, (*x)->ns.value) ?: BB_ORDER(*x, *y);
}

static void add_notes(const struct bb_by_line *b, struct bb_doc *d)
{
	const struct bb_timed *t = b->timed;
	double other = bb_by_line__other_ways(b), left_out = b->left_out;
	struct bb_table_cell latency = bb_table_cell_value(b->latency);

	if (bb_by_line__differs(b))
		bb_doc__add(d, BB_DOC_ITEM, NULL,
			    "the parts sum to %s, the program takes %s %s: more than 2 %% apart",
			    bb_table_cell_value(b->sum.value).text,
			    bb_table_cell_value(b->program.value).text, unit_of(b));
	else if (b->sum.value < b->program.lo || b->sum.value > b->program.hi)
		bb_doc__add(d, BB_DOC_ITEM, NULL,
			    "the rows add up to %s %s: each is measured on its own, and %g %s or "
			    "2 %% are usual",
			    bb_table_cell_value(b->sum.value).text, unit_of(b), BB_BY_LINE_LEAST_NS,
			    unit_of(b));
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
			    "%.0f %% of the runs were disturbed by something else on the machine "
			    "and are left out",
			    100 * left_out);
	if (left_out >= LEFT_OUT_LEAST && isfinite(b->latency) &&
	    strcmp(latency.text, bb_table_cell_value(b->program.value).text) != 0)
		bb_doc__append(d, " (`show` leaves out fewer: %s %s per run)", latency.text,
			       unit_of(b));
	if (t->measured && t->measured < t->passed)
		bb_doc__add(d, BB_DOC_ITEM, NULL,
			    "%" PRIu64 " of the %" PRIu64 " cuts that a run passes were measured; "
			    "the time between two of them is shared out",
			    t->measured, t->passed);
}

void bb_doc_by_line_table(const struct bb_by_line *b, bool longest_first, bool all,
			  struct bb_doc *d)
{
	const struct bb_line_time **order = bb_calloc(b->n_lines + 1, sizeof(*order));
	double other = bb_by_line__other_ways(b);
	const char *file = "";
	size_t n_short = 0;
	bool one_file = !BB_ANY(b->lines, b->n_lines, strcmp(it->row->file, b->lines[0].row->file));

	for (size_t i = 0; i < b->n_lines; i++) {
		order[i] = &b->lines[i];
		n_short += order[i]->ns.value < b->least;
	}
	all |= n_short < 2;
	if (longest_first)
		qsort(order, b->n_lines, sizeof(*order), by_time);
	if (one_file && b->n_lines && b->lines[0].row->file[0]) {
		file = b->lines[0].row->file;
		bb_doc__add(d, BB_DOC_PARAGRAPH, "source", "%s", file);
	}
	bb_doc__columns(d, {BB_NUMBER(b->timed->counts_instructions ? "machine" : "ns")},
			{BB_NUMBER("95 % interval")}, {BB_NUMBER("cold ns")},
			{BB_NUMBER("% of own")}, {BB_NUMBER("insns")}, {BB_NUMBER("line")},
			{BB_CODE("source")});
	for (size_t i = 0; i < b->n_lines; i++) {
		const struct bb_timed_row *row = order[i]->row;

		if (!all && order[i]->ns.value < b->least)
			continue;
		if (strcmp(file, row->file)) {
			file = row->file;
			for (size_t k = 1; k < d->blocks[d->n - 1].n_columns; k++)
				bb_doc__text_cell(d, "");
			bb_doc__cell(d, "%s:", bb_path_cell(file).text);
		}
		add_line(d, b, order[i]);
	}
	free(order);
	if (!all)
		add_folded(d, b, n_short);
	add_other(d, b, &b->calling, NAN, "(the call and its timing)");
	if (b->rest.value != 0)
		add_other(d, b, &b->rest, NAN,
			  other > 0 ? bb_table_cell_of("(%.0f %% of the runs took another path)",
						       100 * other)
					      .text
			  : bb_timed__is_cold(b->timed) ? "(not attributed to a line)"
							: "(after the last cut: a tail call)");
	add_notes(b, d);
}

void bb_doc_by_line(const struct bb_by_line *b, bool whole, bool longest_first, bool all,
		    struct bb_doc *d)
{
	const struct bb_estimate *run = &b->program;
	char sentence[1000];

	if (whole) {
		bb_doc__add(d, BB_DOC_PARAGRAPH, NULL, "%s: %s %s per run", b->timed->name,
			    bb_table_cell_value(run->value).text, unit_of(b));
		if (isfinite(run->lo))
			bb_doc__append(d, " [%s, %s]", bb_table_cell_value(run->lo).text,
				       bb_table_cell_value(run->hi).text);
		bb_doc__append(d, " with the call and its timing, over ");
		if (b->n_loads < b->n_all)
			bb_doc__append(d, "%zu of ", b->n_loads);
		bb_doc__append(d, "%zu program load%s", b->n_all, bb_plural(b->n_all));
	}
	bb_by_line__sentence(b, sentence, sizeof(sentence));
	if (sentence[0])
		bb_doc__add(d, BB_DOC_PARAGRAPH, NULL, "%s", sentence);
	bb_by_line__cold_sentence(b, sentence, sizeof(sentence));
	if (sentence[0])
		bb_doc__add(d, BB_DOC_PARAGRAPH, NULL, "%s", sentence);
	bb_doc_by_line_table(b, longest_first, all, d);
}

static bool is_same_program(const struct bb_timed *a, const struct bb_timed *b)
{
	return a->param && b->param && !strcmp(a->scenario, b->scenario) &&
	       !strcmp(a->variant, b->variant) && !strcmp(a->drive, b->drive) &&
	       !strcmp(a->param, b->param);
}

/* Returns the parameter's value, "32" for the case "perf_profiler/ringbuf/lines/stack_depth=32". */
static const char *value_of(const struct bb_timed *t)
{
	size_t name = strlen(t->name), param = t->param ? strlen(t->param) : 0;
	const char *at = t->name + name;

	while (at > t->name && !(at[-1] == '=' && (size_t)(at - t->name) > param &&
				 !strncmp(at - 1 - param, t->param, param)))
		at--;
	return at > t->name ? at : t->name;
}

/* Adds a table of one program, with a column for each of cases[n]. Merges the lines of the cases,
 * each of which has them in the order of the source. */
static void add_group(const struct bb_by_line *const *cases, size_t n, struct bb_doc *d)
{
	const struct bb_timed *first = cases[0]->timed;
	const struct bb_timed_row *next;
	size_t at[MOST_COLUMNS] = {0};

	bb_doc__add(d, BB_DOC_TITLE, NULL, "%s/%s/%s, %s by %s", first->scenario, first->variant,
		    first->drive, unit_of(cases[0]), first->param);
	bb_doc__table(d, NULL, 0);
	for (size_t i = 0; i < n; i++)
		bb_doc__column(d, (struct bb_doc_column){BB_NUMBER(value_of(cases[i]->timed))});
	bb_doc__column(d, (struct bb_doc_column){BB_NUMBER("line")});
	bb_doc__column(d, (struct bb_doc_column){BB_CODE("source")});
	for (int calling = 0; calling < 2; calling++) {
		for (size_t i = 0; i < n; i++)
			bb_doc_line_ns(calling ? cases[i]->calling.value : cases[i]->program.value,
				       cases[i]->least, d);
		bb_doc__text_cell(d, "");
		bb_doc__text_cell(d, calling ? "(the call and its timing)" : "(the program)");
	}
	do {
		next = NULL;
		for (size_t i = 0; i < n; i++)
			if (at[i] < cases[i]->n_lines &&
			    (!next ||
			     bb_timed_row__compare_place(cases[i]->lines[at[i]].row, next) < 0))
				next = cases[i]->lines[at[i]].row;
		for (size_t i = 0; next && i < n; i++) {
			const struct bb_line_time *line = &cases[i]->lines[at[i]];
			bool is_there = at[i] < cases[i]->n_lines &&
					!bb_timed_row__compare_place(line->row, next);

			at[i] += is_there;
			bb_doc_line_ns(is_there ? line->ns.value : (double)NAN, cases[i]->least, d);
		}
		if (next)
			add_position(next, "", d);
	} while (next);
}

void bb_doc_by_param(const struct bb_by_line *cases, size_t n, struct bb_doc *d)
{
	for (size_t i = 0; i < n; i++) {
		const struct bb_by_line *group[MOST_COLUMNS];
		size_t before = BB_SUM(cases, i, is_same_program(it->timed, cases[i].timed));
		size_t n_group = 0;

		/* the table of an earlier case of this program already shows this case */
		if (before % MOST_COLUMNS)
			continue;
		for (size_t k = i; k < n && n_group < MOST_COLUMNS; k++)
			if (k == i || is_same_program(cases[i].timed, cases[k].timed))
				group[n_group++] = &cases[k];
		if (n_group > 1)
			add_group(group, n_group, d);
	}
}
