/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/drive_kind.h"
#include "export/counted_table.h"
#include "export/cross_check_print.h"
#include "export/diff_print.h"
#include "export/exporter.h"
#include "export/executed_notes.h"
#include "export/hot_cold_table.h"
#include "export/in_vain_notes.h"
#include "export/sweep_table.h"
#include "export/table_cells.h"
#include "export/text_table.h"
#include "judge/diff.h"
#include "report/report.h"

static const struct bb_text_column program_columns[] = {{"variant (program)", true},
							{"type", true}};
#define N_PROGRAM_COLUMNS (sizeof(program_columns) / sizeof(program_columns[0]))

static void add_program(struct bb_text_table *t, const struct bb_program *p)
{
	if (strcmp(p->variant, p->program))
		bb_text_table__add(t, "%s (%s)", p->variant, p->program);
	else
		bb_text_table__add(t, "%s", p->variant);
	bb_text_table__add(t, "%s", p->type);
	for (size_t i = 0; i < bb_n_static_metrics; i++) {
		double value = bb_static_of(&p->metrics, &bb_static_metrics[i]);

		bb_text_table__add(t, "%s",
				   isnan(value) ? BB_TEXT_ABSENT
						: bb_table_cell_number(value, BB_WHOLE).text);
	}
}

/* A line a program, a column a static metric (core/metric.c); nothing when the run has none. 0 or
 * -ENOMEM. */
static int put_programs(const struct bb_report *r, FILE *out)
{
	struct bb_text_column *columns;
	struct bb_text_table t;
	int rc;

	if (!r->n_programs)
		return 0;
	columns = calloc(N_PROGRAM_COLUMNS + bb_n_static_metrics, sizeof(*columns));
	if (!columns)
		return -ENOMEM;
	memcpy(columns, program_columns, sizeof(program_columns));
	for (size_t i = 0; i < bb_n_static_metrics; i++)
		columns[N_PROGRAM_COLUMNS + i].head = bb_static_metrics[i].name;
	bb_text_table__init(&t, columns, N_PROGRAM_COLUMNS + bb_n_static_metrics);
	for (size_t i = 0; i < r->n_programs; i++)
		add_program(&t, &r->programs[i]);
	fputc('\n', out);
	bb_put_clean(out, r->programs[0].scenario);
	fputs(", programs as the kernel loaded them\n", out);
	rc = bb_text_table__print(&t, 2, out);
	bb_text_table__done(&t);
	free(columns);
	return rc;
}

/*
 * For people: what the comparisons came to, a table for each scenario, drive and parameter, the
 * programs, then notes on all that does not count or was not done, then what the columns mean.
 */
#define LINE_WIDTH 120
#define MAX_COLUMNS 32

static bool is_first(const struct bb_report *r, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (bb_same_table(&r->cases[k], &r->cases[i]))
			return false;
	return true;
}

/* --- tables --- */

struct layout {
	size_t width[MAX_COLUMNS]; /* 0: nobody has anything to say there, or it is below */
	bool below[MAX_COLUMNS];
};

static struct bb_table_cell cell_of(const struct bb_case *c, size_t column)
{
	struct bb_table_cell cell = {""};

	bb_columns[column].cell(c, &cell);
	return cell;
}

static size_t total_width(const struct layout *l)
{
	size_t total = 0;

	for (size_t k = 0; k < bb_n_columns; k++)
		if (l->width[k])
			total += l->width[k] + (bb_columns[k].close ? 1 : 2);
	return total;
}

/* Take columns out until the rest fits. */
static void spill(struct layout *l)
{
	for (int turn = 0; turn < BB_SPILL_ALWAYS; turn++) {
		int out = turn ? turn : BB_SPILL_ALWAYS;

		if (turn && total_width(l) <= LINE_WIDTH)
			return;
		for (size_t k = 0; k < bb_n_columns; k++) {
			if (bb_columns[k].spill != out || !l->width[k])
				continue;
			l->below[k] = true;
			l->width[k] = 0;
		}
	}
}

static struct layout lay_out(const struct bb_report *r, size_t first)
{
	struct layout l = {{0}, {false}};

