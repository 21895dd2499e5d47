/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "export/documents.h"

#define COMMIT_DIGITS 10
#define OPEN_ROWS 12u /* rows that an HTML page shows before the reader opens the others */

static bool is_of(const struct bb_report *only, const struct bb_timeline_case *c)
{
	return !only || bb_report__find_case(only, c->of->name);
}

/* True for an empty program. Its figures change only if the machine changes. */
static bool is_empty(const struct bb_timeline_case *c)
{
	return c->is_anchor && !strncmp(c->of->variant, "empty", strlen("empty"));
}

/* True if the overview shows the case. If `only` is not NULL, the overview shows all cases of that
 * report. Otherwise it shows all cases except empty programs, or all cases if there are only empty
 * programs. */
static bool is_in_overview(const struct bb_timeline *t, const struct bb_report *only,
			   const struct bb_timeline_case *c)
{
	if (only || !is_empty(c))
		return is_of(only, c);
	return !BB_ANY(t->cases, t->n_cases, !is_empty(it));
}

size_t bb_history_n_runs(const struct bb_timeline *t, const struct bb_report *only)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n_cases; i++)
		if (t->cases[i].n_points > n && is_of(only, &t->cases[i]))
			n = t->cases[i].n_points;
	return n;
}

const char *bb_history_mark_text(const struct bb_timeline *t, const struct bb_timeline_point *p)
{
	return bb_timeline__is_judged(t, p) ? bb_history_mark_name(p->judged.mark) : "-";
}

/* Returns the verdict on a run as the tables show it. A suspect run within its limit neither
 * confirms nor refutes the suspect run before it, so the tables say "cannot tell". */
static const char *mark_of(const struct bb_timeline *t, const struct bb_timeline_case *c,
			   const struct bb_timeline_point *p)
{
	return p->judged.mark == BB_HISTORY_SUSPECT && bb_timeline__is_judged(t, p) &&
			       fabs(log1p(bb_timeline__change(c, p))) <= p->judged.limit
		       ? "cannot tell"
		       : bb_history_mark_text(t, p);
}

static struct bb_table_cell cell_of(const char *fmt, double value)
{
	return isfinite(value) ? bb_table_cell_of(fmt, value) : (struct bb_table_cell){""};
}

static void add_point(const struct bb_timeline *t, const struct bb_timeline_case *c,
		      const struct bb_timeline_point *p, struct bb_doc *d)
{
	const struct bb_timeline_run *run = &t->runs[p->run];
	const struct bb_estimate *e = &p->of->figure[BB_BY_LATENCY];
	const char *change = p->judged.change > 0   ? "slower from here"
			     : p->judged.change < 0 ? "faster from here"
						    : "";
	struct bb_table_cell voids = {""};

	if (p->of->voids)
		voids = bb_table_cell_of("%s%u void series",
					 p->differs || run->of->incomplete || *change ? "; " : "",
					 p->of->voids);
	if (isnan(run->epoch_s))
		bb_doc__text_cell(d, run->of->id);
	else /* `started` is a text such as "2026-01-26T12:00:00Z" */
		bb_doc__cell(d, "%.10s %.5s", run->of->started, run->of->started + 11);
	bb_doc__cell_if(d, strcmp(run->of->commit, "none"), "%.*s", COMMIT_DIGITS, run->of->commit);
	bb_doc__table_cell(d, bb_table_cell_time(e->value, e->value));
	bb_doc__cell_if(d, isfinite(e->lo) && isfinite(e->hi), "[%s, %s]",
			bb_table_cell_time(e->lo, e->value).text,
			bb_table_cell_time(e->hi, e->value).text);
	bb_doc__table_cell(d, cell_of("%.4f", p->of->figure[BB_BY_RATIO].value));
	bb_doc__table_cell(d, cell_of("%.4g", p->of->figure[BB_BY_RELATIVE].value));
	bb_doc__table_cell(d, cell_of("%.2f", 100 * p->of->se[c->by]));
	bb_doc__table_cell(d, cell_of("%+.2f", 100 * bb_timeline__change(c, p)));
	bb_doc__table_cell(d, cell_of("%.2f", 100 * expm1(p->judged.limit)));
	bb_doc__text_cell(d, mark_of(t, c, p));
	if (p->differs)
		bb_doc__cell(d, "not judged: another %s than now%s", p->differs, voids.text);
	else if (run->of->incomplete)
		bb_doc__cell(d, "not judged: incomplete, %s%s", run->of->incomplete, voids.text);
	else
		bb_doc__cell(d, "%s%s", change, voids.text);
}

