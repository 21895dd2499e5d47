/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/text.h"
#include "core/drive_kind.h"
#include "export/documents.h"
#include "judge/repeats.h"
#include "stats/quantile.h"

/* for a table of at least this many programs, a sentence names the cheapest and the dearest one */
#define MANY_PROGRAMS 4u
/* A short table with more cases than this shows MOST_ROWS / 2 of them: those with the most net
 * cost. */
#define MOST_ROWS 60u
/* a sentence has the counts of at most this many programs */
#define MOST_COUNTS 20u

bool bb_is_first_of_table(const struct bb_report *r, size_t i)
{
	return !BB_ANY(r->cases, i, bb_same_table(it, &r->cases[i])) && !bb_is_sweep(r, i);
}

static struct bb_table_cell unit_of(const struct bb_report *r, const struct bb_case *c)
{
	return bb_table_cell_of("(%s)", bb_counts_instructions(r)
						? "machine instructions per run"
						: bb_drive_kind_named(c->drive)->sample.unit);
}

void bb_doc_group_title(const struct bb_case *c, bool with_value, const char *after,
			struct bb_doc *d)
{
	bb_doc__add(d, BB_DOC_TITLE, NULL, "%s", c->scenario);
	if (strcmp(c->scenario, c->drive))
		bb_doc__append(d, ", %s", c->drive);
	if (c->param && with_value)
		bb_doc__append(d, ", %s = %s", c->param, c->param_text);
	else if (c->param)
		bb_doc__append(d, ", over %s", c->param);
	bb_doc__append(d, "%s%s", *after ? " " : "", after);
}

bool bb_is_of_values(const struct bb_report *r, size_t of)
{
	const struct bb_case *c = &r->cases[of];

	return BB_ANY(r->cases, r->n_cases, bb_same_group(it, c) && !bb_same_table(it, c)) &&
	       !bb_is_sweep(r, of);
}

bool bb_is_first_of_group(const struct bb_report *r, size_t i)
{
	return !BB_ANY(r->cases, i, bb_same_group(it, &r->cases[i]));
}

/* Appends what makes the programs run in the table that begins with case `first`: ", by a test run
 * on a packet of 64 bytes, hot caches". `same` tells which cases are in the table. Returns true if
 * that differs between the programs. */
static bool append_fired_by(const struct bb_report *r, size_t first,
			    bool (*same)(const struct bb_case *, const struct bb_case *),
			    enum bb_detail detail, struct bb_doc *d)
{
	const struct bb_drive_kind *kind = bb_drive_kind_named(r->cases[first].drive);
	const char *fired_by = NULL;
	bool differ = false;

	for (size_t i = first; i < r->n_cases; i++) {
		const struct bb_case *c = &r->cases[i];

		if (!same(c, &r->cases[first]) || bb_is_floor(r, c))
			continue;
		if (!c->fired_by)
			return false;
		differ |= fired_by && strcmp(fired_by, c->fired_by);
		fired_by = c->fired_by;
	}
	if (!fired_by)
		return false;
	bb_doc__append(d, ", by %s",
		       !differ                ? fired_by
		       : detail == BB_DETAILS ? "an event for each program"
					      : "an event for each program (--details)");
	if (kind->cold_name)
		bb_doc__append(d, ", %s caches", r->cases[first].emptied ? "emptied" : "hot");
	return differ;
}

static bool has_column(const struct bb_report *r, const struct bb_case *c, size_t k,
		       enum bb_detail detail)
{
	enum bb_detail in = bb_case_columns[k].in;

	return in & detail || (in == BB_SHORT_NO_NET && detail == BB_SHORT &&
			       !BB_ANY(r->cases, r->n_cases,
				       bb_same_group(it, c) && isfinite(it->summary.net.value)));
}

/* Adds the row of case `i`. With `param`, the parameter's value follows the variant. */
static void add_row(const struct bb_report *r, size_t i, enum bb_detail detail, bool param,
		    struct bb_doc *d)
{
	d->faint = bb_is_floor(r, &r->cases[i]);
	for (size_t k = 0; k < bb_n_case_columns; k++) {
		const struct bb_case_column *column = &bb_case_columns[k];

		if (param && k == 1)
			bb_doc__text_cell(d, r->cases[i].param_text);
		if (has_column(r, &r->cases[i], k, detail))
			bb_doc__table_cell(d, bb_case_cell(&r->cases[i], column));
	}
	d->faint = false;
}

static void add_columns(const struct bb_report *r, const struct bb_case *c, enum bb_detail detail,
			const char *param, struct bb_doc *d)
{
	bool is_number = param && strspn(c->param_text, "0123456789") == strlen(c->param_text);

	bb_doc__table(d, NULL, 0);
	for (size_t k = 0; k < bb_n_case_columns; k++) {
		struct bb_doc_column column = bb_case_columns[k].as;

		if (param && k == 1)
			bb_doc__column(d,
				       (struct bb_doc_column){.head = param,
							      .cells = is_number ? BB_CELLS_NUMBER
										 : BB_CELLS_TEXT});
		if (detail == BB_DETAILS)
			column.drop = 0;
		if (has_column(r, c, k, detail))
			bb_doc__column(d, column);
		if (param && !k)
			d->blocks[d->n - 1].columns[0].once = true;
	}
}

