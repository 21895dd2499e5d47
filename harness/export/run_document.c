/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "core/drive_kind.h"
#include "export/documents.h"
#include "export/exporter.h"

#define LITTLE_SHARE 0.25
#define NAMED_LOADS 8 /* in a note about void series */

/* --- one table --- */

bool bb_is_first_of_table(const struct bb_report *r, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (bb_same_table(&r->cases[k], &r->cases[i]))
			return false;
	return !bb_is_sweep(r, i);
}

/* "(ns per run)" */
static struct bb_table_cell unit_of(const struct bb_case *c)
{
	struct bb_table_cell unit;

	snprintf(unit.text, sizeof(unit.text), "(%s)", bb_drive_kind_named(c->drive)->sample.unit);
	return unit;
}

void bb_doc_group_title(const struct bb_case *c, bool with_value, const char *after,
			struct bb_doc *d)
{
	bb_doc__add(d, BB_DOC_TITLE, NULL, "%s, %s", c->scenario, c->drive);
	if (c->param && with_value)
		bb_doc__append(d, ", %s = %s", c->param, c->param_text);
	else if (c->param)
		bb_doc__append(d, ", over %s", c->param);
	bb_doc__append(d, "%s%s", *after ? " " : "", after);
}

/* ", by a test run on a packet of 64 bytes, hot caches", where that is so for all programs. */
static void append_fired_by(const struct bb_report *r, size_t first, struct bb_doc *d)
{
	const struct bb_drive_kind *kind = bb_drive_kind_named(r->cases[first].drive);
	const char *fired_by = NULL;

	for (size_t i = first; i < r->n_cases; i++) {
		const struct bb_case *c = &r->cases[i];

		if (!bb_same_table(c, &r->cases[first]) || bb_is_floor(r, c))
			continue;
		if (!c->fired_by || (fired_by && strcmp(fired_by, c->fired_by)))
			return;
		fired_by = c->fired_by;
	}
	if (!fired_by)
		return;
	bb_doc__append(d, ", by %s", fired_by);
	if (kind->cold_name)
		bb_doc__append(d, ", %s caches", r->cases[first].emptied ? "emptied" : "hot");
}

/* Did an earlier table say the same of the variant, under another drive? */
static bool is_said_above(const struct bb_report *r, size_t nth,
			  const struct bb_case_column *column)
{
	const struct bb_case *c = &r->cases[nth];

	for (size_t i = 0; i < nth; i++)
		if (!strcmp(r->cases[i].scenario, c->scenario) &&
		    !strcmp(r->cases[i].variant, c->variant) && !bb_same_table(&r->cases[i], c) &&
		    !strcmp(bb_case_cell(&r->cases[i], column).text, bb_case_cell(c, column).text))
			return true;
	return false;
}

static void add_rows(const struct bb_report *r, size_t first, enum bb_detail detail,
		     struct bb_doc *d)
{
	struct bb_doc_column *columns = calloc(bb_n_case_columns, sizeof(*columns));
	size_t n = 0;

	for (size_t k = 0; columns && k < bb_n_case_columns; k++)
		if (bb_case_columns[k].in & detail)
			columns[n++] = bb_case_columns[k].as;
	d->failed |= !columns;
	bb_doc__table(d, columns, n);
	for (size_t i = first; i < r->n_cases; i++) {
		if (!bb_same_table(&r->cases[i], &r->cases[first]))
			continue;
		d->faint = bb_is_floor(r, &r->cases[i]);
		for (size_t k = 0; k < bb_n_case_columns; k++) {
			const struct bb_case_column *column = &bb_case_columns[k];
			struct bb_table_cell cell = bb_case_cell(&r->cases[i], column);
			bool is_left_out = !cell.text[0] || (detail == BB_SHORT &&
							     column->as.spill == BB_DOC_BELOW &&
							     is_said_above(r, i, column));

			if (column->in & detail)
				bb_doc__text_cell(d, is_left_out ? NULL : cell.text);
		}
	}
	d->faint = false;
	free(columns);
}