	assert(bb_n_columns <= MAX_COLUMNS);
	for (size_t k = 0; k < bb_n_columns; k++) {
		size_t head = bb_text_width(bb_columns[k].head);

		for (size_t i = first; i < r->n_cases; i++) {
			size_t width;

			if (!bb_same_table(&r->cases[i], &r->cases[first]))
				continue;
			width = bb_text_width(cell_of(&r->cases[i], k).text);
			if (width && width < head)
				width = head;
			if (width > l.width[k])
				l.width[k] = width;
		}
	}
	spill(&l);
	return l;
}

static void pad(FILE *out, size_t n)
{
	while (n--)
		putc(' ', out);
}

/* One row; `pending` holds blanks back so that no line ends in any. */
static void put_cell(const char *text, size_t column, size_t width, size_t *pending, FILE *out)
{
	size_t space = width - bb_text_width(text);

	if (column)
		*pending += bb_columns[column].close ? 1 : 2;
	if (!bb_columns[column].left)
		*pending += space;
	if (*text) {
		pad(out, *pending);
		fputs(text, out);
		*pending = 0;
	} else {
		*pending += bb_columns[column].left ? 0 : width - space;
	}
	if (bb_columns[column].left)
		*pending += space;
}

static void put_head(const struct layout *l, FILE *out)
{
	size_t pending = 2;

	for (size_t k = 0; k < bb_n_columns; k++)
		if (l->width[k])
			put_cell(bb_columns[k].head, k, l->width[k], &pending, out);
	putc('\n', out);
}

static void put_row(const struct bb_case *c, const struct layout *l, FILE *out)
{
	size_t pending = 2;

	for (size_t k = 0; k < bb_n_columns; k++) {
		struct bb_table_cell cell = cell_of(c, k);

		if (!l->width[k])
			continue;
		if (!cell.text[0] && !bb_columns[k].close)
			strcpy(cell.text, "-");
		put_cell(cell.text, k, l->width[k], &pending, out);
	}
	putc('\n', out);
}

/* Items on lines of at most LINE_WIDTH, the next ones indented. */
struct items {
	FILE *out;
	size_t at;
};

static void put_item(struct items *items, const char *text)
{
	size_t width = bb_text_width(text);

	if (items->at && items->at + width + 2 > LINE_WIDTH) {
		fputs(",\n    ", items->out);
		items->at = 4;
	} else if (items->at) {
		fputs(", ", items->out);
		items->at += 2;
	}
	fputs(text, items->out);
	items->at += width;
}

static void put_below(const struct bb_report *r, size_t first, size_t column, FILE *out)
{
	struct items items = {out, 0};

	for (size_t i = first; i < r->n_cases; i++) {
		struct bb_table_cell cell = cell_of(&r->cases[i], column);
		char text[512];

		if (!cell.text[0] || !bb_same_table(&r->cases[i], &r->cases[first]))
			continue;
		snprintf(text, sizeof(text), "%s%s%s%s %s", items.at ? "" : "  ",
			 items.at ? "" : bb_columns[column].head, items.at ? "" : ": ",
			 cell_of(&r->cases[i], 0).text, cell.text);
		put_item(&items, text);
	}
	putc('\n', out);
}

static void put_title(const struct bb_case *c, FILE *out)
{
	putc('\n', out);
	bb_put_clean(out, c->scenario);
	fputs(", ", out);
	bb_put_clean(out, c->drive);
	if (c->param) {
		fputs(", ", out);
		bb_put_clean(out, c->param);
		fputs(" = ", out);
		bb_put_clean(out, c->param_text);
	}
	fprintf(out, " (%s)\n", bb_drive_kind_named(c->drive)->sample.unit);
	if (c->command) {
		fputs("  timed: ", out);
		bb_put_clean(out, c->command);
		putc('\n', out);
	}
}

