/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/history_print.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "export/documents.h"
#include "judge/timeline.h"

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
	fprintf(out, "\t%s\t%d\t", bb_history_mark_text(t, p), j->change);
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

void bb_history_print_tsv(const struct bb_timeline *t, const struct bb_report *only, FILE *out)
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
}