/* The only program of a table beside its floor; NULL: there are several, or it has no figure. */
static const struct bb_case *only_program(const struct bb_report *r, size_t first)
{
	const struct bb_case *only = NULL;

	for (size_t i = first; i < r->n_cases; i++) {
		if (!bb_same_table(&r->cases[i], &r->cases[first]) || bb_is_floor(r, &r->cases[i]))
			continue;
		if (only)
			return NULL;
		only = &r->cases[i];
	}
	return only && isfinite(only->summary.net.value) ? only : NULL;
}

/* "net 15.8 ns (67.8 +- 0.9 less 52.0 for the call and its timing)", then the other columns. */
static void add_sentence(const struct bb_case *c, struct bb_doc *d)
{
	static const char *const said[] = {"variant", "net", "latency", "+-", "floor"};
	double scale = c->summary.latency.value, lo = c->summary.latency.lo;
	struct bb_table_cell cell;
	size_t n = 0;

	bb_doc__add(d, BB_DOC_ITEM, NULL, "%s   net %s ns   (%s", c->variant,
		    bb_table_cell_number(c->summary.net.value, scale).text,
		    bb_table_cell_value(scale).text);
	if (isfinite(lo))
		bb_doc__append(d, " +- %s",
			       bb_table_cell_number(fmax(c->summary.latency.hi - scale, scale - lo),
						    scale)
				       .text);
	bb_doc__append(d, " less %s for the call and its timing)",
		       bb_table_cell_number(c->summary.floor.value, scale).text);
	for (size_t k = 0; k < bb_n_case_columns; k++) {
		const struct bb_case_column *column = &bb_case_columns[k];
		bool is_said = !(column->in & BB_SHORT);

		for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++)
			is_said |= !strcmp(said[i], column->as.head);
		cell = is_said ? (struct bb_table_cell){""} : bb_case_cell(c, column);
		if (!cell.text[0])
			continue;
		if (n++)
			bb_doc__append(d, "   %s %s", column->as.head, cell.text);
		else
			bb_doc__add(d, BB_DOC_SUBITEM, NULL, "%s %s", column->as.head, cell.text);
	}
}

/* The speed of the machine meanwhile. */
static void add_references(const struct bb_case *c, struct bb_doc *d)
{
	size_t n = 0;

	for (int i = 0; i < BB_N_REFERENCES; i++) {
		struct bb_estimate e = c->summary.reference[i];

		if (isnan(e.value))
			continue;
		if (!n++)
			bb_doc__add(d, BB_DOC_ITEM, "references", "%s", "");
		bb_doc__append(d, "%s%s %s ns", n > 1 ? ", " : "",
			       bb_reference_name((enum bb_reference)i),
			       bb_table_cell_value(e.value).text);
	}
}

/* Which caches, and how far, in all loads that count. */
static void add_emptied(const struct bb_case *c, struct bb_doc *d)
{
	double least = INFINITY, most = -INFINITY;

	if (!c->emptied)
		return;
	for (size_t i = 0; i < c->n_series; i++) {
		if (c->series[i].void_why || isnan(c->series[i].line_ns))
			continue;
		least = fmin(least, c->series[i].line_ns);
		most = fmax(most, c->series[i].line_ns);
	}
	bb_doc__add(d, BB_DOC_ITEM, "emptied", "%s", c->emptied);
	if (isfinite(least))
		bb_doc__append(d, "; in these loads %.1f to %.1f", least, most);
}

static void add_fired_by(const struct bb_report *r, size_t first, struct bb_doc *d)
{
	size_t n = 0;

	for (size_t i = first; i < r->n_cases; i++) {
		const struct bb_case *c = &r->cases[i];

		if (!c->fired_by || !bb_same_table(c, &r->cases[first]))
			continue;
		if (!n++)
			bb_doc__add(d, BB_DOC_ITEM, NULL, "fired by:");
		bb_doc__add(d, BB_DOC_SUBITEM, NULL, "%s: %s", c->variant, c->fired_by);
	}
}

