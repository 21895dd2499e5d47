/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/text.h"
#include "export/documents.h"

#define EXACT_ROWS 20u /* at most this many cases with different counts are shown */
/* A line whose count differs by more than this many instructions was changed. With a smaller
 * difference, code may only have moved from or to another line. */
#define MOVED 2.0
#define LEAST_INSNS 0.005 /* smaller differences in instructions per run come from rounding */
#define EXACT_LINES 5u    /* at most this many lines of a program with different counts are shown */
#define TIME_ROWS 20u     /* at most this many lines of a program with different times are shown */
/* above a table with more rows than this, sentences name the changed cases */
#define MANY_ROWS 16u
#define NAMED 4u      /* a sentence above a table names at most this many cases */
#define NEXT_LINES 3u /* the advice "next" names at most this many lines */
#define LARGE 9999.5  /* figures of at least this size have no decimals */
/* A and B have different units (ns, ms) only if one is at least this many times the other. */
#define FAR 10.0
/* advice never asks for more than this many times the present number of loads */
#define TIMES_MOST 60.0
#define SLOWER_LEAST 0.005 /* a smaller difference in the speed of the machine is not mentioned */

static struct bb_table_cell percent(double ratio)
{
	double percent = 100 * (ratio - 1);

	if (!isfinite(ratio))
		return (struct bb_table_cell){""};
	if (fabs(percent) < 0.005) /* so that it is not written as "-0.00" */
		percent = 0;
	return bb_table_cell_of(fabs(percent) < 99.995 ? "%+.2f" : "%+.4g", percent);
}

static struct bb_table_cell percents(double lo, double hi)
{
	if (!isfinite(lo) || !isfinite(hi))
		return (struct bb_table_cell){""};
	return bb_table_cell_of("[%s, %s]", percent(lo).text, percent(hi).text);
}

static const struct bb_comparison *find_comparison(const struct bb_report *r, const char *name)
{
	return r ? BB_FIND(r->comparisons, r->n_comparisons, bb_same_text(it->name, name)) : NULL;
}

/* The cells of A, of B and of their difference. B is printed as A plus the rounded difference, so
 * that the three figures agree. Its last digit may therefore differ from that in `show`. */
struct sum {
	struct bb_table_cell a, b, diff;
};

/* Makes the cells of A, of B and of their difference `shift`. B is A + `shift` or, if `shift` is
 * NAN, `b`. A figure that is NAN has an empty cell. The smaller of A and B sets the decimals of all
 * three. If only one of A and B is LARGE, each sets its own. With `whole`, there are none. */
static struct sum sum_of_ns(double a, double b, double shift, bool whole)
{
	double least = fmin(fabs(a), fabs(b)), most = fmax(fabs(a), fabs(b)), unit;
	bool is_large = most >= LARGE;
	int decimals = whole || is_large ? 0 : least < 9.995 ? 2 : least < 999.95 ? 1 : 0;
	struct sum sum = {{""}, {""}, {""}};

	unit = pow(10, -decimals);
	shift = round(shift / unit) * unit + 0.0; /* adding 0.0 turns -0 into 0 */
	if (isfinite(shift))
		sum.diff = bb_table_cell_of(shift != 0 ? "%+.*f" : "%.*f", decimals, shift);
	if (is_large && !whole && isfinite(a) && isfinite(b) && least < LARGE) {
		sum.a = bb_table_cell_value(a);
		sum.b = bb_table_cell_value(b);
		return sum;
	}
	a = round(a / unit) * unit + 0.0;
	if (isfinite(a))
		sum.a = bb_table_cell_of("%.*f", decimals, a);
	if (isfinite(shift))
		b = a + shift;
	if (isfinite(b))
		sum.b = bb_table_cell_of("%.*f", decimals, b);
	return sum;
}

static struct sum sum_of(const struct bb_diff *row)
{
	double least = fmin(fabs(row->a), fabs(row->b)), most = fmax(fabs(row->a), fabs(row->b));
	bool is_ms = !row->exact && bb_same_text(row->unit, "ns") && bb_is_shown_in_ms(most) &&
		     (bb_is_shown_in_ms(least) || most >= FAR * least);
	double scale = is_ms ? 1e6 : 1;
	struct sum s = sum_of_ns(row->a / scale, row->b / scale, row->shift / scale, row->exact);
	struct bb_table_cell *const cells[] = {&s.a, &s.b, &s.diff};
	const double ns[] = {row->a, row->b, row->shift};

	/* a figure of A or B below 1 ms stays in ns */
	for (size_t i = 0; is_ms && i < BB_LEN(cells); i++)
		if (isfinite(ns[i]))
			*cells[i] = i < 2 && !bb_is_shown_in_ms(ns[i])
					    ? bb_table_cell_value(ns[i])
					    : bb_table_cell_of("%.150s ms", cells[i]->text);
	return s;
}

/* Adds a table of the rows [first, end) of `diffs`: exact metrics or, without `exact`, measured
 * figures. `g` is NULL if the table is not part of a gate's report. */
