/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <string.h>

#include "report/diff.h"
#include "report/gate.h"
#include "report/markdown.h"
#include "report/table_cells.h"

static const struct bb_comparison *find_comparison(const struct bb_report *r, const char *name)
{
	for (size_t i = 0; r && i < r->n_comparisons; i++)
		if (bb_same_text(r->comparisons[i].name, name))
			return &r->comparisons[i];
	return NULL;
}

static size_t count_verdict(const struct bb_report *r, enum bb_verdict verdict)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_comparisons; i++)
		n += r->comparisons[i].verdict == verdict;
	return n;
}

/* --- what it comes to ---------------------------------------------------------------------------------------- */

static void put_headline(const struct bb_gate *g, const struct bb_report *first, const struct bb_report *again,
			 FILE *mem)
{
	size_t regressed = bb_gate__count(first, again, BB_GATE_REGRESSED);
	size_t unconfirmed = bb_gate__count(first, again, BB_GATE_UNCONFIRMED);

	fputs("## bpfbench gate: ", mem);
	if (regressed)
		fprintf(mem, "%zu of %zu comparisons regressed", regressed, first->n_comparisons);
	else if (bb_gate__any(g, BB_GATE_FAILED))
		fputs("a program does not load any more", mem);
	else if (!first->n_comparisons)
		fputs("nothing to compare", mem);
	else
		fputs("no regression", mem);
	fputs("\n\n", mem);
	if (!first->n_comparisons)
		return;
	fprintf(mem, "%zu improved, %zu same, %zu inconclusive (these never fail)", count_verdict(first, BB_VERDICT_IMPROVED),
		count_verdict(first, BB_VERDICT_SAME), count_verdict(first, BB_VERDICT_INCONCLUSIVE));
	if (unconfirmed)
		fprintf(mem, ", %zu regressed at first, but not when measured again (nor do these)", unconfirmed);
	fprintf(mem, ". Beyond %g %% counts; an alert is measured a second time before it does.\n\n", 100 * g->threshold);
}

static void put_revision(const char *label, const char *name, const char *commit, const char *more, FILE *mem)
{
	fprintf(mem, "- %s: ", label);
	bb_md_text(name ? name : "the work tree", mem);
	fprintf(mem, " (%.12s%s)\n", commit, more);
}

static void put_moved(const struct bb_diffs *d, const char *scenario, FILE *mem)
{
	const char *before = "; also moved: ";

	for (size_t i = 0; i < d->n; i++) {
		const struct bb_diff *row = &d->rows[i];

		if (!row->exact || !bb_same_text(row->name, scenario))
			continue;
		fputs(before, mem);
		bb_md_text(row->metric, mem);
		fprintf(mem, " %s to ", bb_cell_number(row->a, BB_WHOLE).text);
		fputs(bb_cell_number(row->b, BB_WHOLE).text, mem);
		before = ", ";
	}
	if (before[0] == ';')
		fputs("; nothing else about the program moved: what do its maps hold, what does it call?", mem);
}

/* What regressed, by how much, and what to look at. */
static void put_regressed(const struct bb_gate *g, const struct bb_report *first, const struct bb_report *again,
			  const struct bb_diffs *d, FILE *mem)
{
	for (size_t i = 0; i < first->n_comparisons; i++) {
		const struct bb_comparison *c = &first->comparisons[i];

		if (bb_gate__verdict(c, again) != BB_GATE_REGRESSED)
			continue;
		fputs("- **", mem);
		bb_md_text(c->name, mem);
		fputs("** costs ", mem);
		bb_md_percent(c->ratio.value, mem);
		fputs(" (", mem);
		bb_md_interval(&c->ratio, mem);
		fputs("), and measured again ", mem);
		bb_md_percent(find_comparison(again, c->name)->ratio.value, mem);
		for (size_t p = 0; p < g->n_programs; p++)
			if (bb_gate__owns(&g->programs[p], c->name))
				put_moved(d, g->programs[p].label, mem);
		putc('\n', mem);
	}
}

/* --- tables -------------------------------------------------------------------------------------------------- */

static void put_verdict(const struct bb_comparison *c, const struct bb_report *again, FILE *mem)
{
	enum bb_gate_verdict verdict = bb_gate__verdict(c, again);

	if (verdict == BB_GATE_REGRESSED)
		fputs("**regressed**", mem);
	else
		fputs(verdict == BB_GATE_UNCONFIRMED ? "not confirmed" : bb_verdict_name(c->verdict), mem);
	if (c->n_void)
		fprintf(mem, ", %u of %zu pairs void", c->n_void, c->n_pairs);
}