void bb_doc_table(const struct bb_report *r, size_t first, enum bb_detail detail, struct bb_doc *d)
{
	const struct bb_case *c = &r->cases[first];

	bb_doc_group_title(c, true, unit_of(c).text, d);
	if (c->command)
		bb_doc__add(d, BB_DOC_ITEM, "timed", "%s", c->command);
	if (detail != BB_DETAILS)
		append_fired_by(r, first, d);
	add_rows(r, first, detail, d);
	bb_doc_in_vain(r, c, d);
	if (detail != BB_DETAILS)
		return;
	add_references(c, d);
	add_emptied(c, d);
	add_fired_by(r, first, d);
}

/* --- programs --- */

void bb_doc_programs(const struct bb_report *r, struct bb_doc *d)
{
	enum { TYPE = 1, METRICS };
	struct bb_doc_column *columns = calloc(METRICS + bb_n_static_metrics, sizeof(*columns));

	if (!columns)
		d->failed = true;
	if (!r->n_programs || d->failed) {
		free(columns);
		return;
	}
	columns[0] = (struct bb_doc_column){BB_TEXT("variant (program)")};
	columns[TYPE] = (struct bb_doc_column){BB_TEXT("type")};
	for (size_t i = 0; i < bb_n_static_metrics; i++)
		columns[METRICS + i] = (struct bb_doc_column){.head = bb_static_metrics[i].name,
							      .doc = bb_static_metrics[i].doc};
	bb_doc__add(d, BB_DOC_TITLE, NULL, "%s, programs as the kernel loaded them",
		    r->programs[0].scenario);
	bb_doc__table(d, columns, METRICS + bb_n_static_metrics);
	for (size_t i = 0; i < r->n_programs; i++) {
		const struct bb_program *p = &r->programs[i];

		if (strcmp(p->variant, p->program))
			bb_doc__cell(d, "%s (%s)", p->variant, p->program);
		else
			bb_doc__text_cell(d, p->variant);
		bb_doc__text_cell(d, p->type);
		for (size_t k = 0; k < bb_n_static_metrics; k++)
			bb_doc__number_cell(d, bb_static_of(&p->metrics, &bb_static_metrics[k]),
					    BB_WHOLE);
	}
	free(columns);
}

/* --- notes --- */

/* One thing that does not count or was not measured. */
struct note {
	const char *label;
	char *what, *why; /* the case, and the cause */
	bool is_said;
};

struct notes {
	struct note *v;
	size_t n;
	bool failed;
};

/* `what` and `why` become the note's. */
static void add_note(struct notes *notes, const char *label, char *what, char *why)
{
	struct note *note = what && why ? bb_append(&notes->v, &notes->n, sizeof(*note)) : NULL;

	if (note) {
		*note = (struct note){.label = label, .what = what, .why = why};
		return;
	}
	free(what);
	free(why);
	notes->failed = true;
}

/* The series of a case that share the reason of series i, unless an earlier one had it. */
static void note_void(struct notes *notes, const struct bb_case *c, size_t i)
{
	const char *why = bb_series_why_void(&c->series[i]);
	char loads[NAMED_LOADS * 12 + 8] = "", *what;
	size_t n = 0, at = 0;

	for (size_t k = 0; k < c->n_series; k++) {
		if (!bb_same_text(bb_series_why_void(&c->series[k]), why))
			continue;
		if (k < i)
			return;
		if (n++ < NAMED_LOADS)
			at += (size_t)snprintf(loads + at, sizeof(loads) - at, "%s%" PRIu32,
					       n > 1 ? ", " : "", c->series[k].load);
	}
	if (asprintf(&what, "%s: %zu of %zu series (load %s%s)", c->name, n, c->n_series, loads,
		     n > NAMED_LOADS ? ", ..." : "") < 0)
		what = NULL;
	add_note(notes, "void", what, strdup(why));
}