static void add_table(const struct bb_diffs *diffs, size_t first, size_t end, bool exact,
		      const struct bb_doc_gate *g, struct bb_doc *d)
{
	bb_doc__columns(d, {BB_TEXT("Case")}, {BB_TEXT("Metric")}, {BB_NUMBER("A")},
			{BB_NUMBER("B")}, {BB_NUMBER("Diff")}, {BB_NUMBER("Diff %")},
			{BB_NUMBER("Interval %")}, {BB_VERDICT("Verdict")}, {BB_TEXT("Note")});
	for (size_t i = first; i < end; i++) {
		const struct bb_diff *row = &diffs->rows[i];
		const struct bb_comparison *c = NULL;
		const char *verdict = row->has_verdict ? bb_verdict_name(row->verdict)
				      : row->exact     ? row->shift > 0 ? "more" : "fewer"
						       : NULL;

		if (row->exact != exact || (!exact && g && !row->has_verdict))
			continue;
		struct sum sum = sum_of(row);
		if (g && row->has_verdict)
			c = find_comparison(g->first, row->name);
		if (c && bb_gate__verdict(c, g->again) == BB_GATE_UNCONFIRMED)
			verdict = "not confirmed";
		bb_doc__text_cell(d, row->name);
		bb_doc__cell(d, "%s%s%s", row->metric, row->exact ? "" : ", ",
			     row->exact ? "" : row->unit);
		bb_doc__table_cell(d, sum.a);
		bb_doc__table_cell(d, sum.b);
		bb_doc__table_cell(d, sum.diff);
		bb_doc__table_cell(d, percent(row->ratio));
		bb_doc__table_cell(d, percents(row->lo, row->hi));
		bb_doc__text_cell(d, verdict);
		if (row->lookups)
			bb_doc__cell(d, "%s (see below)%s%s", row->lookups, row->note ? "; " : "",
				     row->note ? row->note : "");
		else
			bb_doc__text_cell(d, row->note);
	}
}

static void add_diffs(const struct bb_diffs *diffs, size_t first, size_t end,
		      const struct bb_doc_gate *g, struct bb_doc *d)
{
	add_table(diffs, first, end, false, g, d);
	add_table(diffs, first, end, true, g, d);
}

/* Adds each reason why series do not count, only once. */
static void add_voids(const struct bb_diffs *diffs, struct bb_doc *d)
{
	size_t before = d->n;

	for (size_t i = 0; i < 2 * diffs->n; i++) {
		const char *why = diffs->rows[i / 2].void_why[i % 2];

		if (why && !BB_ANY(d->blocks + before, d->n - before, !strcmp(it->text, why)))
			bb_doc__add(d, BB_DOC_ITEM, "void", "%s", why);
	}
}

/* Adds the name of A or B, with its file and program if it has only one: "A: base: x.o, work". */
static void add_side(char side, const char *name, const struct bb_report *r, struct bb_doc *d)
{
	const struct bb_program *first = NULL;
	size_t n = 0, n_files = 0;

	for (size_t i = 0; r && i < r->n_programs; i++) {
		const struct bb_program *p = &r->programs[i];

		if (!bb_same_text(p->variant, name))
			continue;
		first = n++ ? first : p;
		n_files += n == 1 || !bb_same_text(p->object, first->object);
	}
	bb_doc__add(d, BB_DOC_PARAGRAPH, NULL, "%c: %s", side, name);
	if (n_files == 1)
		bb_doc__append(d, ": %s", first->object);
	if (n == 1)
		bb_doc__append(d, ", %s", first->program);
	if (r && BB_ANY(r->cases, r->n_cases, it->found && bb_same_text(it->variant, name)))
		bb_doc__append(d, "; with a " BB_FOUND_INPUT);
}

static void add_sides(struct bb_doc_sides sides, struct bb_doc *d)
{
	add_side('A', sides.a, sides.r, d);
	add_side('B', sides.b, sides.r, d);
}

static void add_machine(const struct bb_report *r, struct bb_doc *d)
{
	if (r)
		bb_doc__add(d, BB_DOC_FAINT, NULL, "kernel %s, %s", r->fingerprint.kernel_release,
			    r->fingerprint.cpu_model);
}

/* Adds advice to give `command`, or "the same" if that is NULL, again without `option`. */
static void add_without(const char *command, const char *option, const char *why, struct bb_doc *d)
{
	char *without = command ? bb_command_without(command, option) : NULL;

	bb_doc__add(d, BB_DOC_FAINT, "next", "%s%s` (%s)",
		    without ? "`sudo " : "the same without `", without ? without : option, why);
	free(without);
}

/* Names the cases that regressed or improved: "regressed: prog/step +5.04 % [+4.1, +6.0]". */
static void add_verdicts(const struct bb_diffs *diffs, struct bb_doc *d)
{
	static const enum bb_verdict changed[] = {BB_VERDICT_REGRESSED, BB_VERDICT_IMPROVED};

	for (size_t v = 0; v < BB_LEN(changed); v++) {
		size_t n = 0;

		for (size_t i = 0; i < diffs->n; i++) {
			const struct bb_diff *row = &diffs->rows[i];

			if (!row->has_verdict || row->verdict != changed[v] || n++ >= NAMED)
				continue;
			if (n == 1)
				bb_doc__add(d, v ? BB_DOC_PARAGRAPH : BB_DOC_BAD,
					    bb_verdict_name(changed[v]), "%s", "");
			bb_doc__append(d, "%s%s %s %% %s", n > 1 ? ", " : "", row->name,
				       percent(row->ratio).text, percents(row->lo, row->hi).text);
		}
		if (n > NAMED)
			bb_doc__append(d, ", and %zu more", n - NAMED);
	}
}