void bb_doc_history_points(const struct bb_timeline *t, struct bb_doc *d)
{
	static const char *const words[BB_N_PREDICTORS] = {
		[BB_BY_LATENCY] = "latency",
		[BB_BY_RATIO] = "ratio to the anchor of the same run",
		[BB_BY_RELATIVE] = "latency in pieces of the reference",
	};

	for (size_t i = 0; i < t->n_cases; i++) {
		const struct bb_timeline_case *c = &t->cases[i];
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
		bb_doc__columns(d, {BB_TEXT("Started")}, {BB_TEXT("Commit"), .drop = 3},
				{BB_NUMBER("Latency, ns")}, {BB_NUMBER("95 % interval"), .drop = 2},
				{BB_NUMBER("Ratio")}, {BB_NUMBER("Relative"), .drop = 1},
				{BB_NUMBER("SE %"), .drop = 1}, {BB_NUMBER("Change %")},
				{BB_NUMBER("Limit %"), .drop = 3}, {BB_VERDICT("Mark")},
				{BB_TEXT("Note")});
		for (size_t k = 0; k < c->n_points; k++)
			add_point(t, c, &c->points[k], d);
	}
}

/* A case with a higher limit is "too noisy" instead of "steady", because many changes would stay
 * below this limit. */
#define NOISY_LIMIT 0.1

static const char *verdict_of(const struct bb_timeline *t, const struct bb_timeline_case *c)
{
	const struct bb_timeline_point *p = bb_timeline__newest(t, c);

	if (!p)
		return "not judged";
	return p->judged.mark == BB_HISTORY_STEADY && expm1(p->judged.limit) > NOISY_LIMIT
		       ? "too noisy"
		       : mark_of(t, c, p);
}

/* Adds an item about a changed case: "regressed: CASE, +5.01 % in the newest run, first seen in the
 * run of 2026-01-26T12:00:00Z (commit 1a2b3c4d5e)". */
static void add_news(const struct bb_timeline *t, const struct bb_timeline_case *c,
		     struct bb_doc *d)
{
	const struct bb_timeline_point *change = bb_timeline__since(c);
	const struct bb_timeline_run *since = change ? &t->runs[change->run] : NULL;
	enum bb_history_mark mark = bb_timeline__mark(t, c);

	bb_doc__add(d, mark == BB_HISTORY_REGRESSED ? BB_DOC_BAD_ITEM : BB_DOC_ITEM,
		    verdict_of(t, c), "%s, %+.2f %% in the newest run", c->of->name,
		    100 * bb_timeline__change(c, bb_timeline__newest(t, c)));
	if (!strcmp(verdict_of(t, c), "cannot tell"))
		bb_doc__append(d, ", within its limit, but too noisy to deny the run before, which "
				  "was beyond");
	else if (mark == BB_HISTORY_SUSPECT)
		bb_doc__append(d, ", beyond its limit; one run proves nothing");
	else if (since)
		bb_doc__append(d, ", first seen in the run of %s",
			       since->of->started ? since->of->started : since->of->id);
	if (since && mark != BB_HISTORY_SUSPECT && strcmp(since->of->commit, "none"))
		bb_doc__append(d, " (commit %.*s)", COMMIT_DIGITS, since->of->commit);
}

/* True if the name of a file needs no quotes in a shell. The commands that we advise contain only
 * such names. */
static bool is_plain(const char *name)
{
	return !name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
				  ".")];
}

static void add_next(const struct bb_timeline *t, const char *results, struct bb_doc *d)
{
	bool again = false, learning = true, noisy = false;

	for (size_t i = 0; i < t->n_cases; i++) {
		const struct bb_timeline_case *c = &t->cases[i];
		const struct bb_timeline_point *change = bb_timeline__since(c);
		enum bb_history_mark mark = bb_timeline__mark(t, c);

		if (!is_in_overview(t, NULL, c))
			continue;
		learning &= mark == BB_HISTORY_LEARNING || mark == BB_HISTORY_VOID;
		again |= mark == BB_HISTORY_SUSPECT;
		noisy |= !strcmp(verdict_of(t, c), "too noisy");
		if ((mark != BB_HISTORY_REGRESSED && mark != BB_HISTORY_IMPROVED) || !change ||
		    change == c->points || !is_plain(t->runs[change[-1].run].of->name) ||
		    !is_plain(t->runs[change->run].of->name))
			continue;
		bb_doc__add(d, BB_DOC_FAINT, "next",
			    "`bpfbench compare %s %s%s` (before and after the change)",
			    t->runs[change[-1].run].of->name, t->runs[change->run].of->name,
			    results);
		return;
	}
	bb_doc__add(d, BB_DOC_FAINT, "next", "%s%s%s",
		    again      ? "the same measurement once more, then `bpfbench history"
		    : learning ? "`bpfbench compare previous latest"
		    : noisy    ? "`sudo bpfbench compare OLD.o NEW.o"
			       : "`bpfbench report",
		    noisy && !again ? "" : results,
		    again      ? "`"
		    : learning ? "` (a verdict from two runs)"
		    : noisy    ? "` (in turns, which finds smaller changes)"
			       : "` (a page with the curves)");
}

