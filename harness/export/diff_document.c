/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "export/documents.h"
#include "judge/by_line.h"

#define EXACT_ROWS 20u /* cases of counts that differ */
#define EXACT_LINES 5u /* lines of a program whose counts differ */
#define TIME_ROWS 20u  /* lines of a program whose times differ */
#define NAMED 4u       /* lines of a sentence */

#define TIMES_MOST 60.0    /* the loads there are: more of them is advice that nobody follows */
#define SLOWER_LEAST 0.005 /* of the machine, below which nothing is said */

/* --- one figure of A and of B --- */

static void add_number(struct bb_doc *d, double value, double scale, const char *sign)
{
	if (isfinite(value))
		bb_doc__cell(d, "%s%s", value > 0 ? sign : "",
			     bb_table_cell_number(value, scale).text);
	else
		bb_doc__text_cell(d, NULL);
}

struct bb_table_cell bb_percent_cell(double ratio)
{
	double percent = 100 * (ratio - 1);
	struct bb_table_cell p = {""};

	if (fabs(percent) < 0.005) /* no "-0.00" */
		percent = 0;
	if (isfinite(ratio))
		snprintf(p.text, sizeof(p.text), fabs(percent) < 99.995 ? "%+.2f" : "%+.4g",
			 percent);
	return p;
}

struct bb_table_cell bb_percents_cell(const struct bb_estimate *ratio)
{
	struct bb_table_cell p = {""};

	if (isfinite(ratio->lo) && isfinite(ratio->hi))
		snprintf(p.text, sizeof(p.text), "[%.60s, %.60s]", bb_percent_cell(ratio->lo).text,
			 bb_percent_cell(ratio->hi).text);
	return p;
}

static void add_cell(struct bb_doc *d, struct bb_table_cell cell)
{
	bb_doc__text_cell(d, cell.text[0] ? cell.text : NULL);
}

static const struct bb_comparison *find_comparison(const struct bb_report *r, const char *name)
{
	for (size_t i = 0; r && i < r->n_comparisons; i++)
		if (bb_same_text(r->comparisons[i].name, name))
			return &r->comparisons[i];
	return NULL;
}

/* Did base or head look for something in vain? Cases have their variant in the middle. */
static bool is_in_vain(const struct bb_report *r, const char *name)
{
	for (size_t i = 0; i < r->n_cases; i++) {
		const struct bb_case *k = &r->cases[i];
		size_t len = strlen(k->scenario);

		if (k->n_in_vain && !strncmp(name, k->name, len + 1) &&
		    !strcmp(name + len, k->name + len + 1 + strlen(k->variant)))
			return true;
	}
	return false;
}

/* The verdict of both measurements of a gate, and what it rests on. */
static void add_gate_verdict(const struct bb_doc_gate *g, const struct bb_diff *row,
			     struct bb_doc *d)
{
	const struct bb_comparison *c = row->has_verdict ? find_comparison(g->first, row->name)
							 : NULL;
	const char *words = c && bb_gate__verdict(c, g->again) == BB_GATE_UNCONFIRMED
				    ? "not confirmed"
				    : bb_verdict_name(row->verdict);

	if (!row->has_verdict)
		bb_doc__text_cell(d, NULL);
	else
		bb_doc__cell(d, "%s%s", words,
			     is_in_vain(g->first, row->name) ? ", of lookups in vain" : "");
}

static void add_diff(const struct bb_diff *row, const struct bb_doc_gate *g, struct bb_doc *d)
{
	double scale_a = row->exact ? BB_WHOLE : row->a, scale_b = row->exact ? BB_WHOLE : row->b;
	const struct bb_comparison *c = NULL, *again = NULL;
	char step[BB_NEXT_STEP] = "";

	if (g && row->has_verdict)
		c = find_comparison(g->first, row->name);
	if (c && row->verdict == BB_VERDICT_REGRESSED)
		again = find_comparison(g->again, row->name);
	bb_doc__text_cell(d, row->name);
	bb_doc__cell(d, "%s%s%s", row->metric, row->exact ? "" : ", ", row->exact ? "" : row->unit);
	add_number(d, row->a, scale_a, "");
	add_number(d, row->b, scale_b, "");
	/* One decimal more than A has: 1 % of 900 ns is 9.0, and paired differences are finer than
	 * either end. */
	add_number(d, row->shift, row->exact ? BB_WHOLE : row->a / 10, "+");
	add_cell(d, bb_percent_cell(row->ratio));
	add_cell(d, bb_percents_cell(&(struct bb_estimate){row->ratio, row->lo, row->hi}));
	add_cell(d, again ? bb_percents_cell(&again->ratio) : (struct bb_table_cell){""});
	if (g)
		add_gate_verdict(g, row, d);
	else
		bb_doc__text_cell(d, row->has_verdict ? bb_verdict_name(row->verdict) : NULL);
	if (c && row->verdict == BB_VERDICT_INCONCLUSIVE)
		bb_comparison__next_step(c, "--each", step);
	bb_doc__text_cell(d, step[0] ? step : row->note ? row->note : "");
}