void bb_doc_diff(struct bb_diffs *diffs, struct bb_doc_sides sides, size_t open, struct bb_doc *d)
{
	const struct bb_report *r = sides.r;
	bool folded = open && diffs->n > open;
	bool has_verdict = !diffs->n || BB_ANY(diffs->rows, diffs->n, it->has_verdict);

	if (has_verdict)
		bb_doc__add(d, BB_DOC_PARAGRAPH, NULL,
			    "%zu regressed, %zu improved, %zu same, %zu inconclusive, at a "
			    "threshold of %g %%",
			    bb_diffs_count(diffs, BB_VERDICT_REGRESSED),
			    bb_diffs_count(diffs, BB_VERDICT_IMPROVED),
			    bb_diffs_count(diffs, BB_VERDICT_SAME),
			    bb_diffs_count(diffs, BB_VERDICT_INCONCLUSIVE), 100 * diffs->threshold);
	else
		bb_doc__add(d, BB_DOC_PARAGRAPH, NULL,
			    "no verdict: nothing is in both that could be judged");
	if (has_verdict && r && r->n_comparisons > 1) {
		size_t n = 0;

		/* if objects are compared, a name begins with the program's own scenario */
		for (size_t i = 0; i < r->n_comparisons; i++) {
			const struct bb_comparison *c = &r->comparisons[i];
			size_t len = strcspn(c->name, "/") + 1;

			n += !BB_ANY(r->comparisons, i,
				     !strcmp(it->base, c->base) &&
					     !strncmp(it->name, c->name, len));
		}
		bb_doc__append(d, "; %zu comparisons of %zu program%s", r->n_comparisons, n,
			       bb_plural(n));
	}
	for (size_t i = 0; r && i < r->n_skips; i++) {
		const char *what = r->skips[i].what, *slash = strchr(what, '/');

		what = slash ? slash + 1 : what;
		if (r->n_skips == 1)
			bb_doc__append(d, "; %s not measured: %s", what, r->skips[i].why);
		else
			bb_doc__add(d, BB_DOC_ITEM, "not measured", "%s: %s", what,
				    r->skips[i].why);
	}
	if (diffs->n > MANY_ROWS)
		add_verdicts(diffs, d);
	if (folded)
		bb_diff_sort(diffs, "verdict", NULL);
	add_diffs(diffs, 0, folded ? open : diffs->n, NULL, d);
	if (folded) {
		bb_doc__add(d, BB_DOC_FOLD, NULL, "%zu more", diffs->n - open);
		add_diffs(diffs, open, diffs->n, NULL, d);
		bb_doc__add(d, BB_DOC_FOLD_END, NULL, "%s", "");
	}
	add_voids(diffs, d);
	add_sides(sides, d);
}

static void add_count(struct bb_doc *d, const struct bb_counted_case *c)
{
	if (c->void_why || !c->runs)
		bb_doc__cell(d, "void");
	else if (c->least == c->most)
		bb_doc__number_cell(d, (double)c->least, BB_WHOLE);
	else
		bb_doc__cell(d, "%" PRIu64 " to %" PRIu64, c->least, c->most);
}

static void add_exact_row(const struct bb_exact_row *row, const struct bb_doc_gate *g,
			  struct bb_doc *d)
{
	const char *variant = strstr(row->name, "/head/");
	const char *verdict = bb_verdict_name(row->verdict);

	/* leave "head" out of "prog.work/head/exact", because the row is about base and head */
	bb_doc__cell(d, "%.*s%s", variant ? (int)(variant - row->name) : 0, row->name,
		     variant ? variant + strlen("/head") : row->name);
	add_count(d, row->a);
	add_count(d, row->b);
	bb_doc__cell_if(d, bb_counted_case__is_exact(row->a) && bb_counted_case__is_exact(row->b),
			"%+" PRId64, (int64_t)(row->b->least - row->a->least));
	if (g && row->verdict == BB_VERDICT_REGRESSED)
		switch (bb_gate__exact_verdict(g->gate, row)) {
		case BB_GATE_REGRESSED: break;
		case BB_GATE_UNCONFIRMED: verdict = "not confirmed"; break;
		case BB_GATE_NOT_REGRESSED: verdict = "more"; break;
		}
	bb_doc__text_cell(d, verdict);
}

/* Returns a name without "head", "exact" and "lines": "prog.work" for "prog.work/head/lines". */
static struct bb_table_cell short_name(const char *name)
{
	static const char *const drop[] = {"head", "exact", "lines"};
	struct bb_table_cell cell = {""};

	for (const char *part = name, *end; part; part = end) {
		part += *part == '/';
		end = strchr(part, '/');
		size_t len = end ? (size_t)(end - part) : strlen(part);
		if (!BB_ANY(drop, BB_LEN(drop), len == strlen(*it) && !memcmp(part, *it, len)))
			bb_list_words(cell.text, sizeof(cell.text), "/", "%.*s", (int)len, part);
	}
	return cell;
}

/* Adds the source lines that execute more or fewer instructions in B than in A. Without `all`, adds
 * at most EXACT_LINES, and none whose code only moved. */
static void add_exact_lines(const struct bb_exact_program *p, bool all, struct bb_doc *d)
{
	size_t n = 0, most = all ? SIZE_MAX : EXACT_LINES;
	/* counts per run are averages over runs and inputs, so they may need decimals */
	int decimals = 0;
	double moved = 0;

	/* if the small differences add up to 0, code has only moved from one line to another */
	for (size_t i = 0; i < p->n_lines; i++)
		moved += fabs(p->lines[i].more) <= MOVED ? p->lines[i].more : 0;
	bool no_moves = !all && fabs(moved) < LEAST_INSNS;
	for (size_t i = 0; i < p->n_lines && (all || i < EXACT_LINES); i++)
		if (fabs(p->lines[i].more - round(p->lines[i].more)) >= LEAST_INSNS)
			decimals = 2;
	for (size_t i = 0; i < p->n_lines; i++) {
		const struct bb_counted_line *l = p->lines[i].line;

		if ((no_moves && fabs(p->lines[i].more) <= MOVED) || n++ >= most)
			continue;
		if (n == 1)
			bb_doc__add(d, BB_DOC_PARAGRAPH, NULL,
				    "%s, instructions per run by source line:",
				    short_name(p->b->name).text);
		bb_doc__add(d, BB_DOC_CODE, NULL, "%+*.*f  %s", decimals ? 9 : 6, decimals,
			    p->lines[i].more, basename(l->file));
		if (l->line)
			bb_doc__append(d, ":%u  %s", l->line, l->text + strspn(l->text, " \t"));
		else
			bb_doc__append(d, "  (no source line)");
	}
	if (n > most)
		bb_doc__add(d, BB_DOC_ITEM, NULL,
			    "... and %zu line%s more (`compare OLD NEW --exact --details`)",
			    n - most, bb_plural(n - most));
}