static void put_comparisons(const struct bb_report *first, const struct bb_report *again, FILE *mem)
{
	fputs("\n| case | base, ns | head, ns | difference | interval | again | verdict |\n"
	      "|---|--:|--:|--:|--:|--:|---|\n", mem);
	for (size_t i = 0; i < first->n_comparisons; i++) {
		const struct bb_comparison *c = &first->comparisons[i], *second = find_comparison(again, c->name);

		fputs("| ", mem);
		bb_md_text(c->name, mem);
		fputs(" |", mem);
		bb_md_number(c->base_ns, c->base_ns, mem);
		bb_md_number(c->head_ns, c->base_ns, mem);
		putc(' ', mem);
		bb_md_percent(c->ratio.value, mem);
		fputs(" | ", mem);
		bb_md_interval(&c->ratio, mem);
		fputs(" | ", mem);
		if (second && c->verdict == BB_VERDICT_REGRESSED)
			bb_md_interval(&second->ratio, mem);
		fputs(" | ", mem);
		put_verdict(c, again, mem);
		fputs(" |\n", mem);
	}
}

static void put_exact(const struct bb_diffs *d, FILE *mem)
{
	bool any = false;

	for (size_t i = 0; i < d->n; i++) {
		const struct bb_diff *row = &d->rows[i];

		if (!row->exact)
			continue;
		if (!any)
			fputs("\n| program | exact metric | base | head | difference |\n|---|---|--:|--:|--:|\n", mem);
		any = true;
		fputs("| ", mem);
		bb_md_text(row->name, mem);
		fputs(" | ", mem);
		bb_md_text(row->metric, mem);
		fputs(" |", mem);
		bb_md_number(row->a, BB_WHOLE, mem);
		bb_md_number(row->b, BB_WHOLE, mem);
		fprintf(mem, " %s%s |\n", row->shift > 0 ? "+" : "", bb_cell_number(row->shift, BB_WHOLE).text);
	}
}

/* What was not compared: the same words for all of one state. */
static void put_others(const struct bb_gate *g, FILE *mem)
{
	static const char *const words[] = {
		[BB_GATE_COMPARED] = "", [BB_GATE_SAME] = "the same bytes in both, not measured", [BB_GATE_NEW] = "new in head",
		[BB_GATE_GONE] = "gone from head", [BB_GATE_SKIPPED] = "not compared",
		[BB_GATE_FAILED] = "**head does not load, base does**",
	};

	putc('\n', mem);
	for (size_t i = 0; i < g->n_programs; i++) {
		const struct bb_gate_program *p = &g->programs[i];

		if (p->state == BB_GATE_COMPARED)
			continue;
		fputs("- ", mem);
		bb_md_text(p->object, mem);
		fputs(p->program ? ", " : "", mem);
		bb_md_text(p->program, mem);
		fprintf(mem, ": %s%s", words[p->state], p->why ? ": " : "");
		bb_md_text(p->why, mem);
		putc('\n', mem);
	}
}

/* Drives that cannot be had here, of programs that were compared by others. */
static void put_skips(const struct bb_gate *g, const struct bb_report *first, FILE *mem)
{
	for (size_t i = 0; i < first->n_skips; i++)
		for (size_t p = 0; p < g->n_programs; p++) {
			if (g->programs[p].state != BB_GATE_COMPARED || !bb_gate__owns(&g->programs[p], first->skips[i].what))
				continue;
			fputs("- skipped: ", mem);
			bb_md_text(first->skips[i].what, mem);
			fputs(": ", mem);
			bb_md_text(first->skips[i].why, mem);
			putc('\n', mem);
		}
}

static void put_machine(const struct bb_report *r, FILE *mem)
{
	fputs("- measured on kernel ", mem);
	bb_md_text(r->fingerprint.kernel_release, mem);
	fputs(", ", mem);
	bb_md_text(r->fingerprint.cpu_model, mem);
	putc('\n', mem);
}

int bb_gate__markdown(const struct bb_gate *g, const struct bb_report *first, const struct bb_report *again, FILE *out,
		      struct bb_err *err)
{
	struct bb_diffs d = {0};
	int rc = bb_diff_comparisons(first, 0, first->n_comparisons, &d, err);

	if (rc)
		return rc;
	put_headline(g, first, again, out);
	put_revision("base", g->base, g->base_commit, "", out);
	put_revision("head", g->head, g->head_commit, g->dirty ? " and what is not committed" : "", out);
	put_regressed(g, first, again, &d, out);
	if (first->n_comparisons)
		put_comparisons(first, again, out);
	put_exact(&d, out);
	put_others(g, out);
	put_skips(g, first, out);
	if (first->n_comparisons)
		put_machine(first, out);
	bb_diffs__done(&d);
	return 0;
}
