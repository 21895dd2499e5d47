/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <string.h>

#include "export/documents.h"

/* --- what it comes to --- */

static void add_headline(const struct bb_doc_gate *v, struct bb_doc *d)
{
	const struct bb_gate *g = v->gate;
	const struct bb_report *first = v->first;
	size_t regressed = bb_gate__count(first, v->again, BB_GATE_REGRESSED);
	size_t unconfirmed = bb_gate__count(first, v->again, BB_GATE_UNCONFIRMED);
	size_t more = bb_gate__count_exact(g, BB_GATE_REGRESSED);

	bb_doc__add(d, BB_DOC_HEADLINE, NULL, "bpfbench gate: ");
	if (regressed)
		bb_doc__append(d, "%zu of %zu comparisons regressed", regressed,
			       first->n_comparisons);
	if (more)
		bb_doc__append(d, "%s%zu of %zu cases execute more instructions",
			       regressed ? ", " : "", more, g->counted.n_rows);
	if (!regressed && !more)
		bb_doc__append(d, "%s",
			       bb_gate__any(g, BB_GATE_FAILED) ? "a program does not load any more"
			       : first->n_comparisons          ? "no regression"
							       : "nothing to compare");
	if (!first->n_comparisons)
		return;
	bb_doc__add(d, BB_DOC_PARAGRAPH, NULL,
		    "%zu improved, %zu same, %zu inconclusive (these never fail)",
		    bb_report__count_verdict(first, BB_VERDICT_IMPROVED),
		    bb_report__count_verdict(first, BB_VERDICT_SAME),
		    bb_report__count_verdict(first, BB_VERDICT_INCONCLUSIVE));
	if (unconfirmed)
		bb_doc__append(d,
			       ", %zu regressed at first, but not when measured again (nor do "
			       "these)",
			       unconfirmed);
	bb_doc__append(d,
		       ". Beyond %g %% counts; an alert is measured a second time before it does.",
		       100 * g->threshold);
}

static void add_revision(const char *label, const char *name, const char *commit, const char *more,
			 const char *made, struct bb_doc *d)
{
	bb_doc__add(d, BB_DOC_ITEM, NULL, "%s: %s (%.12s%s)", label, name ? name : "the work tree",
		    commit, more);
	if (made)
		bb_doc__append(d, ", built by '%s'", made);
}

static void add_moved(const struct bb_diffs *diffs, const char *scenario, struct bb_doc *d)
{
	size_t n = 0;

	for (size_t i = 0; i < diffs->n; i++) {
		const struct bb_diff *row = &diffs->rows[i];

		if (row->exact && bb_same_text(row->name, scenario))
			bb_doc__append(d, "%s%s %s to %s",
				       n++ ? ", " : "; also moved: ", row->metric,
				       bb_table_cell_number(row->a, BB_WHOLE).text,
				       bb_table_cell_number(row->b, BB_WHOLE).text);
	}
	if (!n)
		bb_doc__append(d, "; no exact metric of the program moved: look at the contents of "
				  "its maps and at the functions that it calls");
}

/* What regressed, by how much, and what to look at. */
static void add_regressed(const struct bb_doc_gate *v, const struct bb_diffs *diffs,
			  struct bb_doc *d)
{
	const struct bb_gate *g = v->gate;

	for (size_t i = 0; i < v->first->n_comparisons; i++) {
		const struct bb_comparison *c = &v->first->comparisons[i], *again = NULL;

		if (bb_gate__verdict(c, v->again) != BB_GATE_REGRESSED)
			continue;
		for (size_t k = 0; k < v->again->n_comparisons && !again; k++)
			if (bb_same_text(v->again->comparisons[k].name, c->name))
				again = &v->again->comparisons[k];
		bb_doc__add(d, BB_DOC_BAD_ITEM, c->name, "costs %s %% %s, and measured again %s %%",
			    bb_percent_cell(c->ratio.value).text, bb_percents_cell(&c->ratio).text,
			    bb_percent_cell(again->ratio.value).text);
		for (size_t p = 0; p < g->n_programs; p++)
			if (bb_gate__owns(&g->programs[p], c->name))
				add_moved(diffs, g->programs[p].label, d);
	}
}

/* What the figures of the table are of, and how many of them do not count. */
static void add_warnings(const struct bb_report *first, struct bb_doc *d)
{
	for (size_t i = 0; i < first->n_comparisons; i++) {
		const struct bb_comparison *c = &first->comparisons[i];

		if (c->n_void)
			bb_doc__add(d, BB_DOC_ITEM, c->name, "%u of %zu pairs void", c->n_void,
				    c->n_pairs);
	}
	bb_doc_in_vain(first, NULL, d);
}

static void add_counted(const struct bb_doc_gate *v, struct bb_doc *d)
{
	const struct bb_exact_diff *diff = &v->gate->counted;
	size_t same = bb_exact_diff__count(diff, BB_VERDICT_SAME);

	if (!diff->n_rows)
		return;
	bb_doc__add(d, BB_DOC_PARAGRAPH, NULL,
		    "Instructions executed in a run, counted: %zu cases, %zu the same%s.",
		    diff->n_rows, same,
		    diff->n_rows > same && !v->gate->exact ? " (reported only; `--exact` fails on "
							     "one more)"
							   : "");
	if (diff->n_rows > same)
		bb_doc_exact_diff(diff, v, d);
}

/* What was not compared, or under another name: the same words for all of one state. */
static void add_others(const struct bb_gate *g, struct bb_doc *d)
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

/* Drives that cannot be had here, of programs that were compared by others. */
static void add_skips(const struct bb_gate *g, const struct bb_report *first, struct bb_doc *d)
{
	for (size_t i = 0; i < first->n_skips; i++)
		for (size_t p = 0; p < g->n_programs; p++)
			if (g->programs[p].state == BB_GATE_COMPARED &&
			    bb_gate__owns(&g->programs[p], first->skips[i].what))
				bb_doc__add(d, BB_DOC_ITEM, "skipped", "%s: %s",
					    first->skips[i].what, first->skips[i].why);
}

int bb_doc_gate(const struct bb_doc_gate *v, struct bb_doc *d, struct bb_err *err)
{
	const struct bb_gate *g = v->gate;
	const struct bb_report *first = v->first;
	struct bb_diffs diffs = {0};
	int rc = bb_diff_comparisons(first, 0, first->n_comparisons, &diffs, err);

	if (rc)
		return rc;
	add_headline(v, d);
	add_revision("A: base", g->base, g->base_commit, "", g->base_made, d);
	add_revision("B: head", g->head, g->head_commit, g->dirty ? " and uncommitted changes" : "",
		     g->head_made, d);
	add_regressed(v, &diffs, d);
	bb_doc_diff_table(&diffs, 0, diffs.n, v, d);
	add_warnings(first, d);
	bb_doc_time_diff(&g->timed, d);
	add_counted(v, d);
	add_others(g, d);
	add_skips(g, first, d);
	if (first->n_comparisons)
		bb_doc__add(d, BB_DOC_ITEM, NULL, "measured on kernel %s, %s",
			    first->fingerprint.kernel_release, first->fingerprint.cpu_model);
	bb_diffs__done(&diffs);
	return 0;
}