void bb_doc_exact_diff(const struct bb_exact_diff *diff, struct bb_doc_sides sides, bool all,
		       const struct bb_doc_gate *g, struct bb_doc *d)
{
	size_t differ = diff->n_rows - bb_exact_diff__count(diff, BB_VERDICT_SAME), shown = 0;

	/* In a gate's report, add_gate_counts() has already written how many cases differ. */
	if (!g)
		bb_doc__add(d, BB_DOC_PARAGRAPH, NULL,
			    "%zu regressed, %zu improved, %zu same, %zu inconclusive",
			    bb_exact_diff__count(diff, BB_VERDICT_REGRESSED),
			    bb_exact_diff__count(diff, BB_VERDICT_IMPROVED),
			    bb_exact_diff__count(diff, BB_VERDICT_SAME),
			    bb_exact_diff__count(diff, BB_VERDICT_INCONCLUSIVE));
	if (diff->n_only_a || diff->n_only_b)
		bb_doc__append(d, "; not compared: %zu only in A, %zu only in B", diff->n_only_a,
			       diff->n_only_b);
	bb_doc__columns(d, {BB_TEXT("Case")}, {BB_NUMBER("A")}, {BB_NUMBER("B")},
			{BB_NUMBER("Diff")}, {BB_VERDICT("Verdict")});
	for (size_t i = 0; i < diff->n_rows && (all || shown < EXACT_ROWS); i++) {
		if (diff->rows[i].verdict == BB_VERDICT_SAME)
			continue;
		shown++;
		add_exact_row(&diff->rows[i], g, d);
	}
	if (differ > shown)
		bb_doc__add(d, BB_DOC_ITEM, NULL,
			    "... and %zu more that differ (`compare OLD NEW --exact --details`)",
			    differ - shown);
	for (size_t i = 0; i < diff->n_programs; i++)
		add_exact_lines(&diff->programs[i], all, d);
	if (!sides.a)
		return;
	bb_doc__add(d, BB_DOC_CLOSING, "A, B, Diff",
		    "instructions per run, those of helpers not counted");
	add_sides(sides, d);
	add_machine(sides.r, d);
	if (bb_exact_diff__count(diff, BB_VERDICT_REGRESSED) && sides.r && sides.r->command &&
	    !strstr(sides.r->command, "--fail-on"))
		bb_doc__add(d, BB_DOC_FAINT, "exit code 3",
			    "with --exact always, if a program executes more instructions");
	if (differ)
		add_without(sides.r ? sides.r->command : NULL, "--exact", "whether it takes longer",
			    d);
	else
		bb_doc__add(d, BB_DOC_FAINT, "next", "nothing has to be done");
}

static const char *line_verdict(const struct bb_time_diff_row *r)
{
	if (!r->a && r->verdict == BB_VERDICT_REGRESSED)
		return "new";
	if (!r->b && r->verdict == BB_VERDICT_IMPROVED)
		return "gone";
	return bb_verdict_name(r->verdict);
}

/* Adds the number of lines with each verdict: "19 lines of prog.bpf.c: 17 same, 1 new, 1 gone".
 * Returns how many are inconclusive. */
static size_t add_counts(const struct bb_time_diff_case *c, const char *file, struct bb_doc *d)
{
	static const char *const verdicts[] = {"same", "regressed", "improved",
					       "new",  "gone",      "inconclusive"};
	size_t n_kinds = 0, n = 0;

	bb_doc__add(d, BB_DOC_PARAGRAPH, NULL, "%zu line%s%s%s: ", c->n_rows, bb_plural(c->n_rows),
		    *file ? " of " : "", basename(file));
	for (size_t k = 0; k < BB_LEN(verdicts); k++) {
		n = BB_SUM(c->rows, c->n_rows, !strcmp(line_verdict(it), verdicts[k]));
		if (n)
			bb_doc__append(d, "%s%zu %s", n_kinds++ ? ", " : "", n, verdicts[k]);
	}
	return n;
}

static struct bb_table_cell signed_value(double ns)
{
	return bb_table_cell_of("%s%s", ns < 0 ? "-" : "+", bb_table_cell_value(fabs(ns)).text);
}

/* Adds a sentence about the lines that the table above does not show. */
static void add_sentence(const struct bb_time_diff_case *c, struct bb_doc *d)
{
	bool is_new = BB_ANY(c->rows, c->n_rows, !it->a && it->verdict == BB_VERDICT_REGRESSED);
	bool is_shorter = BB_ANY(c->rows, c->n_rows,
				 it->a && it->b && it->verdict == BB_VERDICT_IMPROVED);
	size_t n = BB_SUM(c->rows, c->n_rows, bb_time_diff_row__differs(it));
	size_t same = BB_SUM(c->rows, c->n_rows, it->verdict == BB_VERDICT_SAME);

	if (n > TIME_ROWS)
		bb_doc__add(d, BB_DOC_PARAGRAPH, NULL,
			    "%zu more lines differ (`compare OLD NEW --time --details`)",
			    n - TIME_ROWS);
	else if (c->n_loads >= c->needs_loads &&
		 (!n || n + same < c->n_rows || (is_new && is_shorter)))
		bb_doc__add(d, BB_DOC_PARAGRAPH, NULL, "%s",
			    n ? "no difference was found in the other lines"
			    : c->whole.more.lo > 0 || c->whole.more.hi < 0
				    ? "the program as a whole differs, but no difference was found "
				      "in a single line"
				    : "no difference was found in any line");
	if (is_new && is_shorter)
		bb_doc__append(d, "; a new line may hide work of the lines beside it: read them "
				  "together");
}

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

/* Returns the source file of all rows. Returns "" if the program has no line information, and NULL
 * if the rows are in several files. */