/* What made each of them run. */
static void put_fired_by(const struct bb_report *r, size_t first, FILE *out)
{
	size_t n = 0;

	for (size_t i = first; i < r->n_cases; i++) {
		const struct bb_case *c = &r->cases[i];

		if (!c->fired_by || !bb_same_table(c, &r->cases[first]))
			continue;
		if (!n++)
			fputs("  fired by:\n", out);
		fputs("    ", out);
		bb_put_clean(out, c->variant);
		fputs(": ", out);
		bb_put_clean(out, c->fired_by);
		putc('\n', out);
	}
}

/* The speed of the machine meanwhile. */
static void put_references(const struct bb_case *c, FILE *out)
{
	const char *before = "  references: ";

	for (int i = 0; i < BB_N_REFERENCES; i++) {
		struct bb_estimate e = c->summary.reference[i];

		if (isnan(e.value))
			continue;
		fprintf(out, "%s%s %s ns", before, bb_reference_name((enum bb_reference)i),
			bb_table_cell_value(e.value).text);
		before = ", ";
	}
	if (*before == ',')
		putc('\n', out);
}

/* Which caches, and how far, in all loads that count. */
static void put_emptied(const struct bb_case *c, FILE *out)
{
	double least = INFINITY, most = -INFINITY;

	if (!c->emptied)
		return;
	fputs("  emptied: ", out);
	bb_put_clean(out, c->emptied);
	for (size_t i = 0; i < c->n_series; i++) {
		if (c->series[i].void_why || isnan(c->series[i].line_ns))
			continue;
		least = fmin(least, c->series[i].line_ns);
		most = fmax(most, c->series[i].line_ns);
	}
	if (isfinite(least))
		fprintf(out, "; in these loads %.1f to %.1f", least, most);
	putc('\n', out);
}

static void put_vain_line(const char *text, bool is_remedy, FILE *out)
{
	fputs(is_remedy ? "    " : "  in vain: ", out);
	bb_put_clean(out, text);
	putc('\n', out);
}

static int put_table(const struct bb_report *r, size_t first, bool *used, FILE *out)
{
	struct layout l = lay_out(r, first);

	put_title(&r->cases[first], out);
	put_head(&l, out);
	for (size_t i = first; i < r->n_cases; i++)
		if (bb_same_table(&r->cases[i], &r->cases[first]))
			put_row(&r->cases[i], &l, out);
	if (bb_put_in_vain(r, &r->cases[first], put_vain_line, out))
		return -ENOMEM;
	for (size_t k = 0; k < bb_n_columns; k++) {
		if (l.below[k])
			put_below(r, first, k, out);
		used[k] |= l.width[k] || l.below[k];
	}
	put_references(&r->cases[first], out);
	put_emptied(&r->cases[first], out);
	put_fired_by(r, first, out);
	return 0;
}

/* --- notes --- */

/* Nothing is dropped silently. The heading comes with the first note. */
struct notes {
	FILE *out;
	size_t n;
};

static FILE *note(struct notes *notes)
{
	fputs(notes->n++ ? "  " : "\nNotes\n  ", notes->out);
	return notes->out;
}

/* The series of a case that share the reason of series i, unless an earlier one had it. */
static void note_reason(struct notes *notes, const struct bb_case *c, size_t i)
{
	const char *why = bb_series_why_void(&c->series[i]);
	size_t n = 0;
	FILE *out;

	for (size_t k = 0; k < c->n_series; k++) {
		if (!bb_same_text(bb_series_why_void(&c->series[k]), why))
			continue;
		if (k < i)
			return;
		n++;
	}
	out = note(notes);
	fputs("void: ", out);
	bb_put_clean(out, c->name);
	fprintf(out, ": %zu of %zu series (load", n, c->n_series);
	for (size_t k = i, shown = 0; k < c->n_series; k++) {
		if (!bb_same_text(bb_series_why_void(&c->series[k]), why))
			continue;
		if (shown++ == 8) {
			fputs(", ...", out);
			break;
		}
		fprintf(out, "%s%" PRIu32, shown > 1 ? ", " : " ", c->series[k].load);
	}
	fputs("): ", out);
	bb_put_clean(out, why);
	putc('\n', out);
}

static void note_rate(struct notes *notes, const struct bb_case *c)
{
	struct bb_table_cell text = bb_table_cell_below_rate(c);

	if (!text.text[0])
		return;
	fputs("below the rate: ", note(notes));
	bb_put_clean(notes->out, c->name);
	fprintf(notes->out, ": %s\n", text.text);
}

