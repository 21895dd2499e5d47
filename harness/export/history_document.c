/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "export/documents.h"

#define COMMIT_DIGITS 10
#define OPEN_ROWS 12u /* rows that the page shows; further rows are folded */

static bool is_of(const struct bb_report *only, const struct bb_timeline_case *c)
{
	return !only || bb_report__find_case(only, c->of->name);
}

size_t bb_history_n_runs(const struct bb_timeline *t, const struct bb_report *only)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n_cases; i++)
		if (t->cases[i].n_points > n && is_of(only, &t->cases[i]))
			n = t->cases[i].n_points;
	return n;
}

/* --- every run --- */

const char *bb_history_mark_text(const struct bb_timeline *t, const struct bb_timeline_point *p)
{
	return bb_timeline__is_judged(t, p) ? bb_history_mark_name(p->judged.mark) : "-";
}

static struct bb_table_cell cell_of(const char *fmt, double value)
{
	struct bb_table_cell none = {""};

	return isfinite(value) ? bb_table_cell_of(fmt, value) : none;
}

static void add_point(const struct bb_timeline *t, const struct bb_timeline_case *c,
		      const struct bb_timeline_point *p, struct bb_doc *d)
{
	const struct bb_timeline_run *run = &t->runs[p->run];
	const struct bb_estimate *e = &p->of->figure[BB_BY_LATENCY];
	const char *change = p->judged.change > 0   ? "change point: slower from here on"
			     : p->judged.change < 0 ? "change point: faster from here on"
						    : "";
	struct bb_table_cell voids = {""};

	if (p->of->voids)
		voids = bb_table_cell_of("%s%u void series",
					 p->differs || run->of->incomplete || *change ? "; " : "",
					 p->of->voids);
	bb_doc__text_cell(d, run->of->started ? run->of->started : run->of->id);
	bb_doc__cell(d, "%.*s", COMMIT_DIGITS, run->of->commit);
	bb_doc__table_cell(d, bb_table_cell_time(e->value, e->value));
	bb_doc__table_cell(d, bb_table_cell_interval(e));
	bb_doc__table_cell(d, cell_of("%.4f", p->of->figure[BB_BY_RATIO].value));
	bb_doc__table_cell(d, cell_of("%.4g", p->of->figure[BB_BY_RELATIVE].value));
	bb_doc__table_cell(d, cell_of("%.2f", 100 * p->of->se[c->by]));
	bb_doc__table_cell(d, cell_of("%+.2f", 100 * bb_timeline__change(c, p)));
	bb_doc__table_cell(d, cell_of("%.2f", 100 * expm1(p->judged.limit)));
	bb_doc__text_cell(d, bb_history_mark_text(t, p));
	if (p->differs)
		bb_doc__cell(d, "not judged: another %s than now%s", p->differs, voids.text);
	else if (run->of->incomplete)
		bb_doc__cell(d, "not judged: incomplete, %s%s", run->of->incomplete, voids.text);
	else
		bb_doc__cell(d, "%s%s", change, voids.text);
}

/* Adds the title: the figure that judges the case, and how well each figure predicts itself. */
static void add_predictor(const struct bb_timeline_case *c, struct bb_doc *d)
{
	static const char *const words[BB_N_PREDICTORS] = {
		[BB_BY_LATENCY] = "latency",
		[BB_BY_RATIO] = "ratio to the anchor of the same run",
		[BB_BY_RELATIVE] = "latency in pieces of the reference",
	};
	size_t n = 0;

	bb_doc__add(d, BB_DOC_TITLE, NULL, "%s, %sjudged by its %s", c->of->name,
		    c->is_anchor ? "the anchor, " : "", words[c->by]);
	for (int by = 0; by < BB_N_PREDICTORS; by++)
		if (!isnan(c->error[by]))
			bb_doc__append(d, "%s%.2f %% (%s)",
				       n++ ? ", " : "; a run differs from those before by ",
				       100 * c->error[by],
				       bb_predictor_name((enum bb_predictor)by));
	if (c->is_anchor && c->by == BB_BY_LATENCY)
		bb_doc__append(d, "; a change here is rather one of the machine");
}