void bb_doc_diff_table(const struct bb_diffs *diffs, size_t first, size_t end,
		       const struct bb_doc_gate *g, struct bb_doc *d)
{
	static const struct bb_doc_column columns[] = {
		{BB_TEXT("Case")},         {BB_TEXT("Metric")},    {BB_NUMBER("A")},
		{BB_NUMBER("B")},          {BB_NUMBER("Diff")},    {BB_NUMBER("Diff %")},
		{BB_NUMBER("Interval %")}, {BB_NUMBER("Again %")}, {BB_VERDICT("Verdict")},
		{BB_TEXT("Note")},
	};

	bb_doc__table(d, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = first; i < end; i++)
		if (!g || diffs->rows[i].exact || diffs->rows[i].has_verdict)
			add_diff(&diffs->rows[i], g, d);
}

void bb_doc_diff(struct bb_diffs *diffs, const char *label_a, const char *label_b, size_t open,
		 struct bb_doc *d)
{
	bool folded = open && diffs->n > open;

	bb_doc__add(d, BB_DOC_PARAGRAPH, NULL, "A: %s", label_a);
	bb_doc__add(d, BB_DOC_PARAGRAPH, NULL, "B: %s", label_b);
	if (folded)
		d->failed |= bb_diff_sort(diffs, "verdict", NULL) != 0;
	bb_doc_diff_table(diffs, 0, folded ? open : diffs->n, NULL, d);
	if (folded) {
		bb_doc__add(d, BB_DOC_FOLD, NULL, "%zu more", diffs->n - open);
		bb_doc_diff_table(diffs, open, diffs->n, NULL, d);
		bb_doc__add(d, BB_DOC_FOLD_END, NULL, "%s", "");
	}
	bb_doc__add(d, BB_DOC_CLOSING, NULL,
		    "%zu regressed, %zu improved, %zu same, %zu "
		    "inconclusive",
		    bb_diffs_count(diffs, BB_VERDICT_REGRESSED),
		    bb_diffs_count(diffs, BB_VERDICT_IMPROVED),
		    bb_diffs_count(diffs, BB_VERDICT_SAME),
		    bb_diffs_count(diffs, BB_VERDICT_INCONCLUSIVE));
}

/* --- executed instructions --- */

static void add_count(struct bb_doc *d, const struct bb_counted_case *c)
{
	if (c->void_why || !c->runs)
		bb_doc__cell(d, "void");
	else if (c->least == c->most)
		bb_doc__number_cell(d, (double)c->least, BB_WHOLE);
	else
		bb_doc__cell(d, "%" PRIu64 " to %" PRIu64, c->least, c->most);
}

static const char *exact_verdict(const struct bb_doc_gate *g, const struct bb_exact_row *row)
{
	enum bb_gate_verdict verdict;

	if (!g || row->verdict != BB_VERDICT_REGRESSED)
		return bb_verdict_name(row->verdict);
	verdict = bb_gate__exact_verdict(g->gate, row);
	return verdict == BB_GATE_REGRESSED     ? "regressed"
	       : verdict == BB_GATE_UNCONFIRMED ? "not confirmed"
						: "more";
}

/* "prog.work/head/exact" without the variant: the row is of both. */
static void add_name(const struct bb_exact_row *row, const struct bb_doc_gate *g, struct bb_doc *d)
{
	const char *variant = g ? strstr(row->name, "/head/") : NULL;

	bb_doc__cell(d, "%.*s%s", variant ? (int)(variant - row->name) : 0, row->name,
		     variant ? variant + strlen("/head") : row->name);
}

static size_t add_exact_rows(const struct bb_exact_diff *diff, const struct bb_doc_gate *g,
			     struct bb_doc *d)
{
	static const struct bb_doc_column columns[] = {
		{BB_TEXT("Case")},   {BB_NUMBER("A")},        {BB_NUMBER("B")},
		{BB_NUMBER("Diff")}, {BB_VERDICT("Verdict")},
	};
	size_t shown = 0;