/* Appends the name and net cost of the case's program: "prog, 15.8 +-0.9 ns". */
static void append_net(const struct bb_case *c, struct bb_doc *d)
{
	struct bb_table_cell net = bb_net_cell(c), half = bb_net_half_cell(c);

	bb_doc__append(d, "%s, %s%s%s%s%s", c->variant, net.text + strspn(net.text, BB_NEAR_0_MARK),
		       half.text[0] ? " +-" : "", half.text, strstr(net.text, " ms") ? "" : " ns",
		       bb_net_is_near_0(c) ? " (may be 0)" : "");
}

/* If the table of case `first` has many programs, names those with the least and the most net cost.
 * Leaves out programs whose runs end early. */
static void add_extremes(const struct bb_report *r, const struct bb_case *first, struct bb_doc *d)
{
	const struct bb_case *least = NULL, *most = NULL;
	size_t n = 0, n_early = 0;

	for (const struct bb_case *c = r->cases; c < r->cases + r->n_cases; c++) {
		if (!bb_same_table(c, first) || !isfinite(c->summary.net.value))
			continue;
		/* a check ends all runs of the program early, in this drive or another */
		if (BB_ANY(r->cases, r->n_cases, it->turned_file && bb_same_program(it, c))) {
			n_early++;
			continue;
		}
		n++;
		if (!least || c->summary.net.value < least->summary.net.value)
			least = c;
		if (!most || c->summary.net.value > most->summary.net.value)
			most = c;
	}
	if (n < MANY_PROGRAMS)
		return;
	bb_doc__add(d, BB_DOC_ITEM, NULL, "of %zu programs%s%s%s%s%s, least net: ", n,
		    n_early ? " that do not return early" : "", first->param ? " at " : "",
		    first->param ? first->param : "", first->param ? " " : "",
		    first->param ? first->param_text : "");
	append_net(least, d);
	bb_doc__append(d, "; most: ");
	append_net(most, d);
}

/* Adds one table for all values of the parameter, with the values of a program below each other.
 * Leaves out floors (empty programs), unless the cases are timed commands. */
static void add_table_of_values(const struct bb_report *r, size_t first, struct bb_doc *d)
{
	const struct bb_case *c = &r->cases[first], *last = c;

	bb_doc_group_title(c, false, unit_of(r, c).text, d);
	if (c->command)
		bb_doc__add(d, BB_DOC_ITEM, "timed", "%s", c->command);
	append_fired_by(r, first, bb_same_group, BB_SHORT, d);
	for (size_t i = first; i < r->n_cases; i++)
		last = bb_same_group(&r->cases[i], c) ? &r->cases[i] : last;
	add_extremes(r, last, d);
	add_columns(r, c, BB_SHORT, c->param, d);
	for (size_t i = first; i < r->n_cases; i++) {
		if (!bb_same_table(&r->cases[i], c) ||
		    (bb_is_floor(r, &r->cases[i]) && !c->command))
			continue;
		for (size_t k = first; k < r->n_cases; k++)
			if (bb_same_curve(&r->cases[k], &r->cases[i]))
				add_row(r, k, BB_SHORT, true, d);
	}
	for (size_t i = first; i < r->n_cases; i++)
		if (bb_same_group(&r->cases[i], c) && bb_is_first_of_table(r, i))
			bb_doc_in_vain(r, &r->cases[i], d);
}

/* Returns the case of a table's only program, floors aside. Returns NULL if there are several
 * programs, or if it has no net cost. */
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

/*
 * Adds the cost of a program in three lines:
 *   prog   net 15.8 +- 0.8 ns   executed 88 of 272 instructions
 *     latency 67.8 +- 0.9, of which 52.0 are the call and its timing
 *     its samples: p50 70.0   p90 71.0   p99 80.0   outliers 0.2 %
 */
static void add_sentence(const struct bb_report *r, const struct bb_case *c, struct bb_doc *d)
{
	struct bb_table_cell of_net = bb_net_half_cell(c), of_latency = bb_latency_half_cell(c);
	struct bb_table_cell executed = bb_executed_cell(c);
	/* an earlier case of the program has already said this count */
	bool is_said = BB_ANY(r->cases, (size_t)(c - r->cases),
			      bb_same_program(it, c) &&
				      !strcmp(bb_executed_cell(it).text, executed.text));
	double scale = c->summary.latency.value;
	size_t n = 0;
	struct bb_table_cell net = bb_net_cell(c);

	bb_doc__add(d, BB_DOC_ITEM, NULL, "%s   net %s%s%s%s", c->variant, net.text,
		    of_net.text[0] ? " +- " : "", of_net.text,
		    strstr(net.text, " ms") ? "" : " ns");
	if (executed.text[0] && !is_said) {
		size_t all = (size_t)(strstr(executed.text, "of ") + 3 - executed.text);

		all += strspn(executed.text + all, "0123456789");
		bb_doc__append(d, "   executed %.*s instructions%s", (int)all, executed.text,
			       executed.text + all);
	}
	bb_doc__add(d, BB_DOC_SUBITEM, NULL,
		    "latency %s%s%s, of which %s are the call and its timing",
		    bb_table_cell_time(scale, scale).text, of_latency.text[0] ? " +- " : "",
		    of_latency.text, bb_floor_cell(c).text);
	bb_doc__add(d, BB_DOC_SUBITEM, NULL, "its samples:");
	for (size_t k = 0; k < bb_n_case_columns; k++) {
		const struct bb_case_column *column = &bb_case_columns[k];
		struct bb_table_cell cell = bb_case_cell(c, column);
		const char *head = column->as.head, *share = strstr(head, " %");

		if ((column->in & BB_SENTENCE) && cell.text[0])
			bb_doc__append(d, "%s%.*s %s%s", n++ ? "   " : " ",
				       share ? (int)(share - head) : (int)strlen(head), head,
				       cell.text, share ? share : "");
	}
	if (isnan(c->summary.p99.value))
		bb_doc__append(d, "   (too few for p99)");
}