static const char *only_file(const struct bb_time_diff_case *c)
{
	const char *only = NULL;

	for (size_t i = 0; i < c->n_rows; i++) {
		const char *file = c->rows[i].b ? c->rows[i].b->file : c->rows[i].a->file;

		if (only && strcmp(only, file))
			return NULL;
		only = file;
	}
	return only;
}

/* True if the cell of the row need not name the row's call: its source text has the name, and no
 * other row is of the same line. */
static bool names_call(const struct bb_time_diff_case *c, const struct bb_timed_row *row)
{
	for (size_t i = 0; i < c->n_rows; i++) {
		const struct bb_timed_row *other = c->rows[i].b ? c->rows[i].b : c->rows[i].a;

		if (other != row && other->line == row->line && !strcmp(other->file, row->file))
			return false;
	}
	return strstr(row->text, row->call) != NULL;
}

static void add_time_rows(const struct bb_time_diff_case *c, bool all, struct bb_doc *d)
{
	const char *only = only_file(c);
	double rest = c->whole.more.value;
	size_t shown = 0;

	bb_doc__columns(d, {BB_NUMBER("A")}, {BB_NUMBER("B")}, {BB_NUMBER("Diff")},
			{BB_NUMBER("Interval")}, {BB_VERDICT("Verdict")}, {BB_NUMBER("line")},
			{BB_CODE("source")});
	for (size_t i = 0; i < c->n_rows && (all || shown < TIME_ROWS); i++) {
		const struct bb_time_diff_row *r = &c->rows[i];
		const struct bb_timed_row *row = r->b ? r->b : r->a;
		struct sum sum = sum_of_ns(r->a_ns, r->b_ns, r->more.value, false);
		/* below BB_BY_LINE_LEAST_NS, times and their difference are only noise */
		bool is_tiny = fmax(fabs(r->a_ns), fabs(r->b_ns)) < BB_BY_LINE_LEAST_NS;
		bool both = r->a && r->b && !is_tiny;
		const char *call;

		/* show a line whose interval excludes 0, even if the threshold may be larger */
		if (!all && !bb_time_diff_row__differs(r) &&
		    (r->verdict != BB_VERDICT_INCONCLUSIVE || !(r->more.lo > 0 || r->more.hi < 0) ||
		     fabs(fmax(r->b_ns, 0) - fmax(r->a_ns, 0)) < BB_BY_LINE_LEAST_NS))
			continue;
		rest -= r->more.value;
		shown++;
		if (both) {
			bb_doc__table_cell(d, sum.a);
			bb_doc__table_cell(d, sum.b);
		} else {
			bb_doc_line_ns(r->a ? r->a_ns : NAN, BB_BY_LINE_LEAST_NS, d);
			bb_doc_line_ns(r->b ? r->b_ns : NAN, BB_BY_LINE_LEAST_NS, d);
		}
		bb_doc__cell_if(d, !is_tiny, "%s",
				both ? sum.diff.text : signed_value(r->more.value).text);
		bb_doc__cell_if(d, !is_tiny && !isnan(r->more.lo), "[%s, %s]",
				signed_value(r->more.lo).text, signed_value(r->more.hi).text);
		bb_doc__text_cell(d, line_verdict(r));
		bb_doc__cell(d, "%s%s%u", only ? "" : basename(row->file), only ? "" : ":",
			     row->line ? row->line : row->insn);
		call = names_call(c, row) ? "" : row->call;
		bb_doc__cell(d, "%.100s%s%.100s", call, *call ? ": " : "", row->text);
	}
	if (!shown || fabs(rest) < BB_BY_LINE_LEAST_NS)
		return;
	bb_doc__text_cell(d, NULL);
	bb_doc__text_cell(d, NULL);
	bb_doc__text_cell(d, signed_value(rest).text);
	for (size_t i = 3; i < d->blocks[d->n - 1].n_columns - 1; i++)
		bb_doc__text_cell(d, NULL);
	bb_doc__text_cell(d, "(all other lines, and the call)");
}

/* Appends advice on how to decide the `n` inconclusive lines. */
static void add_next_step(const struct bb_time_diff_case *c, const struct bb_time_diff *diff,
			  size_t n, struct bb_doc *d)
{
	if (c->n_loads < c->needs_loads) {
		bb_doc__append(d, "; only %zu load%s of the %zu that a verdict on a line takes",
			       c->n_loads, bb_plural(c->n_loads), c->needs_loads);
		return;
	}
	if (isnan(c->times))
		return;
	bb_doc__append(d, " (+-%s ns)", bb_table_cell_value(c->half_ns).text);
	if (isinf(c->times)) {
		bb_doc__append(d, ": the difference is about as large as what matters; a larger "
				  "--threshold decides");
	} else if (c->times > TIMES_MOST) {
		bb_doc__append(d, ": this machine takes too long to decide");
	} else {
		if (diff->option)
			bb_doc__append(d, ": %s %.0f", diff->option, ceil(diff->amount * c->times));
		else
			bb_doc__append(d, ": %.2g times the loads", c->times);
		bb_doc__append(d, " should decide %s", n == 1 ? "it" : "half of them");
	}
}