static void note_sum(struct notes *notes, const struct bb_case *c, const char *label, uint64_t n,
		     const char *what_they_are)
{
	char *why;

	if (!n)
		return;
	if (asprintf(&why, "%" PRIu64 " %s", n, what_they_are) < 0)
		why = NULL;
	add_note(notes, label, strdup(c->name), why);
}

static void note_case(struct notes *notes, const struct bb_case *c)
{
	struct bb_table_cell below = bb_table_cell_below_rate(c);
	uint64_t misses = 0, retries = 0;

	for (size_t k = 0; k < c->n_series; k++) {
		if (bb_series_why_void(&c->series[k]))
			note_void(notes, c, k);
		misses += c->series[k].misses;
		retries += c->series[k].retries;
	}
	if (below.text[0])
		add_note(notes, "below the rate", strdup(c->name), strdup(below.text));
	note_sum(notes, c, "misses", misses, "runs that the kernel refused (recursion)");
	note_sum(notes, c, "retries", retries, "calls were broken off by signals and made again");
}

/* Equal but for their numbers. */
static bool is_same_cause(const struct note *a, const struct note *b)
{
	const char *x = a->why, *y = b->why;

	if (strcmp(a->label, b->label))
		return false;
	while (*x && *y) {
		size_t nx = strspn(x, "0123456789."), ny = strspn(y, "0123456789.");

		if (!nx != !ny || (!nx && *x != *y))
			return false;
		x += nx ? nx : 1;
		y += ny ? ny : 1;
	}
	return *x == *y;
}

/* Each cause once, with its first example and the number of the others. */
static void say_causes(const struct notes *notes, enum bb_detail detail, struct bb_doc *d)
{
	for (size_t i = 0; i < notes->n; i++) {
		size_t more = 0;

		if (notes->v[i].is_said)
			continue;
		for (size_t k = i + 1; k < notes->n && detail != BB_DETAILS; k++)
			if (is_same_cause(&notes->v[i], &notes->v[k])) {
				notes->v[k].is_said = true;
				more++;
			}
		bb_doc__add(d, BB_DOC_ITEM, notes->v[i].label, "%s: %s", notes->v[i].what,
			    notes->v[i].why);
		if (more)
			bb_doc__append(d, " (and %zu more like it)", more);
	}
}

bool bb_is_little_executed(const struct bb_case *c)
{
	return c->n_insns && c->executed_insns < LITTLE_SHARE * c->n_insns;
}

static void say_little_executed(const struct bb_report *r, struct bb_doc *d)
{
	const struct bb_case_column *executed = bb_case_columns;
	size_t n = 0;

	while (strcmp(executed->as.head, "executed"))
		executed++;
	for (size_t i = 0; i < r->n_cases; i++) {
		const struct bb_case *c = &r->cases[i];

		if (!bb_is_little_executed(c) || is_said_above(r, i, executed))
			continue;
		if (!n++)
			bb_doc__add(d, BB_DOC_ITEM, "little executed", "%s", "");
		bb_doc__append(d, "%s%s/%s (%" PRIu32 " of %" PRIu32 " instructions)",
			       n > 1 ? ", " : "", c->scenario, c->variant, c->executed_insns,
			       c->n_insns);
	}
	if (n)
		bb_doc__append(d, ": a filter turned the event away, or the input takes a short "
				  "path; "
				  "`bpfbench init OBJECT` lists globals that filter, `annotate` "
				  "the lines");
}