/* Adds the conditions of a table's measurement: the times of the reference work, and which caches
 * were emptied. With `is_apart`, also adds what made each variant run. */
static void add_circumstances(const struct bb_report *r, size_t first, bool is_apart,
			      struct bb_doc *d)
{
	const struct bb_case *c = &r->cases[first];
	double least = INFINITY, most = -INFINITY;
	size_t n = 0;

	for (enum bb_reference i = 0; i < BB_N_REFERENCES; i++) {
		double ns = c->summary.reference[i].value;

		if (isnan(ns))
			continue;
		if (!n++)
			bb_doc__add(d, BB_DOC_ITEM, "references", "%s", "");
		bb_doc__append(d, "%s%s %s ns", n > 1 ? ", " : "", bb_reference_name(i),
			       bb_table_cell_value(ns).text);
	}
	for (size_t i = 0; i < c->n_series && c->emptied; i++)
		if (!c->series[i].void_why && !isnan(c->series[i].line_ns)) {
			least = fmin(least, c->series[i].line_ns);
			most = fmax(most, c->series[i].line_ns);
		}
	if (c->emptied)
		bb_doc__add(d, BB_DOC_ITEM, "emptied", "%s", c->emptied);
	if (isfinite(least))
		bb_doc__append(d, "; in these loads %.1f to %.1f", least, most);
	n = 0;
	for (size_t i = first; i < r->n_cases; i++) {
		if (!is_apart || !r->cases[i].fired_by || !bb_same_table(&r->cases[i], c))
			continue;
		if (!n++)
			bb_doc__add(d, BB_DOC_ITEM, NULL, "fired by:");
		bb_doc__add(d, BB_DOC_SUBITEM, NULL, "%s: %s", r->cases[i].variant,
			    r->cases[i].fired_by);
	}
}

void bb_doc_table(const struct bb_report *r, size_t first, enum bb_detail detail, struct bb_doc *d)
{
	const struct bb_case *c = &r->cases[first];
	double *below = bb_calloc(r->n_cases + 1, sizeof(*below));
	double least = -INFINITY; /* cases with less net cost than this are hidden */
	size_t n = 0, n_hidden = 0;

	bb_doc_group_title(c, true, unit_of(r, c).text, d);
	if (c->command)
		bb_doc__add(d, BB_DOC_ITEM, "timed", "%s", c->command);
	bool is_apart = append_fired_by(r, first, bb_same_table, detail, d);
	if (detail == BB_SHORT)
		add_extremes(r, c, d);
	for (size_t i = first; i < r->n_cases; i++)
		if (bb_same_table(&r->cases[i], c))
			below[n++] = -r->cases[i].summary.net.value;
	bb_sort_doubles(below, n);
	if (detail == BB_SHORT && n > MOST_ROWS && isfinite(below[MOST_ROWS / 2 - 1]))
		least = -below[MOST_ROWS / 2 - 1];
	free(below);
	add_columns(r, c, detail, NULL, d);
	for (size_t i = first; i < r->n_cases; i++) {
		if (!bb_same_table(&r->cases[i], c))
			continue;
		if (r->cases[i].summary.net.value < least)
			n_hidden++;
		else
			add_row(r, i, detail, false, d);
	}
	if (n_hidden)
		bb_doc__add(d, BB_DOC_ITEM, NULL,
			    "and %zu cases with less net cost: `bpfbench show --details`",
			    n_hidden);
	bb_doc_in_vain(r, c, d);
	if (detail == BB_DETAILS)
		add_circumstances(r, first, is_apart, d);
}

void bb_doc_programs(const struct bb_report *r, struct bb_doc *d)
{
	if (!r->n_programs)
		return;
	bb_doc__add(d, BB_DOC_TITLE, NULL, "%s, programs as the kernel loaded them",
		    r->programs[0].scenario);
	bb_doc__columns(d, {BB_TEXT("variant (program)")}, {BB_TEXT("type")});
	for (size_t i = 0; i < bb_n_static_metrics; i++)
		bb_doc__column(d, (struct bb_doc_column){BB_NUMBER(bb_static_metrics[i].slug),
							 .spill = (int)(bb_n_static_metrics - i),
							 .doc = bb_static_metrics[i].doc});
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
}

/* Adds a cell with `value`, a number of instructions of case `c`. With `with_param`, adds the value
 * of the case's parameter: "147 (at 233)". */
static void add_extreme(struct bb_doc *d, const struct bb_counted_case *c, uint64_t value,
			bool with_param)
{
	if (with_param && c && c->param)
		bb_doc__cell(d, "%" PRIu64 " (at %s)", value, c->param_text);
	else
		bb_doc__cell_if(d, c, "%" PRIu64, value);
}

bool bb_is_counted_floor(const struct bb_report *r, const struct bb_counted *c)
{
	return BB_ANY(r->cases, r->n_cases,
		      bb_same_text(it->variant, c->variant) &&
			      bb_same_text(it->scenario, c->scenario) && bb_is_floor(r, it));
}

/* The cases with the fewest and with the most instructions per run. */
struct range {
	const struct bb_counted_case *least, *most; /* NULL if no case has a valid count */
	size_t n_exact; /* number of cases in which all runs execute equally many instructions */
};