void bb_doc_time_diff(const struct bb_time_diff *diff, struct bb_doc_sides sides, bool all,
		      struct bb_doc *d)
{
	/* the verdicts: "prog, time by line: regressed, A 160.8 ns a run, B 168.9 ns, +5.04 %" */
	for (size_t i = 0; i < diff->n_cases; i++) {
		const struct bb_time_diff_case *c = &diff->cases[i];
		const struct bb_time_diff_row *w = &c->whole;
		struct sum sum = sum_of_ns(w->a_ns, w->b_ns, w->more.value, false);

		bb_doc__add(d, w->verdict == BB_VERDICT_REGRESSED ? BB_DOC_BAD : BB_DOC_PARAGRAPH,
			    bb_table_cell_of("%s, time by line", short_name(c->b->name).text).text,
			    "%s, A %s ns a run, B %s ns, %s %%, %s ns", bb_verdict_name(w->verdict),
			    sum.a.text, sum.b.text, percent(w->b_ns / w->a_ns).text, sum.diff.text);
		if (isnan(w->more.lo))
			bb_doc__append(d, ", too few loads for an interval");
		else
			bb_doc__append(d, " [%s, %s]", signed_value(w->more.lo).text,
				       signed_value(w->more.hi).text);
		if (c->lookups)
			bb_doc__append(d, "; %s (see below)", c->lookups);
		if (c->note)
			bb_doc__add(d, BB_DOC_ITEM, NULL, "%s", c->note);
	}
	for (size_t i = 0; i < diff->n_cases; i++) {
		const struct bb_time_diff_case *c = &diff->cases[i];
		const char *file = only_file(c);

		if (diff->n_cases > 1)
			bb_doc__add(d, BB_DOC_TITLE, NULL, "%s", short_name(c->b->name).text);
		add_next_step(c, diff, add_counts(c, file ? file : "", d), d);
		add_speed(c, d);
		add_time_rows(c, all, d);
		add_sentence(c, d);
	}
	if (!sides.a)
		return;
	if (sides.r)
		bb_doc_in_vain_of_both(sides.r, d);
	bb_doc__add(d, BB_DOC_CLOSING, "A, B, Diff",
		    "ns a run; Interval and [ ]: 95 %% interval of Diff. Lines are timed apart, so "
		    "they need not add up; theirs hold for all of them at once");
	add_sides(sides, d);
	add_machine(sides.r, d);
}

/* Appends the first regressed or new lines, "prog.c:12, ...". Returns the number of such lines. */
static size_t append_regressed(const struct bb_time_diff *diff, struct bb_doc *d)
{
	size_t n = 0;

	for (size_t i = 0; i < diff->n_cases; i++)
		for (size_t k = 0; k < diff->cases[i].n_rows; k++) {
			const struct bb_time_diff_row *r = &diff->cases[i].rows[k];
			const struct bb_timed_row *row = r->b ? r->b : r->a;

			if (r->verdict != BB_VERDICT_REGRESSED || n++ >= NEXT_LINES)
				continue;
			if (row->line && row->file && row->file[0])
				bb_doc__append(d, "%s%s:%u", n > 1 ? ", " : "", basename(row->file),
					       row->line);
			else
				bb_doc__append(d, "%s%s %u", n > 1 ? ", " : "",
					       row->line ? "line" : "instruction",
					       row->line ? row->line : row->insn);
		}
	bb_doc__append(d, "%s", n > NEXT_LINES ? ", ..." : "");
	return n;
}

void bb_doc_time_diff_next(const struct bb_time_diff *diff, const char *command, struct bb_doc *d)
{
	bool has_regressed = bb_time_diff__count(diff, BB_VERDICT_REGRESSED);
	char *again = command ? bb_command_with(command, "--time") : NULL;
	double times = 1;

	if (has_regressed) {
		bb_doc__add(d, BB_DOC_FAINT, "next", "look at ");
		append_regressed(diff, d);
		bb_doc__append(d,
			       again ? "; after a change `sudo %s`"
				     : "; after a change the same again",
			       again);
	}
	for (size_t i = 0; i < diff->n_cases; i++)
		times = fmax(times, (double)diff->cases[i].needs_loads /
					    fmax((double)diff->cases[i].n_loads, 1));
	if (times > 1 && diff->option)
		bb_doc__again(d, BB_DOC_FAINT, has_regressed ? "also" : "next", command,
			      bb_table_cell_of("%s %.0f", diff->option,
					       ceil(BB_SPARE * diff->amount * times))
				      .text,
			      "enough loads for a verdict on each line");
	else if (!has_regressed)
		add_without(command, "--time", "a verdict on the program as a whole", d);
	free(again);
}

void bb_doc_gate_headline(enum bb_exit code, struct bb_doc *d)
{
	bb_doc__add(d, BB_DOC_HEADLINE, NULL,
		    "bpfbench gate: %s (exit code %d): ", code ? "FAILED" : "passed", code);
}

static void add_headline(const struct bb_doc_gate *v, struct bb_doc *d)
{
	static const enum bb_verdict passing[] = {BB_VERDICT_IMPROVED, BB_VERDICT_SAME,
						  BB_VERDICT_INCONCLUSIVE};
	const struct bb_gate *g = v->gate;
	const struct bb_report *first = v->first;
	size_t regressed = bb_gate__count(first, v->again, BB_GATE_REGRESSED);
	size_t unconfirmed = bb_gate__count(first, v->again, BB_GATE_UNCONFIRMED);
	size_t more = bb_gate__count_exact(g, BB_GATE_REGRESSED);
	size_t complex = bb_gate__count_complex(g, first);

	bb_doc_gate_headline(bb_gate__exit(g, first, v->again), d);
	if (regressed)
		bb_doc__append(d, "%zu of %zu comparisons regressed", regressed,
			       first->n_comparisons);
	if (more)
		bb_doc__append(d, "%s%zu of %zu cases execute more instructions",
			       regressed ? ", " : "", more, g->counted.n_rows);
	if (complex)
		bb_doc__append(d, "%s%zu of %zu programs fail by the verifier's figures",
			       regressed || more ? ", " : "", complex, g->n_programs);
	if (!regressed && !more && !complex)
		bb_doc__append(d, "%s",
			       bb_gate__any(g, BB_GATE_FAILED) ? "a program does not load any more"
			       : first->n_comparisons          ? "no regression"
							       : "nothing to compare");
	for (size_t i = 0; i < BB_LEN(passing); i++)
		if (bb_report__count_verdict(first, passing[i]))
			bb_doc__append(d, ", %zu %s", bb_report__count_verdict(first, passing[i]),
				       bb_verdict_name(passing[i]));
	if (unconfirmed)
		bb_doc__append(d, ", %zu regressed at first, but not when measured again",
			       unconfirmed);
}

