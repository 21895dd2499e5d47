/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/cost_print.h"

#include "export/table_cells.h"
#include "export/text_table.h"

static void put_refusal(const struct bb_cost *k, FILE *out)
{
	const struct bb_cost_fit *f = &k->fit;

	fputs("no costs by block: ", out);
	switch (f->verdict) {
	case BB_COST_FITS: break;
	case BB_COST_FEW_WAYS:
		fprintf(out,
			"the inputs take %zu different ways through it; 8 are needed, and 2 for "
			"each cost\n",
			f->n_ways);
		break;
	case BB_COST_AS_CONSTANT:
		fprintf(out,
			"one time for all inputs predicts as well (median error %.2f ns, by blocks "
			"%.2f ns)\n",
			f->error_constant, f->error);
		break;
	case BB_COST_AS_WORK:
		fprintf(out,
			"one cost for every instruction, %.3f ns, predicts as well (median error "
			"%.2f ns, by blocks %.2f ns)\n",
			f->per_work, f->error_work, f->error);
		break;
	}
}

/* What depends on the others, or is free: its cost, if any, is in theirs. */
static void put_others(const struct bb_cost *k, FILE *out)
{
	const char *before = "  no cost beside these: ";

	for (size_t j = 0; j < k->counted->n_groups; j++) {
		if (k->costs[j] > 0)
			continue;
		fputs(before, out);
		bb_put_clean(out, k->counted->groups[j].where);
		fprintf(out, " (%u insns, %.2f execs/run)", k->counted->groups[j].n_insns,
			bb_cost__executions(k, j));
		before = "; ";
	}
	fputs(before[0] == ';' ? "\n" : "", out);
}

static int put_costs(const struct bb_cost *k, FILE *out)
{
	static const struct bb_text_column columns[] = {
		{"ns each", false},   {"95 % interval", false}, {"insns", false},
		{"execs/run", false}, {"ns/run", false},        {"where", true},
	};
	const struct bb_cost_fit *f = &k->fit;
	struct bb_text_table t;
	int rc;

	fprintf(out,
		"ns an execution, by %zu inputs of the drive %s that take %zu different ways\n",
		k->n, k->drive, f->n_ways);
	fprintf(out,
		"  predicts inputs it has not seen with R2 = %.4f, median error %.2f ns (one cost "
		"for every instruction: %.2f ns, one time for all: %.2f ns)\n",
		f->r2, f->error, f->error_work, f->error_constant);
	bb_text_table__init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t j = 0; j < k->counted->n_groups; j++) {
		const struct bb_counted_group *g = &k->counted->groups[j];

		if (!(k->costs[j] > 0))
			continue;
		bb_text_table__add(&t, "%.3f", k->costs[j]);
		bb_text_table__add(&t, "[%.3f, %.3f]", k->intervals[j].lo, k->intervals[j].hi);
		bb_text_table__add(&t, "%u", g->n_insns);
		bb_text_table__add(&t, "%.2f", bb_cost__executions(k, j));
		bb_text_table__add(&t, "%.2f", k->costs[j] * bb_cost__executions(k, j));
		bb_text_table__add(&t, "%s", g->where);
	}
	rc = bb_text_table__print(&t, 2, out);
	bb_text_table__done(&t);
	put_others(k, out);
	return rc;
}

int bb_cost__print(const struct bb_cost *k, FILE *out)
{
	const struct bb_counted *c = k->counted;

	bb_put_clean(out, c->name);
	fputs(": ", out);
	if (!c->n_groups)
		fprintf(out, "no costs by block: it was counted on %zu inputs, and 8 are needed\n",
			c->n_cases);
	else if (!k->n)
		fputs("no costs by block: the run has no time of these inputs, by step or slope\n",
		      out);
	else if (k->fit.verdict != BB_COST_FITS)
		put_refusal(k, out);
	else
		return put_costs(k, out);
	return 0;
}