static struct range range_of(const struct bb_counted *c)
{
	struct range g = {0};

	for (size_t i = 0; i < c->n_cases; i++) {
		const struct bb_counted_case *k = &c->cases[i];

		if (!bb_counted_case__counts(k))
			continue;
		g.n_exact += bb_counted_case__is_exact(k);
		if (!g.least || k->least < g.least->least)
			g.least = k;
		if (!g.most || k->most > g.most->most)
			g.most = k;
	}
	return g;
}

/* Adds a sentence with the number of instructions that a run of each program executes. Adds nothing
 * and returns false for too many programs, for tail calls, or if the number of a program varies. */
static bool add_counts(const struct bb_report *r, struct bb_doc *d)
{
	size_t before = d->n, n = 0;

	for (size_t i = 0; i < r->n_counted; i++) {
		const struct bb_counted *c = &r->counted[i];
		struct range g = range_of(c);

		if (bb_is_counted_floor(r, c))
			continue;
		if (n++ == MOST_COUNTS || c->tail_calls || g.n_exact != c->n_cases || !g.least ||
		    g.least->least != g.most->most) {
			bb_doc__cut(d, before);
			return false;
		}
		if (n == 1)
			bb_doc__add(d, BB_DOC_PARAGRAPH, NULL,
				    "instructions a run executes (loops counted by turn, helpers' "
				    "own not): ");
		bb_doc__append(d, "%s%s %" PRIu64, n > 1 ? ", " : "", c->variant, g.least->least);
	}
	return n;
}

void bb_doc_counted(const struct bb_report *r, enum bb_detail detail, struct bb_doc *d)
{
	if (!r->n_counted || (detail == BB_SHORT && add_counts(r, d)))
		return;
	bb_doc__add(d, BB_DOC_TITLE, NULL,
		    "instructions that a run executes (loops counted by turn, helpers' own not)");
	bb_doc__columns(d, {BB_TEXT("program")}, {BB_NUMBER("cases")}, {BB_NUMBER("runs")},
			{BB_TEXT("least")}, {BB_TEXT("most")}, {BB_NUMBER("paths")},
			{BB_TEXT("runs differ")});
	for (size_t i = 0; i < r->n_counted; i++) {
		const struct bb_counted *c = &r->counted[i];
		struct range g = range_of(c);
		bool differ = g.least && g.most && g.least->least != g.most->most;

		if (detail == BB_SHORT && bb_is_counted_floor(r, c))
			continue;
		bb_doc__text_cell(d, c->name);
		bb_doc__cell(d, "%zu", c->n_cases);
		bb_doc__cell(d, "%" PRIu64, c->runs);
		add_extreme(d, g.least, g.least ? g.least->least : 0, differ);
		add_extreme(d, g.most, g.most ? g.most->most : 0, differ);
		bb_doc__cell(d, "%" PRIu64, c->paths);
		if (g.n_exact == c->n_cases)
			bb_doc__text_cell(d, "");
		else
			bb_doc__cell(d, "in %zu of %zu cases", c->n_cases - g.n_exact, c->n_cases);
	}
	for (size_t i = 0; i < r->n_counted; i++) {
		const struct bb_counted *c = &r->counted[i];

		for (size_t k = 0; k < c->n_cases; k++)
			if (c->cases[k].void_why)
				bb_doc__add(d, BB_DOC_BAD_ITEM, NULL, "%s is void: %s",
					    c->cases[k].name, c->cases[k].void_why);
		if (c->tail_calls)
			bb_doc__add(d, BB_DOC_BAD_ITEM, NULL,
				    "%s left by %" PRIu64 " tail calls: instructions of the "
				    "programs called are not counted",
				    c->name, c->tail_calls);
	}
}

static void add_incomplete(const struct bb_report *r, struct bb_doc *d)
{
	if (r->incomplete)
		bb_doc__add(d, BB_DOC_BAD, "INCOMPLETE",
			    "%s; the tables show the samples taken until then", r->incomplete);
}

/* True if the run was made by `compare`, or if its command is not known. Other runs must get no
 * advice with options of `compare`. */
static bool is_of_compare(const struct bb_report *r)
{
	return !r->command || !strncmp(r->command, "bpfbench compare ", 17);
}

/* Adds advice to repeat the command with a longer budget, if that should decide a comparison. */
static void add_budget(const struct bb_report *r, enum bb_doc_kind kind, const char *label,
		       struct bb_doc *d)
{
	double budget_s = bb_budget_to_decide(r);

	if (budget_s > 0 && is_of_compare(r))
		bb_doc__again(d, kind, label, r->command,
			      bb_table_cell_of("--budget %.0f", budget_s).text,
			      bb_table_cell_of("%.0f s should decide what is inconclusive",
					       budget_s)
				      .text);
}

void bb_doc_comparisons(const struct bb_report *r, size_t open, enum bb_detail detail,
			struct bb_doc *d)
{
	/* comparisons [first, end) have the same base and head */
	for (size_t first = 0, end; first < r->n_comparisons; first = end) {
		const struct bb_comparison *c = &r->comparisons[first];
		struct bb_diffs diffs = {0};

		end = first + 1;
		while (end < r->n_comparisons && bb_same_text(c->base, r->comparisons[end].base) &&
		       bb_same_text(c->head, r->comparisons[end].head))
			end++;
		bb_doc__add(d, BB_DOC_TITLE, NULL, "Compared in turns, at a significance of %g",
			    c->alpha);
		bb_diff_comparisons(r, first, end - first, &diffs);
		if (detail == BB_SHORT)
			bb_diff_drop_nets(&diffs);
		bb_doc_diff(&diffs, (struct bb_doc_sides){r, c->base, c->head}, open, d);
		bb_diffs__done(&diffs);
	}
	if (open)
		add_budget(r, BB_DOC_PARAGRAPH, "next", d);
}