static void add_revision(const char *label, const char *name, const char *commit, const char *more,
			 const char *made, struct bb_doc *d)
{
	bb_doc__add(d, BB_DOC_ITEM, NULL, "%s: %s (%.12s%s)", label, name ? name : "the work tree",
		    commit, more);
	if (made)
		bb_doc__append(d, ", built by '%s'", made);
}

void bb_doc_gate_revisions(const struct bb_gate *g, struct bb_doc *d)
{
	add_revision("A: base", g->base, g->base_commit, "", g->base_made, d);
	add_revision("B: head", g->head, g->head_commit, g->dirty ? " and uncommitted changes" : "",
		     g->head_made, d);
}

static void add_regressed(const struct bb_doc_gate *v, const struct bb_diffs *diffs,
			  struct bb_doc *d)
{
	const struct bb_gate *g = v->gate;

	for (size_t i = 0; i < v->first->n_comparisons; i++) {
		const struct bb_comparison *c = &v->first->comparisons[i];
		const struct bb_estimate *again;

		if (bb_gate__verdict(c, v->again) != BB_GATE_REGRESSED)
			continue;
		again = &find_comparison(v->again, c->name)->ratio;
		bb_doc__add(d, BB_DOC_BAD_ITEM, c->name, "%s %% %s, measured again: %s %% %s",
			    percent(c->ratio.value).text, percents(c->ratio.lo, c->ratio.hi).text,
			    percent(again->value).text, percents(again->lo, again->hi).text);
		for (size_t p = 0; p < g->n_programs; p++)
			if (bb_gate__owns(&g->programs[p], c->name) &&
			    !BB_ANY(diffs->rows, diffs->n,
				    it->exact && bb_same_text(it->name, g->programs[p].label)))
				bb_doc__append(d, "; no exact metric of the program moved: look at "
						  "the contents of its maps and at the functions "
						  "that it calls");
	}
}

/* Advises values of `--each` and `--budget` that should decide the inconclusive comparisons. Adds
 * nothing if they are unknown. `is_first` is true if the report has no other advice. */
static void add_longer(const struct bb_doc_gate *v, bool is_first, struct bb_doc *d)
{
	const struct bb_gate *g = v->gate;
	double want_s = bb_budget_to_decide(v->first), each_s = fmax(want_s, g->each_s), n = 0;
	/* the budget that is needed, s: the time spent so far and, for each program, twice each_s.
	 * The first measurement gets only half of the budget. */
	double needs_s = g->spent_s;
	bool needs_each = want_s > g->each_s, needs_budget;
	size_t late = 0;

	for (size_t i = 0; i < g->n_programs; i++) {
		late += g->programs[i].is_late;
		n += g->programs[i].state == BB_GATE_COMPARED || g->programs[i].is_late;
	}
	needs_s += 2 * n * each_s;
	needs_budget = g->budget_s > 0 && needs_s > g->budget_s;
	if ((!(want_s > 0) && !late) || (!needs_each && !needs_budget))
		return;
	bb_doc__add(d, BB_DOC_FAINT, is_first ? "next" : "then",
		    "%sa verdict on what %s: the same with ",
		    is_first ? "nothing has to be done; " : "",
		    !late        ? "is inconclusive"
		    : want_s > 0 ? "is inconclusive or had no time"
				 : "had no time");
	if (needs_each)
		bb_doc__append(d, "`--each %.0f`", want_s);
	if (needs_budget)
		bb_doc__append(d, "%s`--budget %.0f`", needs_each ? " and " : "", ceil(needs_s));
}

/* Returns the name of a case or program that makes the gate fail although nothing became slower. It
 * executes more instructions, does not load, or exceeds a limit of verified instructions. */
static struct bb_table_cell what_fails(const struct bb_doc_gate *v)
{
	const struct bb_gate *g = v->gate;
	const struct bb_exact_row *row = BB_FIND(g->counted.rows, g->counted.n_rows,
						 bb_gate__exact_verdict(g, it) ==
							 BB_GATE_REGRESSED);

	if (row)
		return short_name(row->name);
	for (size_t i = 0; i < g->n_programs; i++) {
		const struct bb_gate_program *p = &g->programs[i];
		struct bb_gate_verified n = bb_gate__verified(g, p, v->first);

		if (p->state == BB_GATE_FAILED || n.too_many || n.grew)
			return bb_table_cell_of("%.150s", p->label);
	}
	return bb_table_cell_of("it");
}

static void add_gate_next(const struct bb_doc_gate *v, struct bb_doc *d)
{
	const struct bb_report *first = v->first;
	const struct bb_comparison *worst = NULL;
	size_t before = d->n;

	for (size_t i = 0; i < first->n_comparisons; i++) {
		const struct bb_comparison *c = &first->comparisons[i];

		if (bb_gate__verdict(c, v->again) == BB_GATE_REGRESSED &&
		    (!worst || c->ratio.hi > worst->ratio.hi))
			worst = c;
	}
	if (worst) {
		bb_doc__add(d, BB_DOC_FAINT, "next", "mend ");
		if (!append_regressed(&v->gate->timed, d))
			bb_doc__append(d, "%.*s", (int)strcspn(worst->name, "/"), worst->name);
		bb_doc__append(d,
			       ", then the same again; if the slowdown is wanted: the same with "
			       "`--threshold %.0f`, which accepts as much",
			       ceil(100 * (worst->ratio.hi - 1)));
	} else if (bb_gate__exit(v->gate, first, v->again)) {
		bb_doc__add(d, BB_DOC_FAINT, "next", "mend %s, then the same again",
			    what_fails(v).text);
	}
	add_longer(v, d->n == before, d);
	if (d->n == before)
		bb_doc__add(d, BB_DOC_FAINT, "next", "nothing has to be done%s",
			    v->gate->counted.n_rows && !v->gate->exact ? "; the same with --exact "
									 "also fails on one "
									 "instruction more"
								       : "");
}