	bb_doc__table(d, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < diff->n_rows && shown < EXACT_ROWS; i++) {
		const struct bb_exact_row *r = &diff->rows[i];

		if (r->verdict == BB_VERDICT_SAME)
			continue;
		shown++;
		add_name(r, g, d);
		add_count(d, r->a);
		add_count(d, r->b);
		if (bb_counted_case__is_exact(r->a) && bb_counted_case__is_exact(r->b))
			bb_doc__cell(d, "%+" PRId64, (int64_t)(r->b->least - r->a->least));
		else
			bb_doc__text_cell(d, NULL);
		bb_doc__text_cell(d, exact_verdict(g, r));
	}
	return shown;
}

/* Where in the source a program's instructions became more or fewer. */
static void add_exact_lines(const struct bb_exact_program *p, struct bb_doc *d)
{
	if (!p->n_lines)
		return;
	bb_doc__add(d, BB_DOC_PARAGRAPH, NULL,
		    "%s, instructions per run by source line:", p->b->name);
	for (size_t i = 0; i < p->n_lines && i < EXACT_LINES; i++) {
		const struct bb_counted_line *l = p->lines[i].line;

		bb_doc__add(d, BB_DOC_CODE, NULL, "%+10.2f  %s:%u  %s", p->lines[i].more,
			    basename(l->file), l->line,
			    l->line ? l->text + strspn(l->text, " \t") : "(the compiler's own)");
	}
	if (p->n_lines > EXACT_LINES)
		bb_doc__add(d, BB_DOC_ITEM, NULL, "... and %zu lines more",
			    p->n_lines - EXACT_LINES);
}

void bb_doc_exact_diff(const struct bb_exact_diff *diff, const struct bb_doc_gate *g,
		       struct bb_doc *d)
{
	size_t differ = diff->n_rows - bb_exact_diff__count(diff, BB_VERDICT_SAME), shown;

	shown = add_exact_rows(diff, g, d);
	if (differ > shown)
		bb_doc__add(d, BB_DOC_ITEM, NULL, "... and %zu more that differ", differ - shown);
	for (size_t i = 0; i < diff->n_programs; i++)
		add_exact_lines(&diff->programs[i], d);
	bb_doc__add(d, BB_DOC_CLOSING, NULL,
		    "%zu cases: %zu same, %zu regressed, %zu improved, %zu inconclusive",
		    diff->n_rows, bb_exact_diff__count(diff, BB_VERDICT_SAME),
		    bb_exact_diff__count(diff, BB_VERDICT_REGRESSED),
		    bb_exact_diff__count(diff, BB_VERDICT_IMPROVED),
		    bb_exact_diff__count(diff, BB_VERDICT_INCONCLUSIVE));
	if (diff->n_only_a || diff->n_only_b)
		bb_doc__append(d, "; not compared: %zu only in A, %zu only in B", diff->n_only_a,
			       diff->n_only_b);
}

/* --- time by line --- */

static const struct bb_timed_row *row_of(const struct bb_time_diff_row *r)
{
	return r->b ? r->b : r->a;
}

/* Worth a row: it differs, or does so by less than what matters for sure. */
static bool is_shown(const struct bb_time_diff_row *r)
{
	return bb_time_diff_row__differs(r) ||
	       (r->verdict == BB_VERDICT_INCONCLUSIVE && (r->more.lo > 0 || r->more.hi < 0) &&
		fabs(r->more.value) >= BB_BY_LINE_LEAST_NS);
}

static size_t count(const struct bb_time_diff_case *c, enum bb_verdict verdict)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_rows; i++)
		n += c->rows[i].verdict == verdict;
	return n;
}

static struct bb_table_cell signed_value(double ns)
{
	struct bb_table_cell plain = bb_table_cell_value(fabs(ns)), cell;

	snprintf(cell.text, sizeof(cell.text), "%s%.150s", ns < 0 ? "-" : "+", plain.text);
	return cell;
}

/* "+84 ns in line 131 (bpf_ktime_get_ns); no other line surely differs" */
static void add_sentence(const struct bb_time_diff_case *c, struct bb_doc *d)
{
	size_t n = 0;

	bb_doc__add(d, BB_DOC_PARAGRAPH, NULL, "%s", "");
	for (size_t i = 0; i < c->n_rows; i++) {
		const struct bb_time_diff_row *r = &c->rows[i];
		const struct bb_timed_row *row = row_of(r);

		if (!bb_time_diff_row__differs(r) || n++ >= NAMED)
			continue;
		bb_doc__append(d, "%s%s ns in %s %u%s%.100s%s%s", n > 1 ? ", " : "",
			       signed_value(r->more.value).text, row->line ? "line" : "instruction",
			       row->line ? row->line : row->insn, row->call[0] ? " (" : "",
			       row->call, row->call[0] ? ")" : "",
			       !r->b   ? ", which is gone"
			       : !r->a ? ", which is new"
				       : "");
	}
	if (n > NAMED)
		bb_doc__append(d, ", and in %zu lines more", n - NAMED);
	else
		bb_doc__append(d, n ? "; no other line surely differs"
				  : c->more.lo > 0 || c->more.hi < 0 ? "the program as a whole "
								       "differs, no line of it "
								       "surely "
								       "does"
								     : "no line surely differs");
}