/* Adds the mean cost of a run over the measured inputs, weighted by how often production sends
 * them. The figure after +- assumes that the errors of the inputs' costs are independent. */
static void add_mix(const struct bb_report *r, size_t first, struct bb_doc *d)
{
	double net = 0, latency = 0, square = 0, share = 0;
	const struct bb_case *f = &r->cases[first];

	for (size_t i = first; i < r->n_cases; i++) {
		const struct bb_case *c = &r->cases[i];
		const struct bb_estimate *l = &c->summary.latency;
		double w = c->path_share;

		if (!bb_same_curve(c, f) || isnan(w) || isnan(l->value))
			continue;
		share += w;
		latency += w * l->value;
		net += w * c->summary.net.value;
		square += pow(w * (l->hi - l->lo) / 2, 2);
	}
	if (!(share > 0))
		return;
	bb_doc__add(d, BB_DOC_ITEM, NULL, "%s, %s, inputs weighted: ", f->variant, f->drive);
	if (!isnan(net))
		bb_doc__append(d, "net %s ns, ", bb_table_cell_value(net / share).text);
	bb_doc__append(d, "latency %s", bb_table_cell_value(latency / share).text);
	if (!isnan(square))
		bb_doc__append(d, " +- %s", bb_table_cell_value(sqrt(square) / share).text);
	bb_doc__append(d, " ns a run");
	if (share < 0.9995)
		bb_doc__append(d, " (%.3g %% of the runs were measured)", 100 * share);
}

/* Adds the tables of all cases or, with `in_sentences`, sentences instead. Then adds the tables and
 * sentences that are about several cases. */
static void add_cases(const struct bb_report *r, enum bb_detail detail, bool in_sentences,
		      struct bb_doc *d)
{
	if (r->n_comparisons && r->n_cases)
		bb_doc__add(d, BB_DOC_PARAGRAPH, NULL,
			    "Each version by itself, over all its loads (the comparison above "
			    "takes matched pairs):");
	for (size_t i = 0; i < r->n_cases; i++) {
		const struct bb_case *only;

		/* bb_doc_details() has already added the tables of sweeps */
		if (bb_is_sweep_head(r, i) && detail == BB_DETAILS && !r->n_comparisons)
			continue;
		if (bb_is_sweep_head(r, i)) {
			bb_doc_sweep(r, i, d);
			bb_doc_in_vain(r, &r->cases[i], d);
		} else if (bb_is_first_of_table(r, i) && detail == BB_SHORT &&
			   bb_is_of_values(r, i)) {
			if (bb_is_first_of_group(r, i))
				add_table_of_values(r, i, d);
		} else if (bb_is_first_of_table(r, i) && in_sentences) {
			only = only_program(r, i);
			bb_doc_group_title(only, true, unit_of(r, only).text, d);
			append_fired_by(r, i, bb_same_table, BB_SHORT, d);
			add_sentence(r, only, d);
			bb_doc_in_vain(r, only, d);
		} else if (bb_is_first_of_table(r, i)) {
			bb_doc_table(r, i, detail, d);
		}
	}
	bb_doc_classes(r, d);
	for (size_t i = 0; i < r->n_cases; i++) {
		const struct bb_case *c = &r->cases[i];

		if (!isnan(c->path_share) && !c->is_live && !bb_is_floor(r, c) &&
		    !BB_ANY(r->cases, i, bb_same_curve(it, c)))
			add_mix(r, i, d);
	}
	bb_doc_hot_cold(r, d);
	bb_doc_contention(r, d);
	bb_doc_cross_checks(r, detail, d);
	bb_doc_counted(r, detail, d);
	if (!r->n_cases && !r->n_counted)
		bb_doc__add(d, BB_DOC_PARAGRAPH, NULL, "Nothing was measured.");
}

/* Adds the time by line: a table for a single timed program, or a sentence for each of several. */
static void add_lines(const struct bb_report *r, struct bb_doc *d)
{
	for (size_t i = 0; i < r->n_timed && !r->n_comparisons; i++) {
		const struct bb_timed *t = &r->timed[i];
		const char *slash = t->param ? strrchr(t->name, '/') : NULL;
		const char *value = slash ? strchr(slash, '=') : NULL;
		struct bb_by_line b;
		char sentence[400];

		bb_by_line__make(r, t, &b);
		if (!i)
			bb_doc__add(d, BB_DOC_TITLE, NULL, "Time by line");
		bb_by_line__sentence(&b, sentence, sizeof(sentence));
		if (r->n_timed == 1)
			bb_doc_by_line(&b, false, false, false, d);
		else if (sentence[0])
			bb_doc__add(d, BB_DOC_ITEM,
				    bb_table_cell_of("%.150s%s%.40s%s%.40s%s", t->variant,
						     value ? ", " : "", value ? t->param : "",
						     value ? " = " : "", value ? value + 1 : "",
						     bb_timed__is_cold(t) ? ", cold caches" : "")
					    .text,
				    "%s", sentence);
		bb_by_line__done(&b);
	}
}