void bb_doc_history_points(const struct bb_timeline *t, struct bb_doc *d)
{
	static const struct bb_doc_column columns[] = {
		{BB_TEXT("Started")},
		{BB_TEXT("Commit"), .spill = 2},
		{BB_NUMBER("Latency, ns")},
		{BB_NUMBER("95 % interval"), .spill = 1},
		{BB_NUMBER("Ratio")},
		{BB_NUMBER("Relative")},
		{BB_NUMBER("SE %"), .spill = 3},
		{BB_NUMBER("Change %")},
		{BB_NUMBER("Limit %")},
		{BB_VERDICT("Mark")},
		{BB_TEXT("Note")},
	};

	for (size_t i = 0; i < t->n_cases; i++) {
		add_predictor(&t->cases[i], d);
		bb_doc__table(d, columns, BB_LEN(columns));
		for (size_t k = 0; k < t->cases[i].n_points; k++)
			add_point(t, &t->cases[i], &t->cases[i].points[k], d);
	}
}

/* --- the newest run --- */

/* Adds "regressed: CASE, +5.01 % in the newest run, first seen in that of 2026-01-26T12:00:00Z
 * (commit 1a2b3c4d5e)". */
static void add_news(const struct bb_timeline *t, const struct bb_timeline_case *c,
		     struct bb_doc *d)
{
	const struct bb_timeline_point *change = bb_timeline__since(c);
	const struct bb_timeline_run *since = change ? &t->runs[change->run] : NULL;
	enum bb_history_mark mark = bb_timeline__mark(t, c);

	bb_doc__add(d, mark == BB_HISTORY_REGRESSED ? BB_DOC_BAD_ITEM : BB_DOC_ITEM,
		    bb_history_mark_name(mark), "%s, %+.2f %% in the newest run", c->of->name,
		    100 * bb_timeline__change(c, bb_timeline__newest(t, c)));
	if (mark == BB_HISTORY_SUSPECT)
		bb_doc__append(d, "; one run proves nothing: run again");
	else if (since)
		bb_doc__append(d, ", first seen in that of %s",
			       since->of->started ? since->of->started : since->of->id);
	if (since && mark != BB_HISTORY_SUSPECT && strcmp(since->of->commit, "none"))
		bb_doc__append(d, " (commit %.*s)", COMMIT_DIGITS, since->of->commit);
}

void bb_doc_history_news(const struct bb_timeline *t, const struct bb_report *only,
			 struct bb_doc *d)
{
	static const enum bb_history_mark others[] = {BB_HISTORY_SUSPECT, BB_HISTORY_STEADY,
						      BB_HISTORY_LEARNING};
	size_t n[BB_HISTORY_IMPROVED + 1] = {0}, n_cases = 0;

	for (size_t i = 0; i < t->n_cases; i++) {
		if (!is_of(only, &t->cases[i]))
			continue;
		n_cases++;
		n[bb_timeline__mark(t, &t->cases[i])]++;
	}
	bb_doc__add(d, BB_DOC_PARAGRAPH, NULL,
		    "%zu case%s over %zu runs: %zu regressed, %zu improved", n_cases,
		    bb_plural(n_cases), only ? bb_history_n_runs(t, only) : t->n_runs,
		    n[BB_HISTORY_REGRESSED], n[BB_HISTORY_IMPROVED]);
	for (size_t i = 0; i < BB_LEN(others); i++)
		if (n[others[i]])
			bb_doc__append(d, ", %zu %s", n[others[i]],
				       bb_history_mark_name(others[i]));
	if (n[BB_HISTORY_LEARNING])
		bb_doc__append(d, " (a case is judged after its first %zu runs)",
			       bb_history_default_rule.window_min);
	for (size_t i = 0; i < t->n_cases; i++)
		if (is_of(only, &t->cases[i]) &&
		    bb_history_is_news(bb_timeline__mark(t, &t->cases[i])))
			add_news(t, &t->cases[i], d);
}

/* The order of rows: changed cases, other cases outside sweeps, those with too few runs (a table of
 * their own), other cases of sweeps. */
enum rank { NEWS, SINGLE, LEARNING, SWEPT, NO_ROW };

/* True if the parameter of the case has more than BB_SWEEP_VALUES values. */
static bool is_swept(const struct bb_timeline *t, const struct bb_timeline_case *c)
{
	size_t n = 0;

	for (size_t i = 0; c->of->param && n <= BB_SWEEP_VALUES && i < t->n_cases; i++) {
		const struct bb_timeline_case *k = &t->cases[i];

		n += k->of->param && !strcmp(k->of->param, c->of->param) &&
		     !strcmp(k->of->variant, c->of->variant) &&
		     !strcmp(k->of->drive, c->of->drive) &&
		     !strcmp(k->of->scenario, c->of->scenario);
	}
	return n > BB_SWEEP_VALUES;
}