static bool is_news(enum bb_history_mark mark)
{
	return mark == BB_HISTORY_SUSPECT || mark == BB_HISTORY_REGRESSED ||
	       mark == BB_HISTORY_IMPROVED;
}

void bb_doc_history_news(const struct bb_timeline *t, const struct bb_report *only,
			 struct bb_doc *d)
{
	static const char *const marks[] = {"regressed", "improved", "suspect",    "cannot tell",
					    "steady",    "learning", "not judged", "too noisy"};
	enum { LEARNING_MARK = 5 }; /* index of "learning" */
	size_t n[BB_LEN(marks)] = {0}, n_cases = 0, n_comparisons = 0;
	double noisy = 0; /* largest limit of the cases that are too noisy */
	/* largest number of runs of a case, and number of cases with too few runs */
	size_t most = 0, learning;

	for (size_t i = 0; i < t->n_cases; i++) {
		const struct bb_timeline_case *c = &t->cases[i];

		if (!is_in_overview(t, only, c))
			continue;
		n_cases++;
		most = c->n_points > most ? c->n_points : most;
		for (size_t k = 0; k < BB_LEN(marks); k++)
			n[k] += !strcmp(verdict_of(t, c), marks[k]);
		if (!strcmp(verdict_of(t, c), "too noisy"))
			noisy = fmax(noisy, expm1(bb_timeline__newest(t, c)->judged.limit));
	}
	bb_doc__add(d, BB_DOC_PARAGRAPH, NULL, "%zu case%s over %zu runs", n_cases,
		    bb_plural(n_cases), only ? bb_history_n_runs(t, only) : t->n_runs);
	if (!only)
		n_comparisons = BB_SUM(t->index.runs, t->index.n_runs, it->is_comparison);
	if (n_comparisons)
		bb_doc__append(d, " (without %zu comparison%s)", n_comparisons,
			       bb_plural(n_comparisons));
	learning = n[LEARNING_MARK];
	if (learning == n_cases) {
		bb_doc__append(d,
			       "; none is judged yet: each needs %zu runs, and the most so far is "
			       "%zu",
			       t->window_min + 1, most);
		return;
	}
	for (size_t k = 0; k < BB_LEN(marks); k++)
		if (n[k] || k < 2)
			bb_doc__append(d, "%s %zu %s", k ? "," : ":", n[k], marks[k]);
	if (noisy > 0)
		bb_doc__append(d, " (changes under %.0f %% stay unseen)", 100 * noisy);
	if (learning)
		bb_doc__append(d, " (they need %zu runs)", t->window_min + 1);
	for (size_t i = 0; i < t->n_cases; i++)
		if (is_in_overview(t, only, &t->cases[i]) &&
		    is_news(bb_timeline__mark(t, &t->cases[i])))
			add_news(t, &t->cases[i], d);
}

#define LEARNING_ROWS 12u /* if no case can be judged yet, at most this many rows are shown */

/* The kinds of rows, in the order of the table: changed cases, unchanged cases, cases with too few
 * runs to be judged, and unchanged cases of a sweep (a parameter with many values). NO_ROW is for
 * cases that are not shown. */
enum rank { NEWS, SINGLE, LEARNING, SWEPT, NO_ROW };

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
	if (!is_in_overview(t, only, c) || (only && c->n_points < 2))
		return NO_ROW;
	if (is_news(bb_timeline__mark(t, c)))
		return NEWS;
	if (is_swept(t, c))
		return SWEPT;
	return !only && bb_timeline__mark(t, c) == BB_HISTORY_LEARNING ? LEARNING : SINGLE;
}

/* Adds the row of a case. With `has_by`, the row names the figure by which the case is judged. With
 * `has_mark`, the row has the verdict. */