/* Adds the cases, notes and explanations of columns. Returns true if sentences replace tables. */
static bool add_all_cases(const struct bb_report *r, enum bb_detail detail, struct bb_doc *d)
{
	bool in_sentences = detail == BB_SHORT;

	/* sentences are used if each table would have only one program */
	for (size_t i = 0; i < r->n_cases && in_sentences; i++)
		in_sentences = !bb_is_first_of_table(r, i) || only_program(r, i);
	if (detail == BB_DETAILS || !r->n_comparisons)
		add_cases(r, detail, in_sentences, d);
	else
		bb_doc_in_vain_of_both(r, d);
	if (detail == BB_DETAILS)
		bb_doc_programs(r, d);
	else
		add_lines(r, d);
	size_t notes = d->n;
	bb_doc__add(d, BB_DOC_TITLE, NULL, "Notes");
	if (!bb_doc_notes(r, detail, d))
		bb_doc__cut(d, notes);
	if (detail == BB_DETAILS && r->n_cases) {
		bb_doc__add(d, BB_DOC_TITLE, NULL, "Columns");
		bb_doc__add(d, BB_DOC_LEGEND, NULL, "%s", "");
	}
	return in_sentences;
}

/* Appends "kernel 6.18.44, AMD EPYC, took 5.8 s". */
static void add_machine(const struct bb_report *r, struct bb_doc *d)
{
	bb_doc__append(d, "kernel %s, %s", r->fingerprint.kernel_release, r->fingerprint.cpu_model);
	if (isfinite(r->elapsed_s))
		bb_doc__append(d, ", took %.1f s", r->elapsed_s);
}

bool bb_counts_instructions(const struct bb_report *r)
{
	return r->command && strstr(r->command, " --vm") &&
	       !strncmp(r->fingerprint.cpu_model, "QEMU", 4);
}

bool bb_has_drive(const struct bb_report *r, const char *drive)
{
	return BB_ANY(r->cases, r->n_cases, !strcmp(it->drive, drive));
}

void bb_doc_drive_key(const struct bb_report *r, struct bb_doc *d)
{
	bool has_step = bb_has_drive(r, "step"), has_slope = bb_has_drive(r, "slope");

	if (has_step || has_slope)
		bb_doc__add(d, BB_DOC_FAINT, has_step ? "step" : "slope", "%s",
			    !has_step    ? "runs back to back"
			    : !has_slope ? "a run after a system call"
					 : "a run after a system call (quote this); slope: runs "
					   "back to back");
	if (bb_has_drive(r, "in-situ"))
		bb_doc__add(d, BB_DOC_FAINT, "in-situ",
			    "in a process that does its own work, so caches are colder");
	if (bb_has_drive(r, "in-situ-packets"))
		bb_doc__add(d, BB_DOC_FAINT, "in-situ-packets",
			    "on packets that arrive at this rate, so caches are colder");
}

/* Explains the main words of the output. Then adds an empty paragraph for add_machine(). */
static void add_key(const struct bb_report *r, bool in_sentences, struct bb_doc *d)
{
	bool has_net = BB_ANY(r->cases, r->n_cases, isfinite(it->summary.net.value));
	/* a figure has a "+-" */
	bool has_half = BB_ANY(r->cases, r->n_cases,
			       isfinite(it->summary.net.lo) || isfinite(it->summary.latency.lo));
	bool has_p99 = BB_ANY(r->cases, r->n_cases, isfinite(it->summary.p99.value)),
	     lacks_p99 = BB_ANY(r->cases, r->n_cases, isnan(it->summary.p99.value));
	/* number of stored runs whose spread the intervals include, or 0 */
	uint32_t between_runs = 0;

	for (size_t i = 0; i < r->n_cases; i++)
		if (isfinite(r->cases[i].between) && r->cases[i].between_runs > between_runs)
			between_runs = r->cases[i].between_runs;
	if (bb_counts_instructions(r))
		bb_doc__add(d, BB_DOC_BAD, NULL, BB_COUNTS_INSTRUCTIONS);
	if (r->n_comparisons) /* a comparison has rows `net` only if something changed */
		has_net &= bb_report__count_verdict(r, BB_VERDICT_REGRESSED) ||
			   bb_report__count_verdict(r, BB_VERDICT_IMPROVED);
	if (has_net)
		bb_doc__add(d, BB_DOC_FAINT, "net", "what a %s",
			    BB_ANY(r->cases, r->n_cases, it->command)
				    ? "variant adds to the command alone"
				    : "program adds to an empty one of its type (the floor)");
	if (has_half && !r->n_comparisons && between_runs)
		bb_doc__add(d, BB_DOC_FAINT, "+-",
			    "95 %% interval, with the spread between runs (%u stored ones)",
			    between_runs);
	else if (has_half && !r->n_comparisons)
		bb_doc__add(d, BB_DOC_FAINT, "+-",
			    "95 %% interval within this run; a repeat may differ more (known after "
			    "%u stored runs)",
			    BB_REPEATS_LEAST);
	if (bb_has_drive(r, BB_DRIVE_INSIDE))
		bb_doc__add(d, BB_DOC_FAINT, "latency",
			    "mean of all runs; NAME.PATH: of those that take this path");
	if (bb_has_drive(r, "pipeline"))
		bb_doc__add(d, BB_DOC_FAINT, "consumed",
			    "by the reader of the ring, of all samples in it; latency: mean lag; "
			    "ring %%: how full the ring was at most; CPU/sample: the reader's CPU "
			    "time; >: at least, as it did not consume the rest");
	if (has_net && !in_sentences && !r->n_comparisons)
		bb_doc__add(d, BB_DOC_FAINT, "latency",
			    "mean of a run without outliers; p50: of all samples%s",
			    has_p99 && lacks_p99 ? "; p99 needs 1000" : "");
	if (BB_ANY(r->comparisons, r->n_comparisons, isfinite(it->ratio.lo)))
		bb_doc__add(d, BB_DOC_FAINT, "Interval",
			    "95 %%, of Diff %%; the verdict goes by the latency");
	bb_doc_drive_key(r, d);
	bb_doc__add(d, BB_DOC_FAINT, NULL, "%s", "");
}