static enum rank rank_of(const struct bb_timeline *t, const struct bb_timeline_case *c,
			 const struct bb_report *only)
{
	if (only && (!is_of(only, c) || c->n_points < 2))
		return NO_ROW;
	if (bb_history_is_news(bb_timeline__mark(t, c)))
		return NEWS;
	if (is_swept(t, c))
		return SWEPT;
	return !only && bb_timeline__mark(t, c) == BB_HISTORY_LEARNING ? LEARNING : SINGLE;
}

static void add_row(const struct bb_timeline *t, const struct bb_timeline_case *c, enum rank rank,
		    struct bb_doc *d)
{
	const struct bb_timeline_point *p = bb_timeline__newest(t, c);
	struct bb_estimate e = p ? *bb_timeline__judged(c, p) : (struct bb_estimate){NAN, NAN, NAN};
	double half = fmax(e.hi - e.value, e.value - e.lo);
	bool in_ns = c->by == BB_BY_LATENCY;

	bb_doc__text_cell(d, c->of->name);
	if (!isfinite(e.value))
		bb_doc__text_cell(d, NULL);
	else if (in_ns)
		bb_doc__cell(d, "%s%s", bb_table_cell_time(e.value, e.value).text,
			     bb_is_shown_in_ms(e.value) ? "" : " ns");
	else
		bb_doc__cell(d, "%.4f x %s", e.value,
			     c->by == BB_BY_RATIO ? "anchor" : "reference");
	if (rank == LEARNING)
		bb_doc__text_cell(d, NULL);
	else
		bb_doc__table_cell(d, in_ns ? bb_table_cell_time(half, e.value)
					    : cell_of("%.4f", half));
	bb_doc__table_cell(d, cell_of("%+.2f", p ? 100 * bb_timeline__change(c, p) : (double)NAN));
	bb_doc__table_cell(d, cell_of("%.2f", p ? 100 * expm1(p->judged.limit) : (double)NAN));
	bb_doc__cell(d, "%zu", c->n_points);
	bb_doc__text_cell(d, rank == LEARNING ? NULL
			     : p              ? bb_history_mark_text(t, p)
					      : "not judged");
}

void bb_doc_history(const struct bb_timeline *t, const struct bb_report *only, struct bb_doc *d)
{
	static const struct bb_doc_column columns[] = {
		{BB_TEXT("Case")},
		{BB_NUMBER("Newest run"), .doc = "the figure that the case is judged by: ns, or a "
						 "ratio"},
		{BB_TEXT("+-"), .close = true, .doc = "half its 95 % interval"},
		{BB_NUMBER("Change %"), .doc = "from the level of the runs before"},
		{BB_NUMBER("Limit %"), .doc = "of a change that counts"},
		{BB_NUMBER("Runs")},
		{BB_VERDICT("Mark")},
	};
	enum { N = BB_LEN(columns) };
	size_t n = 0, left_out = 0, learning = 0;

	bb_doc__table(d, columns, N);
	for (enum rank rank = NEWS; rank < NO_ROW; rank++)
		for (size_t i = 0; i < t->n_cases; i++) {
			if (rank_of(t, &t->cases[i], only) != rank)
				continue;
			/* On a terminal, the steady cases of a sweep would hide all others. */
			if (n >= BB_HISTORY_ROWS || (rank == SWEPT && !only)) {
				left_out++;
				continue;
			}
			n++;
			if (rank == LEARNING && !learning++) {
				bb_doc__add(d, BB_DOC_TITLE, NULL, "Too few runs to judge");
				bb_doc__table(d, columns, N);
			}
			if (n == OPEN_ROWS + 1 && only) {
				bb_doc__add(d, BB_DOC_FOLD, NULL, "More");
				bb_doc__table(d, columns, N);
			}
			add_row(t, &t->cases[i], rank, d);
		}
	if (n > OPEN_ROWS && only)
		bb_doc__add(d, BB_DOC_FOLD_END, NULL, "%s", "");
	if (left_out)
		bb_doc__add(d, BB_DOC_CLOSING, NULL,
			    "%zu more cases without a change; `bpfbench history --all` lists all",
			    left_out);
}
