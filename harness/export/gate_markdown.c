/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/gate_markdown.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "export/exact_diff_print.h"
#include "export/time_diff_print.h"
#include "export/markdown.h"
#include "export/table_cells.h"
#include "judge/diff.h"

static const struct bb_comparison *find_comparison(const struct bb_report *r, const char *name)
{
	for (size_t i = 0; r && i < r->n_comparisons; i++)
		if (bb_same_text(r->comparisons[i].name, name))
			return &r->comparisons[i];
	return NULL;
}

/* --- what it comes to --- */

static void put_headline(const struct bb_gate *g, const struct bb_report *first,
			 const struct bb_report *again, FILE *mem)
{
	size_t regressed = bb_gate__count(first, again, BB_GATE_REGRESSED);
	size_t unconfirmed = bb_gate__count(first, again, BB_GATE_UNCONFIRMED);
	size_t more = bb_gate__count_exact(g, BB_GATE_REGRESSED);

	fputs("## bpfbench gate: ", mem);
	if (regressed)
		fprintf(mem, "%zu of %zu comparisons regressed", regressed, first->n_comparisons);
	if (more)
		fprintf(mem, "%s%zu of %zu cases execute more instructions", regressed ? ", " : "",
			more, g->counted.n_rows);
	if (!regressed && !more)
		fputs(bb_gate__any(g, BB_GATE_FAILED) ? "a program does not load any more"
		      : first->n_comparisons          ? "no regression"
						      : "nothing to compare",
		      mem);
	fputs("\n\n", mem);
	if (!first->n_comparisons)
		return;
	fprintf(mem, "%zu improved, %zu same, %zu inconclusive (these never fail)",
		bb_report__count_verdict(first, BB_VERDICT_IMPROVED),
		bb_report__count_verdict(first, BB_VERDICT_SAME),
		bb_report__count_verdict(first, BB_VERDICT_INCONCLUSIVE));
	if (unconfirmed)
		fprintf(mem, ", %zu regressed at first, but not when measured again (nor do these)",
			unconfirmed);
	fprintf(mem,
		". Beyond %g %% counts; an alert is measured a second time before it does.\n\n",
		100 * g->threshold);
}

static void put_revision(const char *label, const char *name, const char *commit, const char *more,
			 const char *made, FILE *mem)
{
	fprintf(mem, "- %s: ", label);
	bb_md_text(name ? name : "the work tree", mem);
	fprintf(mem, " (%.12s%s)", commit, more);
	if (made)
		fprintf(mem, ", built by `%s`", made);
	putc('\n', mem);
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
		fprintf(mem, " %s to ", bb_table_cell_number(row->a, BB_WHOLE).text);
		fputs(bb_table_cell_number(row->b, BB_WHOLE).text, mem);
		before = ", ";
	}
	if (before[0] == ';')
		fputs("; no exact metric of the program moved: look at the contents of its maps "
		      "and at the functions that it calls",
		      mem);
}

/* What regressed, by how much, and what to look at. */
static void put_regressed(const struct bb_gate *g, const struct bb_report *first,
			  const struct bb_report *again, const struct bb_diffs *d, FILE *mem)
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

/* --- tables --- */

/* Did base or head look for something in vain? Cases have their variant in the middle. */
static bool is_in_vain(const struct bb_report *r, const struct bb_comparison *c)
{
	for (size_t i = 0; i < r->n_cases; i++) {
		const struct bb_case *k = &r->cases[i];
		size_t len = strlen(k->scenario);

		if (k->n_in_vain && !strncmp(c->name, k->name, len + 1) &&
		    !strcmp(c->name + len, k->name + len + 1 + strlen(k->variant)))
			return true;
	}
	return false;
}