/* What a reader must know about all figures of a kind. */
static void say_once(const struct bb_report *r, enum bb_detail detail, struct bb_doc *d)
{
	bool is_negative = false, is_live = false, lacks_pmu = false;

	for (size_t i = 0; i < r->n_cases; i++) {
		const struct bb_case *c = &r->cases[i];

		is_negative |= c->summary.net.value < 0;
		is_live |= c->is_live;
		lacks_pmu |= (bb_drive_kind_named(c->drive)->fills & BB_FILLS_PMU) &&
			     !isnan(c->summary.latency.value) &&
			     !isfinite(c->summary.slope.cycles.value);
	}
	if (is_negative)
		bb_doc__add(d, BB_DOC_ITEM, NULL,
			    BB_NEGATIVE_MARK " net is below zero: the floor cost more than the "
					     "program. It is shown "
					     "as measured, not cut to 0.");
	if (lacks_pmu && detail == BB_DETAILS)
		bb_doc__add(d, BB_DOC_ITEM, NULL,
			    "no cycles, instructions or cache misses a run: this machine shows no "
			    "PMU (bpfbench check)");
	if (is_live)
		bb_doc__add(d, BB_DOC_ITEM, NULL,
			    "live: programs of others are not loaded anew: their intervals are "
			    "over slices of time, not over loads");
}

size_t bb_doc_notes(const struct bb_report *r, enum bb_detail detail, struct bb_doc *d)
{
	struct notes notes = {NULL, 0, false};
	size_t before = d->n;

	for (size_t i = 0; i < r->n_skips; i++)
		add_note(&notes, "skipped", strdup(r->skips[i].what), strdup(r->skips[i].why));
	for (size_t i = 0; i < r->n_cases; i++)
		note_case(&notes, &r->cases[i]);
	d->failed |= notes.failed;
	say_causes(&notes, detail, d);
	say_little_executed(r, d);
	say_once(r, detail, d);
	for (size_t i = 0; i < notes.n; i++) {
		free(notes.v[i].what);
		free(notes.v[i].why);
	}
	free(notes.v);
	return d->n - before;
}

/* --- the whole --- */

static void add_incomplete(const struct bb_report *r, struct bb_doc *d)
{
	if (r->incomplete)
		bb_doc__add(d, BB_DOC_BAD, "INCOMPLETE",
			    "%s; the tables show the samples taken until then", r->incomplete);
}

static void add_head(const struct bb_report *r, struct bb_doc *d)
{
	bb_doc__add(d, BB_DOC_PARAGRAPH, NULL, "run %s", r->id ? r->id : "(no id)");
	if (r->started)
		bb_doc__append(d, ", started %s", r->started);
	bb_doc__add(d, BB_DOC_PARAGRAPH, NULL, "on kernel %s, %s", r->fingerprint.kernel_release,
		    r->fingerprint.cpu_model);
	bb_doc__add(d, BB_DOC_PARAGRAPH, NULL, "seed 0x%" PRIx64, r->seed);
	if (isfinite(r->elapsed_s))
		bb_doc__append(d, ", took %.1f s", r->elapsed_s);
	if (isfinite(r->steal))
		bb_doc__append(d, ", steal %.0f %%", 100 * r->steal);
}

/* Comparisons `first` to `end` are of one base and head. */
static void add_comparisons_of(const struct bb_report *r, size_t first, size_t end, size_t open,
			       struct bb_doc *d)
{
	const struct bb_comparison *c = &r->comparisons[first];
	struct bb_diffs diffs = {0};

	bb_doc__add(d, BB_DOC_TITLE, NULL,
		    "Compared in turns, at a threshold of %g %% and a significance of %g",
		    100 * c->threshold, c->alpha);
	if (bb_diff_comparisons(r, first, end - first, &diffs, NULL))
		d->failed = true;
	bb_doc_diff(&diffs, c->base, c->head, open, d);
	bb_diffs__done(&diffs);
}

void bb_doc_comparisons(const struct bb_report *r, size_t open, struct bb_doc *d)
{
	size_t end;

	for (size_t first = 0; first < r->n_comparisons; first = end) {
		const struct bb_comparison *c = &r->comparisons[first];

		end = first + 1;
		while (end < r->n_comparisons && bb_same_text(c->base, r->comparisons[end].base) &&
		       bb_same_text(c->head, r->comparisons[end].head))
			end++;
		add_comparisons_of(r, first, end, open, d);
	}
}

/* Does each table have one program, so that a sentence says it? */
static bool fits_sentences(const struct bb_report *r)
{
	for (size_t i = 0; i < r->n_cases; i++)
		if (bb_is_first_of_table(r, i) && !only_program(r, i))
			return false;
	return true;
}