static void note_misses(struct notes *notes, const struct bb_case *c)
{
	uint64_t misses = 0;

	for (size_t i = 0; i < c->n_series; i++)
		misses += c->series[i].misses;
	if (!misses)
		return;
	fputs("misses: ", note(notes));
	bb_put_clean(notes->out, c->name);
	fprintf(notes->out, ": %" PRIu64 " runs that the kernel refused (recursion)\n", misses);
}

static void note_negative(struct notes *notes, const struct bb_report *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_cases; i++)
		n += r->cases[i].summary.net.value < 0;
	if (n)
		fputs(BB_NEGATIVE_MARK " net is below zero: the floor cost more than the program. "
				       "It is shown as measured, not cut to 0.\n",
		      note(notes));
}

/* A drive would have counted, had there been something to count with. */
static void note_no_pmu(struct notes *notes, const struct bb_report *r)
{
	for (size_t i = 0; i < r->n_cases; i++) {
		const struct bb_summary *s = &r->cases[i].summary;

		if (!(bb_drive_kind_named(r->cases[i].drive)->fills & BB_FILLS_PMU) ||
		    isnan(s->latency.value) || isfinite(s->slope.cycles.value))
			continue;
		fputs("no cycles, instructions or cache misses a run: this machine shows no PMU "
		      "(bpfbench check)\n",
		      note(notes));
		return;
	}
}

static void note_live(struct notes *notes, const struct bb_report *r)
{
	for (size_t i = 0; i < r->n_cases; i++) {
		if (!r->cases[i].is_live)
			continue;
		fputs("live: programs of others are not loaded anew: their intervals are over "
		      "slices of time, not over loads\n",
		      note(notes));
		return;
	}
}

static void note_retries(struct notes *notes, const struct bb_case *c)
{
	uint64_t retries = 0;
	FILE *out;

	for (size_t i = 0; i < c->n_series; i++)
		retries += c->series[i].retries;
	if (!retries)
		return;
	out = note(notes);
	bb_put_clean(out, c->name);
	fprintf(out, ": %" PRIu64 " calls were broken off by signals and made again\n", retries);
}

static void note_little_executed(struct notes *notes, const struct bb_report *r)
{
	for (size_t i = 0; i < r->n_cases; i++)
		if (bb_is_little_executed(&r->cases[i])) {
			bb_put_little_executed(r, bb_put_clean, note(notes));
			putc('\n', notes->out);
			return;
		}
}

static void put_notes(const struct bb_report *r, FILE *out)
{
	struct notes notes = {out, 0};

	if (r->incomplete) {
		fputs("incomplete: ", note(&notes));
		bb_put_clean(out, r->incomplete);
		fputs("; the tables show the samples taken until then\n", out);
	}
	for (size_t i = 0; i < r->n_skips; i++) {
		fputs("skipped: ", note(&notes));
		bb_put_clean(out, r->skips[i].what);
		fputs(": ", out);
		bb_put_clean(out, r->skips[i].why);
		putc('\n', out);
	}
	for (size_t i = 0; i < r->n_cases; i++) {
		const struct bb_case *c = &r->cases[i];

		for (size_t k = 0; k < c->n_series; k++)
			if (bb_series_why_void(&c->series[k]))
				note_reason(&notes, c, k);
		note_rate(&notes, c);
		note_misses(&notes, c);
		note_retries(&notes, c);
	}
	note_little_executed(&notes, r);
	note_negative(&notes, r);
	note_no_pmu(&notes, r);
	note_live(&notes, r);
}

/* --- the rest --- */