static void put_verdict(const struct bb_report *first, const struct bb_comparison *c,
			const struct bb_report *again, FILE *mem)
{
	enum bb_gate_verdict verdict = bb_gate__verdict(c, again);
	char step[BB_NEXT_STEP];

	if (verdict == BB_GATE_REGRESSED)
		fputs("**regressed**", mem);
	else
		fputs(verdict == BB_GATE_UNCONFIRMED ? "not confirmed"
						     : bb_verdict_name(c->verdict),
		      mem);
	bb_comparison__next_step(c, "--each", step);
	fprintf(mem, "%s%s", step[0] ? ": " : "", step);
	if (is_in_vain(first, c))
		fputs(", of lookups in vain", mem);
	if (c->n_void)
		fprintf(mem, ", %u of %zu pairs void", c->n_void, c->n_pairs);
}

static void put_comparisons(const struct bb_report *first, const struct bb_report *again, FILE *mem)
{
	fputs("\n| case | base, ns | head, ns | difference | interval | again | verdict |\n"
	      "|---|--:|--:|--:|--:|--:|---|\n",
	      mem);
	for (size_t i = 0; i < first->n_comparisons; i++) {
		const struct bb_comparison *c = &first->comparisons[i],
					   *second = find_comparison(again, c->name);

		bb_md_comparison(c, mem);
		fputs(" | ", mem);
		if (second && c->verdict == BB_VERDICT_REGRESSED)
			bb_md_interval(&second->ratio, mem);
		fputs(" | ", mem);
		put_verdict(first, c, again, mem);
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
			fputs("\n| program | exact metric | base | head | difference "
			      "|\n|---|---|--:|--:|--:|\n",
			      mem);
		any = true;
		fputs("| ", mem);
		bb_md_text(row->name, mem);
		fputs(" | ", mem);
		bb_md_text(row->metric, mem);
		fputs(" |", mem);
		bb_md_number(row->a, BB_WHOLE, mem);
		bb_md_number(row->b, BB_WHOLE, mem);
		fprintf(mem, " %s%s |\n", row->shift > 0 ? "+" : "",
			bb_table_cell_number(row->shift, BB_WHOLE).text);
	}
}

static void put_count(const struct bb_counted_case *c, FILE *mem)
{
	if (c->void_why || !c->runs)
		fputs(" void |", mem);
	else if (c->least == c->most)
		fprintf(mem, " %s |", bb_table_cell_number((double)c->least, BB_WHOLE).text);
	else
		fprintf(mem, " %" PRIu64 " to %" PRIu64 " |", c->least, c->most);
}

/* "prog.work/head/exact" without the variant: the row is of both. */
static void put_case(const char *name, FILE *mem)
{
	const char *variant = strstr(name, "/head/");
	char both[600];

	snprintf(both, sizeof(both), "%.*s%s", variant ? (int)(variant - name) : 0, name,
		 variant ? variant + strlen("/head") : name);
	fputs("| ", mem);
	bb_md_text(both, mem);
	fputs(" |", mem);
}

static void put_counted_verdict(const struct bb_gate *g, const struct bb_exact_row *row, FILE *mem)
{
	static const char *const words[] =
		{[BB_GATE_REGRESSED] = "**regressed**", [BB_GATE_UNCONFIRMED] = "not confirmed"};
	enum bb_gate_verdict verdict = bb_gate__exact_verdict(g, row);

	if (verdict == BB_GATE_NOT_REGRESSED && row->verdict == BB_VERDICT_REGRESSED)
		fputs(" more |\n", mem);
	else
		fprintf(mem, " %s |\n",
			verdict == BB_GATE_NOT_REGRESSED ? bb_verdict_name(row->verdict)
							 : words[verdict]);
}

/* Where in the source a program's instructions became more or fewer. */
static void put_lines(const struct bb_exact_program *p, FILE *mem)
{
	if (!p->n_lines)
		return;
	fputs("\n", mem);
	bb_md_text(p->b->scenario, mem);
	fputs(", instructions per run by source line:\n\n", mem);
	for (size_t i = 0; i < p->n_lines && i < BB_EXACT_LINES; i++) {
		const struct bb_counted_line *l = p->lines[i].line;

		fprintf(mem, "- %+.2f ", p->lines[i].more);
		bb_md_text(bb_counted_line__file(l), mem);
		fprintf(mem, ":%u ", l->line);
		bb_md_text(l->line ? l->text + strspn(l->text, " \t") : "(the compiler's own)",
			   mem);
		putc('\n', mem);
	}
	if (p->n_lines > BB_EXACT_LINES)
		fprintf(mem, "- ... and %zu lines more\n", p->n_lines - BB_EXACT_LINES);
}