void bb_doc_gate_verified(const struct bb_gate *g, const struct bb_gate_verified *v,
			  const char *before, struct bb_doc *d)
{
	if (!v->too_many && !v->grew)
		return;
	bb_doc__append(d, "%sverified instructions: ", before);
	/* NAN if base does not have the program, or cannot load it */
	if (isfinite(v->insns[0]))
		bb_doc__append(d, "%.0f to ", v->insns[0]);
	bb_doc__append(d, "%.0f, %.1f %% of the limit", v->insns[1],
		       100 * v->insns[1] / BB_VERIFIER_LIMIT);
	if (v->too_many)
		bb_doc__append(d, "; more than %g %% (--complexity)", 100 * g->complexity);
	if (v->grew)
		bb_doc__append(d, "; grew by more than %g %% (--grow)", 100 * g->grow);
}

static void add_complex(const struct bb_doc_gate *v, struct bb_doc *d)
{
	const struct bb_gate *g = v->gate;

	for (size_t i = 0; i < g->n_programs; i++) {
		struct bb_gate_verified n = bb_gate__verified(g, &g->programs[i], v->first);

		if (!n.too_many && !n.grew)
			continue;
		bb_doc__add(d, BB_DOC_BAD_ITEM, g->programs[i].label, "%s", "");
		bb_doc_gate_verified(g, &n, "", d);
	}
}

void bb_doc_gate_others(const struct bb_gate *g, struct bb_doc *d)
{
	static const char *const words[] = {
		[BB_GATE_COMPARED] = "renamed",
		[BB_GATE_SAME] = "the same bytes in both, not measured",
		[BB_GATE_NEW] = "new in head",
		[BB_GATE_GONE] = "gone from head",
		[BB_GATE_SKIPPED] = "not compared",
		[BB_GATE_FAILED] = "head does not load, base does",
	};

	for (size_t i = 0; i < g->n_programs; i++) {
		const struct bb_gate_program *p = &g->programs[i];

		if (p->state == BB_GATE_COMPARED && !p->why)
			continue;
		bb_doc__add(d, p->state == BB_GATE_FAILED ? BB_DOC_BAD_ITEM : BB_DOC_ITEM, NULL,
			    "%s%s%s: %s%s%s", p->object, p->program ? ", " : "",
			    p->program ? p->program : "", words[p->state], p->why ? ": " : "",
			    p->why ? p->why : "");
	}
}

static void add_gate_counts(const struct bb_doc_gate *v, struct bb_doc *d)
{
	const struct bb_exact_diff *counted = &v->gate->counted;
	const struct bb_exact_row *row = counted->rows;
	size_t differ = counted->n_rows - bb_exact_diff__count(counted, BB_VERDICT_SAME);
	const char *remark = differ && !v->gate->exact ? " (for information; with --exact, more "
							 "fails)"
						       : "";

	/* one sentence says all about a single case that has exact counts and no verdict */
	if (counted->n_rows == 1 && !v->gate->exact && row->verdict != BB_VERDICT_SAME &&
	    bb_counted_case__is_exact(row->a) && bb_counted_case__is_exact(row->b)) {
		uint64_t a = row->a->least, b = row->b->least;

		bb_doc__add(d, BB_DOC_PARAGRAPH, NULL,
			    "Executed instructions per run: A %" PRIu64 ", B %" PRIu64 ", %+" PRId64
			    "%s",
			    a, b, (int64_t)(b - a), remark);
		for (size_t i = 0; i < counted->n_programs; i++)
			add_exact_lines(&counted->programs[i], false, d);
	} else if (counted->n_rows) {
		bb_doc__add(d, BB_DOC_PARAGRAPH, NULL,
			    "Executed instructions per run: %zu of %zu cases differ%s", differ,
			    counted->n_rows, remark);
		if (differ)
			bb_doc_exact_diff(counted, (struct bb_doc_sides){0}, false, v, d);
	}
}

void bb_doc_gate(const struct bb_doc_gate *v, struct bb_doc *d)
{
	const struct bb_gate *g = v->gate;
	const struct bb_report *first = v->first;
	struct bb_diffs diffs = {0};

	bb_diff_comparisons(first, 0, first->n_comparisons, &diffs);
	add_headline(v, d);
	add_regressed(v, &diffs, d);
	add_complex(v, d);
	bb_doc_gate_revisions(g, d);
	add_diffs(&diffs, 0, diffs.n, v, d);
	add_voids(&diffs, d);
	bb_doc_in_vain(first, NULL, d);
	bb_doc_time_diff(&g->timed, (struct bb_doc_sides){0}, false, d);
	add_gate_counts(v, d);
	bb_doc_gate_others(g, d);
	/* Add the drives that were skipped for a program that another drive compared. */
	for (size_t i = 0; i < first->n_skips; i++)
		if (BB_ANY(g->programs, g->n_programs,
			   it->state == BB_GATE_COMPARED &&
				   bb_gate__owns(it, first->skips[i].what)))
			bb_doc__add(d, BB_DOC_ITEM, "skipped", "%s: %s", first->skips[i].what,
				    first->skips[i].why);
	if (first->n_comparisons) {
		bb_doc__add(d, BB_DOC_CLOSING, NULL,
			    "fails: a slowdown above %g %% in two measurements; Interval: 95 %% "
			    "interval",
			    100 * g->threshold);
		bb_doc_drive_key(first, d);
		add_machine(first, d);
	}
	add_gate_next(v, d);
	bb_diffs__done(&diffs);
}