/* True if the lines of a case can be timed: it is of the drive `step`, and no mix of inputs. */
static bool has_step(const struct bb_report *r)
{
	return BB_ANY(r->cases, r->n_cases,
		      !strcmp(it->drive, "step") && !(it->n_series && it->series[0].n_classes));
}

double bb_budget_to_decide(const struct bb_report *r)
{
	char text[BB_WHY_SIZE];
	double most = 0;

	for (size_t i = 0; i < r->n_comparisons; i++)
		if (r->comparisons[i].budget_s > 0)
			most = fmax(most,
				    bb_comparison__why_inconclusive(&r->comparisons[i], text));
	return most;
}

/* Returns the name of a map that the user should fill first, because it is empty and lookups in it
 * failed. Returns NULL if there is none. */
static const char *map_to_fill(const struct bb_report *r)
{
	const struct bb_in_vain *v = NULL;

	for (size_t i = 0; !v && i < r->n_cases; i++)
		v = BB_FIND(r->cases[i].in_vain, r->cases[i].n_in_vain,
			    it->map && !it->is_tail_call && !it->is_inner && !it->is_captured &&
				    it->entries == 0);
	return v ? v->map : NULL;
}

/* True if the run measured an object or captured programs. Options can change their inputs. */
static bool takes_inputs(const struct bb_report *r)
{
	return r->command && (strstr(r->command, "--object") || strstr(r->command, " -- ")) &&
	       !bb_counts_instructions(r);
}