/* Of two runs. */
static void add_speed(const struct bb_time_diff_case *c, struct bb_doc *d)
{
	size_t n = 0;

	for (enum bb_reference k = 0; k < BB_N_REFERENCES; k++) {
		if (!(fabs(c->slower[k]) >= SLOWER_LEAST))
			continue;
		if (!n++)
			bb_doc__add(d, BB_DOC_PARAGRAPH, NULL, "the machine itself, B against A: ");
		bb_doc__append(d, "%s%s %+.1f %%", n > 1 ? ", " : "", bb_reference_name(k),
			       100 * c->slower[k]);
	}
	if (n)
		bb_doc__append(d, "; a line differs where that does not explain it");
}

static void add_time_rows(const struct bb_time_diff_case *c, struct bb_doc *d)
{
	static const struct bb_doc_column columns[] = {
		{BB_NUMBER("A")},        {BB_NUMBER("B")},        {BB_NUMBER("Diff")},
		{BB_NUMBER("Interval")}, {BB_VERDICT("Verdict")}, {BB_NUMBER("line")},
		{BB_CODE("source")},
	};
	size_t shown = 0;

	bb_doc__table(d, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < c->n_rows && shown < TIME_ROWS; i++) {
		const struct bb_time_diff_row *r = &c->rows[i];
		const struct bb_timed_row *row = row_of(r);

		if (!is_shown(r))
			continue;
		shown++;
		bb_doc_line_ns(r->a ? r->a_ns : NAN, d);
		bb_doc_line_ns(r->b ? r->b_ns : NAN, d);
		bb_doc__text_cell(d, signed_value(r->more.value).text);
		if (isnan(r->more.lo))
			bb_doc__text_cell(d, NULL);
		else
			bb_doc__cell(d, "[%s, %s]", signed_value(r->more.lo).text,
				     signed_value(r->more.hi).text);
		bb_doc__text_cell(d, bb_verdict_name(r->verdict));
		bb_doc__cell(d, "%s:%u", basename(row->file), row->line ? row->line : row->insn);
		bb_doc__cell(d, "%.100s%s%.100s", row->call, row->call[0] ? ": " : "", row->text);
	}
}

static void add_next_step(const struct bb_time_diff_case *c, struct bb_doc *d)
{
	if (c->n_loads < c->needs_loads)
		bb_doc__append(d,
			       "; %zu loads, a verdict on a line takes %zu: --loads, or a larger "
			       "--budget, gives more",
			       c->n_loads, c->needs_loads);
	else if (c->times > TIMES_MOST)
		bb_doc__append(d, "; most of the inconclusive ones differ by just about what "
				  "matters: a larger --threshold decides");
	else if (!isnan(c->times))
		bb_doc__append(d,
			       "; %.2g times the loads, and the --budget, should decide half of "
			       "the inconclusive ones",
			       c->times);
}

void bb_doc_time_diff(const struct bb_time_diff *diff, struct bb_doc *d)
{
	for (size_t i = 0; i < diff->n_cases; i++) {
		const struct bb_time_diff_case *c = &diff->cases[i];

		bb_doc__add(d, BB_DOC_PARAGRAPH, NULL,
			    "%s, nanoseconds by source line: A %s ns a run, B %s ns, %s ns",
			    c->b->name, bb_table_cell_value(c->a_ns).text,
			    bb_table_cell_value(c->b_ns).text, signed_value(c->more.value).text);
		if (isnan(c->more.lo))
			bb_doc__append(d, ", too few loads for an interval");
		else
			bb_doc__append(d, " [%s, %s]", signed_value(c->more.lo).text,
				       signed_value(c->more.hi).text);
		add_speed(c, d);
		add_sentence(c, d);
		add_time_rows(c, d);
		bb_doc__add(d, BB_DOC_CLOSING, NULL,
			    "%zu lines: %zu same, %zu regressed, %zu improved, %zu inconclusive",
			    c->n_rows, count(c, BB_VERDICT_SAME), count(c, BB_VERDICT_REGRESSED),
			    count(c, BB_VERDICT_IMPROVED), count(c, BB_VERDICT_INCONCLUSIVE));
		add_next_step(c, d);
	}
}
