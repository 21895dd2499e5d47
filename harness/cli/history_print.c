/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/history_print.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "export/table_cells.h"
#include "export/text_table.h"
#include "judge/timeline.h"

#define COMMIT_DIGITS 10

static const char *mark_text(const struct bb_timeline *t, const struct bb_timeline_point *p)
{
	return bb_timeline__is_judged(t, p) ? bb_history_mark_name(p->judged.mark) : "-";
}

/* --- for people --- */

static const struct bb_text_column columns[] = {
	{"Started", true},  {"Commit", true},    {"Latency, ns", false}, {"95 % interval", false},
	{"Ratio", false},   {"Relative", false}, {"SE %", false},        {"Change %", false},
	{"Limit %", false}, {"Mark", true},      {"Note", true},
};

static void add_or_absent(struct bb_text_table *t, const char *fmt, double value)
{
	bb_text_table__add(t, isfinite(value) ? fmt : BB_TEXT_ABSENT, value);
}

static void add_latency(struct bb_text_table *t, const struct bb_estimate *e)
{
	bb_text_table__add_text(t, isfinite(e->value)
					   ? bb_table_cell_number(e->value, e->value).text
					   : BB_TEXT_ABSENT);
	if (isfinite(e->lo) && isfinite(e->hi))
		bb_text_table__add(t, "[%s, %s]", bb_table_cell_number(e->lo, e->value).text,
				   bb_table_cell_number(e->hi, e->value).text);
	else
		bb_text_table__add_text(t, BB_TEXT_ABSENT);
}

static void add_note(struct bb_text_table *table, const struct bb_timeline_run *run,
		     const struct bb_timeline_point *p)
{
	char voids[64] = "", text[512];

	if (p->of->voids)
		snprintf(voids, sizeof(voids), "%u void series", p->of->voids);
	if (p->differs)
		snprintf(text, sizeof(text), "not judged: another %s than now", p->differs);
	else if (run->incomplete)
		snprintf(text, sizeof(text), "not judged: incomplete, %s", run->incomplete);
	else
		snprintf(text, sizeof(text), "%s",
			 p->judged.change > 0   ? "change point: slower from here on"
			 : p->judged.change < 0 ? "change point: faster from here on"
						: "");
	bb_text_table__add(table, "%s%s%s", text, *text && *voids ? "; " : "", voids);
}

static void add_point(struct bb_text_table *table, const struct bb_timeline *t,
		      const struct bb_timeline_case *c, const struct bb_timeline_point *p)
{
	const struct bb_timeline_run *run = &t->runs[p->run];

	bb_text_table__add_text(table, run->started ? run->started : run->id);
	bb_text_table__add(table, "%.*s", COMMIT_DIGITS, run->commit);
	add_latency(table, &p->of->figure[BB_BY_LATENCY]);
	add_or_absent(table, "%.4f", p->of->figure[BB_BY_RATIO].value);
	add_or_absent(table, "%.4g", p->of->figure[BB_BY_RELATIVE].value);
	add_or_absent(table, "%.2f", 100 * p->of->se[c->by]);
	add_or_absent(table, "%+.2f", 100 * bb_timeline__change(c, p));
	add_or_absent(table, "%.2f", 100 * expm1(p->judged.limit));
	bb_text_table__add_text(table, mark_text(t, p));
	add_note(table, run, p);
}

/* By which figure the case is judged, and how well each has predicted itself. */
static void print_predictor(const struct bb_timeline_case *c, FILE *out)
{
	static const char *const words[BB_N_PREDICTORS] = {
		[BB_BY_LATENCY] = "latency",
		[BB_BY_RATIO] = "ratio to the anchor of the same run",
		[BB_BY_RELATIVE] = "latency in pieces of the reference",
	};
	const char *before = "; a run differs from those before by ";

	fprintf(out, ", %sjudged by its %s", c->is_anchor ? "the anchor, " : "", words[c->by]);
	for (int by = 0; by < BB_N_PREDICTORS; by++) {
		if (isnan(c->error[by]))
			continue;
		fprintf(out, "%s%.2f %% (%s)", before, 100 * c->error[by],
			bb_predictor_name((enum bb_predictor)by));
		before = ", ";
	}
	if (c->is_anchor && c->by == BB_BY_LATENCY)
		fputs("; a change here is rather one of the machine", out);
	putc('\n', out);
}