static void add_answer(const struct bb_report *r, size_t first, struct bb_doc *d)
{
	const struct bb_case *only = only_program(r, first);

	bb_doc_group_title(only, true, unit_of(only).text, d);
	append_fired_by(r, first, d);
	add_sentence(only, d);
	bb_doc_in_vain(r, only, d);
}

static void add_cases(const struct bb_report *r, enum bb_detail detail, bool in_sentences,
		      struct bb_doc *d)
{
	for (size_t i = 0; i < r->n_cases; i++) {
		if (bb_is_sweep(r, i) && bb_is_sweep_head(r, i)) {
			bb_doc_sweep(r, i, d);
			bb_doc_in_vain(r, &r->cases[i], d);
		} else if (bb_is_first_of_table(r, i) && in_sentences) {
			add_answer(r, i, d);
		} else if (bb_is_first_of_table(r, i)) {
			bb_doc_table(r, i, detail, d);
		}
	}
	bb_doc_hot_cold(r, d);
	bb_doc_cross_checks(r, detail, d);
	bb_doc_counted(r, d);
	if (!r->n_cases && !r->n_counted)
		bb_doc__add(d, BB_DOC_PARAGRAPH, NULL, "Nothing was measured.");
}

void bb_doc_cases(const struct bb_report *r, enum bb_detail detail, struct bb_doc *d)
{
	size_t notes;

	add_cases(r, detail, detail == BB_SHORT && fits_sentences(r), d);
	if (detail == BB_DETAILS)
		bb_doc_programs(r, d);
	notes = d->n;
	bb_doc__add(d, BB_DOC_TITLE, NULL, "Notes");
	if (!bb_doc_notes(r, detail, d))
		bb_doc__cut(d, notes);
	if (detail == BB_DETAILS && r->n_cases) {
		bb_doc__add(d, BB_DOC_TITLE, NULL, "Columns");
		bb_doc__add(d, BB_DOC_LEGEND, NULL, "%s", "");
	}
}

/* "kernel 6.18.44, AMD EPYC, 5.8 s" */
static void add_machine(const struct bb_report *r, struct bb_doc *d)
{
	bb_doc__append(d, "kernel %s, %s", r->fingerprint.kernel_release, r->fingerprint.cpu_model);
	if (isfinite(r->elapsed_s))
		bb_doc__append(d, ", %.1f s", r->elapsed_s);
}

void bb_doc_run(const struct bb_report *r, enum bb_detail detail, struct bb_doc *d)
{
	if (detail == BB_DETAILS)
		add_head(r, d);
	add_incomplete(r, d);
	bb_doc_comparisons(r, 0, d);
	bb_doc_cases(r, detail, d);
	if (detail == BB_DETAILS)
		return;
	bb_doc__add(d, BB_DOC_FAINT, NULL, "%s", "");
	add_machine(r, d);
	bb_doc__add(d, BB_DOC_FAINT, "more",
		    "bpfbench show --details (samples, loads, layout, references, static metrics, "
		    "columns)");
}

void bb_doc_table_format(const struct bb_report *r, struct bb_doc *d)
{
	bb_doc_run(r, BB_SHORT, d);
}

void bb_doc_details_format(const struct bb_report *r, struct bb_doc *d)
{
	bb_doc_run(r, BB_DETAILS, d);
}

/* For a job summary or a comment: verdicts first. */
void bb_doc_markdown_format(const struct bb_report *r, struct bb_doc *d)
{
	add_incomplete(r, d);
	bb_doc_comparisons(r, 0, d);
	add_cases(r, BB_SHORT, false, d);
	bb_doc_programs(r, d);
	bb_doc__add(d, BB_DOC_TITLE, NULL, "Notes");
	bb_doc_notes(r, BB_SHORT, d);
	bb_doc__add(d, BB_DOC_ITEM, NULL, "run %s, ", r->id);
	add_machine(r, d);
}