/* Instructions executed, where they are not the same. */
static void put_counted(const struct bb_gate *g, FILE *mem)
{
	const struct bb_exact_diff *d = &g->counted;
	size_t differ = d->n_rows - bb_exact_diff__count(d, BB_VERDICT_SAME), shown = 0;

	if (!d->n_rows)
		return;
	fprintf(mem, "\nInstructions executed in a run, counted: %zu cases, %zu the same%s.\n",
		d->n_rows, d->n_rows - differ,
		differ && !g->exact ? " (reported only; `--exact` fails on one more)" : "");
	if (!differ)
		return;
	fputs("\n| case | base | head | difference | verdict |\n|---|--:|--:|--:|---|\n", mem);
	for (size_t i = 0; i < d->n_rows && shown < BB_EXACT_ROWS; i++) {
		const struct bb_exact_row *row = &d->rows[i];

		if (row->verdict == BB_VERDICT_SAME)
			continue;
		shown++;
		put_case(row->name, mem);
		put_count(row->a, mem);
		put_count(row->b, mem);
		if (bb_counted_case__is_exact(row->a) && bb_counted_case__is_exact(row->b))
			fprintf(mem, " %+" PRId64 " |", (int64_t)(row->b->least - row->a->least));
		else
			fputs(" - |", mem);
		put_counted_verdict(g, row, mem);
	}
	if (differ > shown)
		fprintf(mem, "\n... and %zu more that differ\n", differ - shown);
	for (size_t i = 0; i < d->n_programs; i++)
		put_lines(&d->programs[i], mem);
}

/* What was not compared, or under another name: the same words for all of one state. */
static void put_others(const struct bb_gate *g, FILE *mem)
{
	static const char *const words[] = {
		[BB_GATE_COMPARED] = "renamed",
		[BB_GATE_SAME] = "the same bytes in both, not measured",
		[BB_GATE_NEW] = "new in head",
		[BB_GATE_GONE] = "gone from head",
		[BB_GATE_SKIPPED] = "not compared",
		[BB_GATE_FAILED] = "**head does not load, base does**",
	};

	putc('\n', mem);
	for (size_t i = 0; i < g->n_programs; i++) {
		const struct bb_gate_program *p = &g->programs[i];

		if (p->state == BB_GATE_COMPARED && !p->why)
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
			if (g->programs[p].state != BB_GATE_COMPARED ||
			    !bb_gate__owns(&g->programs[p], first->skips[i].what))
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

int bb_gate__markdown(const struct bb_gate *g, const struct bb_report *first,
		      const struct bb_report *again, FILE *out, struct bb_err *err)
{
	struct bb_diffs d = {0};
	int rc = bb_diff_comparisons(first, 0, first->n_comparisons, &d, err);

	if (rc)
		return rc;
	put_headline(g, first, again, out);
	put_revision("base", g->base, g->base_commit, "", g->base_made, out);
	put_revision("head", g->head, g->head_commit, g->dirty ? " and uncommitted changes" : "",
		     g->head_made, out);
	put_regressed(g, first, again, &d, out);
	if (first->n_comparisons)
		put_comparisons(first, again, out);
	if (bb_md_in_vain(first, out))
		rc = bb_fail_nomem(err);
	put_exact(&d, out);
	bb_time_diff__markdown(&g->timed, out);
	put_counted(g, out);
	put_others(g, out);
	put_skips(g, first, out);
	if (first->n_comparisons)
		put_machine(first, out);
	bb_diffs__done(&d);
	return rc;
}