static int print_case(const struct bb_timeline *t, const struct bb_timeline_case *c, FILE *out)
{
	struct bb_text_table table;
	int rc;

	bb_text_table__init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < c->n_points; i++)
		add_point(&table, t, c, &c->points[i]);
	bb_put_clean(out, c->name);
	print_predictor(c, out);
	rc = bb_text_table__print(&table, 2, out);
	putc('\n', out);
	bb_text_table__done(&table);
	return rc;
}

static void print_change(const struct bb_timeline *t, const struct bb_timeline_case *c,
			 const struct bb_timeline_point *p, FILE *out)
{
	const struct bb_timeline_point *since = bb_timeline__since(c);
	const struct bb_timeline_run *run = &t->runs[since ? since->run : p->run];

	fprintf(out, "%s: ", bb_history_mark_name(p->judged.mark));
	bb_put_clean(out, c->name);
	fprintf(out, ", %+.2f %% in the newest run", 100 * bb_timeline__change(c, p));
	if (p->judged.mark == BB_HISTORY_SUSPECT)
		fputs("; one run proves nothing: run again", out);
	else if (since)
		fprintf(out, ", since %s (commit %.*s)", run->started ? run->started : run->id,
			COMMIT_DIGITS, run->commit);
	putc('\n', out);
}

static void print_summary(const struct bb_timeline *t, FILE *out)
{
	size_t n[BB_HISTORY_IMPROVED + 1] = {0};

	for (size_t i = 0; i < t->n_cases; i++) {
		const struct bb_timeline_case *c = &t->cases[i];
		enum bb_history_mark mark = bb_timeline__mark(t, c);

		n[mark]++;
		if (bb_history_is_news(mark))
			print_change(t, c, bb_timeline__newest(t, c), out);
	}
	fprintf(out,
		"%zu cases over %zu runs: %zu regressed, %zu improved, %zu suspect, %zu steady, "
		"%zu learning\n",
		t->n_cases, t->n_runs, n[BB_HISTORY_REGRESSED], n[BB_HISTORY_IMPROVED],
		n[BB_HISTORY_SUSPECT], n[BB_HISTORY_STEADY], n[BB_HISTORY_LEARNING]);
}

int bb_history_print_table(const struct bb_timeline *t, FILE *out)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < t->n_cases; i++)
		rc = print_case(t, &t->cases[i], out);
	if (!rc)
		print_summary(t, out);
	return rc;
}

/* --- for gnuplot --- */

static const char head[] = "# bpfbench history, version 1. Tabs part the columns, two empty lines "
			   "the blocks (gnuplot: index). NaN: none\n"
			   "# machine\tbpfbench\tkernel\tcpu\tclocksource, once, before the "
			   "blocks: our version, the rest of the newest run\n"
			   "# A block begins with:\n"
			   "# "
			   "history\tcase\tscenario\tvariant\tdrive\tparam\tparam_"
			   "value\trole\tjudged_by\n"
			   "# role is \"anchor\" for the case that the others are divided by, else "
			   "\"-\"; judged_by is \"ratio\", \"latency\" or \"relative\".\n"
			   "# Its rows, in the order of time:\n"
			   "# "
			   "run\tstarted\tepoch_s\tid\tcommit\tlatency_ns\tlo_ns\thi_"
			   "ns\tratio\tratio_lo\tratio_hi\tse\tbaseline\t"
			   "limit_lo\tlimit_hi\tmark\tchange\tnote\trelative\trelative_"
			   "lo\trelative_hi\tjudged\n"
			   "# run counts all runs from 1; se is relative; judged is the figure "
			   "that judged_by names, and baseline\n"
			   "# and limits are in its unit; mark is \"-\" for runs that are not "
			   "judged, note says why; change is +1\n"
			   "# (slower) or -1 (faster) at a change point, else 0.\n";

