/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/history_print.h"

#include <math.h>

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
			   "ns\tratio\tratio_lo\tratio_hi\tse\tbaseline\tlimit_lo\tlimit_"
			   "hi\tmark\tchange\tnote\trelative\trelative_lo\trelative_hi\tjudged\n"
			   "# run counts all runs from 1; se is relative; judged is the figure "
			   "that judged_by names, and baseline\n"
			   "# and limits are in its unit; mark is \"-\" for runs that are not "
			   "judged, note says why; change is +1\n"
			   "# (slower) or -1 (faster) at a change point, else 0.\n";

/* n cells of text: control characters would break the columns. An absent one is "-". */
static void put_texts(const char *const *texts, size_t n, FILE *out)
{
	for (size_t i = 0; i < n; i++) {
		const char *text = texts[i] && *texts[i] ? texts[i] : "-";

		putc('\t', out);
		for (; *text; text++)
			putc((unsigned char)*text < 0x20 || *text == 0x7f ? ' ' : *text, out);
	}
}

static void put_text(const char *text, FILE *out)
{
	put_texts(&text, 1, out);
}

static void put_number(double value, FILE *out)
{
	if (isfinite(value))
		fprintf(out, "\t%.9g", value);
	else
		fputs("\tNaN", out);
}

static void put_interval(const struct bb_estimate *e, FILE *out)
{
	put_number(e->value, out);
	put_number(e->lo, out);
	put_number(e->hi, out);
}

static void put_point(const struct bb_timeline *t, const struct bb_timeline_case *c,
		      const struct bb_timeline_point *p, FILE *out)
{
	const struct bb_timeline_run *run = &t->runs[p->run];
	const struct bb_history_point *j = &p->judged;

	fprintf(out, "%zu", p->run + 1);
	put_text(run->started, out);
	if (isfinite(run->epoch_s))
		fprintf(out, "\t%.0f", run->epoch_s); /* all of its digits */
	else
		fputs("\tNaN", out);
	put_text(run->id, out);
	put_text(run->commit, out);
	for (int by = 0; by < BB_BY_RELATIVE; by++)
		put_interval(&p->of->figure[by], out);
	put_number(p->of->se[c->by], out);
	put_number(exp(j->baseline), out);
	put_number(exp(j->baseline - j->limit), out);
	put_number(exp(j->baseline + j->limit), out);
	fprintf(out, "\t%s\t%d", bb_history_mark_text(t, p), j->change);
	put_text(p->differs ? p->differs : run->incomplete, out);
	put_interval(&p->of->figure[BB_BY_RELATIVE], out);
	put_number(bb_timeline__judged(c, p)->value, out);
	putc('\n', out);
}

void bb_history_print_tsv(const struct bb_timeline *t, const struct bb_report *only, FILE *out)
{
	fputs(head, out);
	if (t->n_runs) {
		const struct bb_fingerprint *fp =
			&t->index.machines[t->runs[t->n_runs - 1].of->machine];

		/* Which bpfbench a run was made with is no part of its machine; ours judges them
		 * all. */
		fputs("# machine", out);
		put_texts((const char *const[]){BB_VERSION, fp->kernel_release, fp->cpu_model,
						fp->clocksource},
			  4, out);
		putc('\n', out);
	}
	for (size_t i = 0; i < t->n_cases; i++) {
		const struct bb_timeline_case *c = &t->cases[i];

		if (only && !bb_report__find_case(only, c->name))
			continue;
		fputs("\n\n# history", out);
		put_texts((const char *const[]){c->name, c->scenario, c->variant, c->drive,
						c->param},
			  5, out);
		fprintf(out, "\t%u\t%s\t%s\n", c->param_value, c->is_anchor ? "anchor" : "-",
			bb_predictor_name(c->by));
		for (size_t k = 0; k < c->n_points; k++)
			put_point(t, c, &c->points[k], out);
	}
}
