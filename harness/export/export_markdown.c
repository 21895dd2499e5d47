/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>

#include "export/exporter.h"
#include "export/executed_notes.h"
#include "export/markdown.h"
#include "export/table_cells.h"

/* For a job summary or a comment: verdicts first, then a table of all cases, then the programs,
 * then what is void. */

static void put_comparison(const struct bb_comparison *c, FILE *mem)
{
	bool beyond = c->verdict == BB_VERDICT_REGRESSED || c->verdict == BB_VERDICT_IMPROVED;

	bb_md_comparison(c, mem);
	fprintf(mem, " | %s%s%s |\n", beyond ? "**" : "", bb_verdict_name(c->verdict),
		beyond ? "**" : "");
}

static void put_comparisons(const struct bb_report *r, FILE *mem)
{
	const struct bb_comparison *c = r->comparisons;

	if (!r->n_comparisons)
		return;
	fputs("### ", mem);
	bb_md_text(c->base, mem);
	fputs(" against ", mem);
	bb_md_text(c->head, mem);
	fprintf(mem, "\n\nBeyond %g %% counts; %g is the chance of a false verdict.\n\n",
		100 * c->threshold, c->alpha);
	fputs("| case | base, ns | head, ns | difference | interval | verdict "
	      "|\n|---|--:|--:|--:|--:|---|\n",
	      mem);
	for (size_t i = 0; i < r->n_comparisons; i++)
		put_comparison(&r->comparisons[i], mem);
	putc('\n', mem);
}

static void put_cases(const struct bb_report *r, FILE *mem)
{
	fputs("### Cost of a run, ns\n\n| case | latency | 95 % interval | p50 | p99 | net of "
	      "floor |\n"
	      "|---|--:|--:|--:|--:|--:|\n",
	      mem);
	for (size_t i = 0; i < r->n_cases; i++) {
		const struct bb_summary *s = &r->cases[i].summary;

		fputs("| ", mem);
		bb_md_text(r->cases[i].name, mem);
		fputs(" |", mem);
		bb_md_number(s->latency.value, s->latency.value, mem);
		if (isfinite(s->latency.lo))
			fprintf(mem, " %s to %s |",
				bb_table_cell_number(s->latency.lo, s->latency.value).text,
				bb_table_cell_number(s->latency.hi, s->latency.value).text);
		else
			fputs(" - |", mem);
		bb_md_number(s->p50.value, s->p50.value, mem);
		bb_md_number(s->p99.value, s->p99.value, mem);
		bb_md_number(s->net.value, s->latency.value, mem);
		putc('\n', mem);
	}
}

static void put_programs(const struct bb_report *r, FILE *mem)
{
	if (!r->n_programs)
		return;
	fputs("\n### Programs\n\n| program | type |", mem);
	for (size_t k = 0; k < bb_n_static_metrics; k++)
		fprintf(mem, " %s |", bb_static_metrics[k].slug);
	fputs("\n|---|---|", mem);
	for (size_t k = 0; k < bb_n_static_metrics; k++)
		fputs("--:|", mem);
	putc('\n', mem);
	for (size_t i = 0; i < r->n_programs; i++) {
		fputs("| ", mem);
		bb_md_text(r->programs[i].name, mem);
		fputs(" | ", mem);
		bb_md_text(r->programs[i].type, mem);
		fputs(" |", mem);
		for (size_t k = 0; k < bb_n_static_metrics; k++)
			bb_md_number(bb_static_of(&r->programs[i].metrics, &bb_static_metrics[k]),
				     BB_WHOLE, mem);
		putc('\n', mem);
	}
}

static void put_name(FILE *mem, const char *name)
{
	bb_md_text(name, mem);
}

static void put_little_executed(const struct bb_report *r, FILE *mem)
{
	for (size_t i = 0; i < r->n_cases; i++)
		if (bb_is_little_executed(&r->cases[i])) {
			fputs("- ", mem);
			bb_put_little_executed(r, put_name, mem);
			putc('\n', mem);
			return;
		}
}

static void put_notes(const struct bb_report *r, FILE *mem)
{
	putc('\n', mem);
	if (r->incomplete) {
		fputs("- **incomplete**: ", mem);
		bb_md_text(r->incomplete, mem);
		putc('\n', mem);
	}
	for (size_t i = 0; i < r->n_cases; i++) {
		struct bb_table_cell rate = bb_table_cell_below_rate(&r->cases[i]);

		if (!rate.text[0])
			continue;
		fputs("- below the rate: ", mem);
		bb_md_text(r->cases[i].name, mem);
		fprintf(mem, ": %s\n", rate.text);
	}
	for (size_t i = 0; i < r->n_cases; i++) {
		if (!r->cases[i].summary.voids)
			continue;
		fputs("- void: ", mem);
		bb_md_text(r->cases[i].name, mem);
		fprintf(mem, ", %u of %zu series\n", r->cases[i].summary.voids,
			r->cases[i].n_series);
	}
	put_little_executed(r, mem);
	for (size_t i = 0; i < r->n_skips; i++) {
		fputs("- skipped: ", mem);
		bb_md_text(r->skips[i].what, mem);
		fputs(": ", mem);
		bb_md_text(r->skips[i].why, mem);
		putc('\n', mem);
	}
	fputs("- run ", mem);
	bb_md_text(r->id, mem);
	fputs(", kernel ", mem);
	bb_md_text(r->fingerprint.kernel_release, mem);
	fputs(", ", mem);
	bb_md_text(r->fingerprint.cpu_model, mem);
	putc('\n', mem);
}

static int compose(const struct bb_report *r, FILE *mem, struct bb_err *err)
{
	put_comparisons(r, mem);
	put_cases(r, mem);
	if (bb_md_in_vain(r, mem))
		return bb_fail_nomem(err);
	put_programs(r, mem);
	put_notes(r, mem);
	return 0;
}

int bb_export_markdown(const struct bb_report *r, FILE *out, struct bb_err *err)
{
	return bb_export_whole(r, out, compose, err);
}