bool bb_doc_advises_fill(const struct bb_report *r)
{
	const char *map = map_to_fill(r);

	/* No advice if the map's name has other characters: it comes from a file, and users copy
	 * the command to a shell. */
	if (!map ||
	    map[strspn(map, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.")] ||
	    !r->command || strstr(r->command, "--fill"))
		return false;
	if (r->n_comparisons)
		return is_of_compare(r);
	return !r->n_timed && takes_inputs(r) &&
	       (!BB_ANY(r->cases, r->n_cases, it->turned_file) || bb_doc_is_searched(r));
}

static void add_fill(const struct bb_report *r, const char *label, struct bb_doc *d)
{
	const char *map = map_to_fill(r);
	char *command = bb_command_without(r->command, "--try-inputs");

	bb_doc__again(d, BB_DOC_FAINT, label, command,
		      bb_table_cell_of("--fill %.64s=1000", map).text,
		      "with entries in the map that was empty");
	free(command);
}

/* If runs ended early or lookups failed, advises to search for inputs or to fill the empty map.
 * Returns the label of the advice that follows: "then", or "next" if there was none yet. */
static const char *begin_next(const struct bb_report *r, struct bb_doc *d)
{
	if (bb_doc_advises_fill(r)) {
		add_fill(r, "next", d);
		return "then";
	}
	if (!takes_inputs(r) || bb_doc_is_searched(r) ||
	    !BB_ANY(r->cases, r->n_cases, it->turned_file || it->n_in_vain))
		return "next";
	bb_doc__again(d, BB_DOC_FAINT, "next", r->command, "--try-inputs",
		      "searches for inputs that get further");
	return "then";
}

/* Adds advice on the next step after a run without comparisons. */
static void add_next_of_run(const struct bb_report *r, const char *label, const char *results,
			    bool has_object, struct bb_doc *d)
{
	if (has_step(r))
		bb_doc__again(d, BB_DOC_FAINT, label, r->command, "--lines", "time by line");
	else if (r->n_counted)
		bb_doc__add(d, BB_DOC_FAINT, label, "`bpfbench annotate%s` (instructions by line)",
			    results);
	else if (bb_has_drive(r, "pipeline"))
		bb_doc__add(d, BB_DOC_FAINT, label,
			    "`bpfbench report%s` (a page: how full the ring was over time, all "
			    "lags)",
			    results);
	if (bb_has_drive(r, BB_DRIVE_INSIDE))
		bb_doc__add(d, BB_DOC_FAINT, label,
			    "the same with `-o FILE`, then `sudo bpfbench --object FILE` (each "
			    "program on the bench)");
	else if (has_object)
		bb_doc__add(d, BB_DOC_FAINT, "after a change",
			    "`sudo bpfbench compare OLD.o NEW.o`");
	else if (r->n_cases)
		bb_doc__add(d, BB_DOC_FAINT, "to judge a change",
			    "`bpfbench compare --save-baseline before%s`; after it: `bpfbench "
			    "compare --baseline before latest%s`",
			    results, results);
}

/* Adds the next steps for the user: with BB_SHORT and without comparisons, only the first one. */
static void add_next(const struct bb_report *r, enum bb_detail detail, struct bb_doc *d)
{
	bool has_object = r->command && strstr(r->command, "--object");
	bool is_found = BB_ANY(r->comparisons, r->n_comparisons,
			       it->verdict == BB_VERDICT_REGRESSED ||
				       it->verdict == BB_VERDICT_IMPROVED);
	bool many_timed = BB_ANY(r->timed, r->n_timed, strcmp(it->variant, r->timed[0].variant));
	char *results = bb_command_option(r->command, "--results");
	size_t before = d->n;

	if (r->n_timed)
		bb_doc__add(d, BB_DOC_FAINT, "next",
			    "%s%s%s`bpfbench annotate --time%s%s --flame FILE.svg` (a picture)",
			    r->n_timed > 1 ? "`bpfbench annotate --time" : "",
			    r->n_timed > 1 ? results : "", r->n_timed > 1 ? "` (every line), " : "",
			    results, many_timed ? " --variant NAME" : "");
	else if (is_found && is_of_compare(r)) {
		/* bpfbench refuses these options with --time and --exact */
		static const char *const drop[] = {"--drive NAME",  "-d NAME",
						   "--format NAME", "-f NAME",
						   "--sort COLUMN", "--filter EXPRESSION"};
		char *command = bb_command_without_all(r->command, drop, BB_LEN(drop));

		if (has_step(r))
			bb_doc__again(d, BB_DOC_FAINT, "next", command, "--time",
				      "which lines the difference is in");
		else if (r->n_counted || BB_ANY(r->cases, r->n_cases, it->executed_insns))
			bb_doc__again(d, BB_DOC_FAINT, "next", command, "--exact",
				      "which lines execute more or fewer instructions");
		free(command);
		add_budget(r, BB_DOC_FAINT, d->n > before ? "then" : "next", d);
	} else if (bb_budget_to_decide(r) > 0) {
		add_budget(r, BB_DOC_FAINT, "next", d);
	} else if (r->n_comparisons &&
		   r->n_comparisons == bb_report__count_verdict(r, BB_VERDICT_SAME)) {
		bb_doc__add(d, BB_DOC_FAINT, "next", "nothing has to be done");
	} else if (!r->n_comparisons) {
		add_next_of_run(r, begin_next(r, d), results, has_object, d);
	}
	if (r->n_comparisons && d->n == before)
		bb_doc__add(d, BB_DOC_FAINT, "next",
			    "`bpfbench report%s` (a page with all figures)", results);
	if (r->n_comparisons && bb_doc_advises_fill(r))
		add_fill(r, "or", d);
	if (is_of_compare(r) && r->command && !strstr(r->command, "--fail-on") &&
	    bb_report__count_verdict(r, BB_VERDICT_REGRESSED))
		bb_doc__add(d, BB_DOC_FAINT, "in CI",
			    "`--fail-on regressed` ends with exit code 3");
	free(results);
	if (detail == BB_SHORT && !r->n_comparisons && d->n > before + 1)
		bb_doc__cut(d, before + 1);
}

void bb_doc_short_rest(const struct bb_report *r, struct bb_doc *d)
{
	char *results = bb_command_option(r->command, "--results");

	add_key(r, add_all_cases(r, BB_SHORT, d), d);
	add_machine(r, d);
	bb_doc__add(d, BB_DOC_FAINT, "more", "`bpfbench show --details%s` (all figures)", results);
	if (r->n_counted && !r->n_timed)
		bb_doc__append(d, ", `bpfbench annotate%s` (instructions by line)", results);
	free(results);
	add_next(r, BB_SHORT, d);
}

void bb_doc_short(const struct bb_report *r, struct bb_doc *d)
{
	add_incomplete(r, d);
	bb_doc_comparisons(r, 0, BB_SHORT, d);
	bb_doc_short_rest(r, d);
}

void bb_doc_details(const struct bb_report *r, struct bb_doc *d)
{
	add_incomplete(r, d);
	bb_doc_comparisons(r, 0, BB_DETAILS, d);
	/* First show tables that summarise several others: those of sweeps, and of programs at
	 * several values of the parameter. */
	for (size_t i = 0; i < r->n_cases && !r->n_comparisons; i++)
		if (bb_is_sweep_head(r, i))
			bb_doc_sweep(r, i, d);
		else if (bb_is_of_values(r, i) && bb_is_first_of_group(r, i))
			add_table_of_values(r, i, d);
	bb_doc__add(d, BB_DOC_TITLE, NULL, "Details of run %s", r->id ? r->id : "(no id)");
	bb_doc__add(d, BB_DOC_PARAGRAPH, NULL, "%s%s%skernel %s, %s", r->started ? "started " : "",
		    r->started ? r->started : "", r->started ? " on " : "",
		    r->fingerprint.kernel_release, r->fingerprint.cpu_model);
	bb_doc__add(d, BB_DOC_PARAGRAPH, NULL, "seed 0x%" PRIx64, r->seed);
	if (isfinite(r->elapsed_s))
		bb_doc__append(d, ", took %.1f s", r->elapsed_s);
	if (isfinite(r->steal))
		bb_doc__append(d, ", steal %.0f %%", 100 * r->steal);
	add_all_cases(r, BB_DETAILS, d);
	add_next(r, BB_DETAILS, d);
}

void bb_doc_markdown(const struct bb_report *r, struct bb_doc *d)
{
	add_incomplete(r, d);
	bb_doc_comparisons(r, 0, BB_SHORT, d);
	add_cases(r, BB_SHORT, false, d);
	bb_doc_programs(r, d);
	bb_doc__add(d, BB_DOC_TITLE, NULL, "Notes");
	bb_doc_notes(r, BB_SHORT, d);
	add_budget(r, BB_DOC_ITEM, "next", d);
	bb_doc__add(d, BB_DOC_ITEM, NULL, "run %s, ", r->id);
	add_machine(r, d);
}