static void put_run(const struct bb_report *r, FILE *out)
{
	fputs("run ", out);
	bb_put_clean(out, r->id ? r->id : "(no id)");
	if (r->started) {
		fputs(", started ", out);
		bb_put_clean(out, r->started);
	}
	fputs("\non kernel ", out);
	bb_put_clean(out, r->fingerprint.kernel_release);
	fputs(", ", out);
	bb_put_clean(out, r->fingerprint.cpu_model);
	fprintf(out, "\nseed 0x%" PRIx64, r->seed);
	if (isfinite(r->elapsed_s))
		fprintf(out, ", took %.1f s", r->elapsed_s);
	if (isfinite(r->steal))
		fprintf(out, ", steal %.0f %%", 100 * r->steal);
	putc('\n', out);
	if (r->incomplete) {
		fputs("INCOMPLETE: ", out);
		bb_put_clean(out, r->incomplete);
		putc('\n', out);
	}
}

/* Comparisons `first` to `end` of one base and head. 0 or -ENOMEM. */
static int put_comparisons_of(const struct bb_report *r, size_t first, size_t end, FILE *out)
{
	const struct bb_comparison *c = &r->comparisons[first];
	struct bb_diffs d = {0};
	int rc = bb_diff_comparisons(r, first, end - first, &d, NULL);

	if (rc)
		return rc;
	fprintf(out, "\nCompared in turns, at a threshold of %g %% and a significance of %g\n",
		100 * c->threshold, c->alpha);
	rc = bb_diff_print(&d, c->base, c->head, out);
	bb_diffs__done(&d);
	return rc;
}

static int put_comparisons(const struct bb_report *r, FILE *out)
{
	size_t end;
	int rc = 0;

	for (size_t first = 0; !rc && first < r->n_comparisons; first = end) {
		const struct bb_comparison *c = &r->comparisons[first];

		end = first + 1;
		while (end < r->n_comparisons && bb_same_text(c->base, r->comparisons[end].base) &&
		       bb_same_text(c->head, r->comparisons[end].head))
			end++;
		rc = put_comparisons_of(r, first, end, out);
	}
	return rc;
}

static void put_doc(const char *head, const char *doc, FILE *out)
{
	fprintf(out, "  %s", head);
	pad(out, 15 - bb_text_width(head));
	fprintf(out, "%s\n", doc);
}

static void put_legend(const struct bb_report *r, const bool *used, FILE *out)
{
	fputs("\nColumns\n", out);
	for (size_t k = 0; k < bb_n_columns; k++)
		if (used[k] && bb_columns[k].doc)
			put_doc(bb_columns[k].head, bb_columns[k].doc, out);
	for (size_t i = 0; r->n_programs && i < bb_n_static_metrics; i++)
		put_doc(bb_static_metrics[i].name, bb_static_metrics[i].doc, out);
}

/* Everything but the comparisons, which `compare` prints sorted and filtered itself. */
static int compose_cases(const struct bb_report *r, FILE *mem, struct bb_err *err)
{
	bool used[MAX_COLUMNS] = {false};

	for (size_t i = 0; i < r->n_cases; i++) {
		if (bb_is_sweep(r, i)) {
			if (bb_is_sweep_head(r, i) &&
			    (bb_put_sweep(r, i, mem) ||
			     bb_put_in_vain(r, &r->cases[i], put_vain_line, mem)))
				return bb_fail_nomem(err);
		} else if (is_first(r, i) && put_table(r, i, used, mem)) {
			return bb_fail_nomem(err);
		}
	}
	if (bb_put_hot_cold(r, mem) || bb_put_cross_checks(r, mem) || bb_put_counted(r, mem))
		return bb_fail_nomem(err);
	if (!r->n_cases && !r->n_counted)
		fputs("\nNothing was measured.\n", mem);
	if (put_programs(r, mem))
		return bb_fail_nomem(err);
	put_notes(r, mem);
	if (r->n_cases)
		put_legend(r, used, mem);
	return 0;
}

static int compose(const struct bb_report *r, FILE *mem, struct bb_err *err)
{
	put_run(r, mem);
	if (put_comparisons(r, mem))
		return bb_fail_nomem(err);
	return compose_cases(r, mem, err);
}

int bb_export_table_of_cases(const struct bb_report *r, FILE *out, struct bb_err *err)
{
	return bb_export_whole(r, out, compose_cases, err);
}

int bb_export_table(const struct bb_report *r, FILE *out, struct bb_err *err)
{
	return bb_export_whole(r, out, compose, err);
}