static void add_row(const struct bb_timeline *t, const struct bb_timeline_case *c, bool has_by,
		    bool has_mark, struct bb_doc *d)
{
	const struct bb_timeline_point *p = bb_timeline__newest(t, c);
	struct bb_estimate e = p ? p->of->figure[BB_BY_LATENCY]
				 : (struct bb_estimate){NAN, NAN, NAN};
	double half = bb_estimate__half(&e);
	bool is_judged = p && p->judged.mark != BB_HISTORY_LEARNING;

	bb_doc__text_cell(d, c->of->name);
	bb_doc__table_cell(d, bb_table_cell_time(e.value, e.value));
	bb_doc__cell_if(d, isfinite(half), "+-%s", bb_table_cell_time(half, e.value).text);
	bb_doc__table_cell(d, cell_of("%+.2f", p ? 100 * bb_timeline__change(c, p) : (double)NAN));
	bb_doc__table_cell(d, cell_of("%.2f", p ? 100 * expm1(p->judged.limit) : (double)NAN));
	bb_doc__text_cell(d, is_judged && has_by ? bb_predictor_name(c->by) : NULL);
	bb_doc__cell(d, "%zu", c->n_points);
	bb_doc__text_cell(d, has_mark ? verdict_of(t, c) : NULL);
}

/* Returns the figure by which all cases in the table are judged. Returns BB_N_PREDICTORS if they
 * are judged by different figures, and BB_BY_LATENCY if there are no cases. */
static enum bb_predictor only_predictor(const struct bb_timeline *t, const struct bb_report *only)
{
	const struct bb_timeline_case *first = NULL;

	for (size_t i = 0; i < t->n_cases; i++) {
		const struct bb_timeline_case *c = &t->cases[i];
		enum rank rank = rank_of(t, c, only);

		if (rank == LEARNING || rank == NO_ROW || (rank == SWEPT && !only))
			continue;
		if (first && first->by != c->by)
			return BB_N_PREDICTORS;
		first = c;
	}
	return first ? first->by : BB_BY_LATENCY;
}

void bb_doc_history(const struct bb_timeline *t, const struct bb_report *only, const char *results,
		    struct bb_doc *d)
{
	static const char *const change_docs[] = {
		[BB_BY_LATENCY] = "from the median of the runs before",
		[BB_BY_RATIO] = "of the ratio to the empty program, from the median of the runs "
				"before",
		[BB_BY_RELATIVE] = "of the latency in pieces of the reference, from the median of "
				   "the runs before",
		[BB_N_PREDICTORS] = "from the median of the runs before, by the figure in By",
	};
	enum bb_predictor by = only_predictor(t, only);
	bool has_judged = BB_ANY(t->cases, t->n_cases, rank_of(t, it, only) < LEARNING);
	const struct bb_doc_column columns[] = {
		{BB_TEXT("Case")},
		{BB_NUMBER("Latency, ns")},
		{BB_TEXT("+-"), .close = true, .drop = 1, .doc = "95 % interval of the latest run"},
		{BB_NUMBER("Change %"), .doc = change_docs[by]},
		{BB_NUMBER("Limit %"), .doc = "a smaller change stays unseen"},
		{BB_TEXT("By"), .drop = 2,
		 .doc = "latency; ratio to the empty program; or relative to a reference piece of "
			"work"},
		{BB_NUMBER("Runs")},
		{BB_VERDICT("Mark"), .doc = has_judged ? "too noisy: limit above 10 %; suspect: "
							 "one run beyond its limit; regressed, "
							 "improved: two"
						       : NULL},
	};
	size_t n = 0, left_out = 0, learning = 0;

	bb_doc__table(d, columns, BB_LEN(columns));
	for (enum rank rank = NEWS; rank < NO_ROW; rank++)
		for (size_t i = 0; i < t->n_cases; i++) {
			if (rank_of(t, &t->cases[i], only) != rank)
				continue;
			/* cases that cannot be judged yet would take the room of other cases */
			if (rank == LEARNING && (has_judged || n >= LEARNING_ROWS)) {
				learning++;
				continue;
			}
			if (n >= BB_HISTORY_ROWS || (rank == SWEPT && !only)) {
				left_out++;
				continue;
			}
			n++;
			if (n == OPEN_ROWS + 1 && only) {
				bb_doc__add(d, BB_DOC_FOLD, NULL, "More");
				bb_doc__table(d, columns, BB_LEN(columns));
			}
			add_row(t, &t->cases[i], by == BB_N_PREDICTORS, has_judged, d);
		}
	if (n > OPEN_ROWS && only)
		bb_doc__add(d, BB_DOC_FOLD_END, NULL, "%s", "");
	if (left_out + learning)
		bb_doc__add(d, BB_DOC_CLOSING, NULL, "not shown: ");
	if (left_out)
		bb_doc__append(d, "%zu more cases without a change%s", left_out,
			       learning ? ", " : "");
	if (learning)
		bb_doc__append(d, "%zu more case%s%s", learning, bb_plural(learning),
			       has_judged ? " with too few runs" : "");
	if (only)
		return;
	bb_doc__add(d, BB_DOC_LEGEND, NULL, "%s", "");
	add_next(t, results, d);
}