/* A cell: control characters would break the columns. An absent one is "-". */
static void put_text(const char *text, FILE *out)
{
	if (!text || !*text)
		putc('-', out);
	for (; text && *text; text++)
		putc((unsigned char)*text < 0x20 || *text == 0x7f ? ' ' : *text, out);
}

static void put_number(double value, FILE *out)
{
	putc('\t', out);
	if (isfinite(value))
		fprintf(out, "%.9g", value);
	else
		fputs("NaN", out);
}

static void put_head(const struct bb_timeline_case *c, FILE *out)
{
	const char *const cells[] = {c->name, c->scenario, c->variant, c->drive, c->param};

	fputs("\n\n# history", out);
	for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++) {
		putc('\t', out);
		put_text(cells[i], out);
	}
	fprintf(out, "\t%u\t%s\t%s\n", c->param_value, c->is_anchor ? "anchor" : "-",
		bb_predictor_name(c->by));
}

static void put_point(const struct bb_timeline *t, const struct bb_timeline_case *c,
		      const struct bb_timeline_point *p, FILE *out)
{
	const struct bb_timeline_run *run = &t->runs[p->run];
	const struct bb_history_point *j = &p->judged;

	fprintf(out, "%zu\t", p->run + 1);
	put_text(run->started, out);
	if (isfinite(run->epoch_s))
		fprintf(out, "\t%.0f", run->epoch_s); /* all of its digits */
	else
		fputs("\tNaN", out);
	putc('\t', out);
	put_text(run->id, out);
	putc('\t', out);
	put_text(run->commit, out);
	for (int by = 0; by < BB_BY_RELATIVE; by++) {
		put_number(p->of->figure[by].value, out);
		put_number(p->of->figure[by].lo, out);
		put_number(p->of->figure[by].hi, out);
	}
	put_number(p->of->se[c->by], out);
	put_number(exp(j->baseline), out);
	put_number(exp(j->baseline - j->limit), out);
	put_number(exp(j->baseline + j->limit), out);
	fprintf(out, "\t%s\t%d\t", mark_text(t, p), j->change);
	put_text(p->differs ? p->differs : run->incomplete, out);
	put_number(p->of->figure[BB_BY_RELATIVE].value, out);
	put_number(p->of->figure[BB_BY_RELATIVE].lo, out);
	put_number(p->of->figure[BB_BY_RELATIVE].hi, out);
	put_number(bb_timeline__judged(c, p)->value, out);
	putc('\n', out);
}

/* Which bpfbench a run was made with is no part of its machine; ours judges them all. */
static void put_machine(const struct bb_fingerprint *fp, FILE *out)
{
	const char *const cells[] = {BB_VERSION, fp->kernel_release, fp->cpu_model,
				     fp->clocksource};

	fputs("# machine", out);
	for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++) {
		putc('\t', out);
		put_text(cells[i], out);
	}
	putc('\n', out);
}

int bb_history_print_tsv(const struct bb_timeline *t, const struct bb_report *only, FILE *out)
{
	fputs(head, out);
	if (t->n_runs)
		put_machine(&t->index.machines[t->runs[t->n_runs - 1].of->machine], out);
	for (size_t i = 0; i < t->n_cases; i++) {
		if (only && !bb_report__find_case(only, t->cases[i].name))
			continue;
		put_head(&t->cases[i], out);
		for (size_t k = 0; k < t->cases[i].n_points; k++)
			put_point(t, &t->cases[i], &t->cases[i].points[k], out);
	}
	return 0;
}
