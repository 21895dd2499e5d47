/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/cost.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "export/table_cells.h"
#include "export/text_table.h"
#include "stats/cost_fit.h"

/* The times of a program's cases by one drive, and what was executed in each. */
struct cost {
	const struct bb_counted *counted;
	const char *drive;
	double *x, *y, *work; /* struct bb_cost_data's */
	size_t *of;           /* by row: index of the counted case */
	size_t n;
	double *costs;
	struct bb_interval *intervals;
	struct bb_cost_fit fit;
};

static void free_cost(struct cost *k)
{
	free(k->x);
	free(k->y);
	free(k->work);
	free(k->of);
	free(k->costs);
	free(k->intervals);
}

static int make_cost(struct cost *k, const struct bb_counted *c)
{
	size_t n = c->n_cases + 1, m = c->n_groups + 1;

	*k = (struct cost){.counted = c,
			   .x = calloc(n * m, sizeof(*k->x)),
			   .y = calloc(n, sizeof(*k->y)),
			   .work = calloc(n, sizeof(*k->work)),
			   .of = calloc(n, sizeof(*k->of)),
			   .costs = calloc(m, sizeof(*k->costs)),
			   .intervals = calloc(m, sizeof(*k->intervals))};
	return k->x && k->y && k->work && k->of && k->costs && k->intervals ? 0 : -ENOMEM;
}

/* --- rows --- */

/* What a run of the counted case takes by a drive, ns; NAN: it was not measured. */
static double time_of(const struct bb_report *r, const struct bb_counted *c,
		      const struct bb_counted_case *k, const char *drive)
{
	for (size_t i = 0; i < r->n_cases; i++) {
		const struct bb_case *timed = &r->cases[i];

		if (!strcmp(timed->drive, drive) && !strcmp(timed->variant, c->variant) &&
		    !strcmp(timed->scenario, c->scenario) && bb_same_text(timed->param, k->param) &&
		    timed->param_value == k->param_value)
			return timed->summary.latency.value;
	}
	return NAN;
}

/* The drive that timed most of the cases; of two, the finer one. */
static void find_times(struct cost *k, const struct bb_report *r)
{
	static const char *const drives[] = {"step", "slope"};
	const struct bb_counted *c = k->counted;

	for (size_t d = 0; d < sizeof(drives) / sizeof(drives[0]); d++) {
		size_t n = 0;

		for (size_t i = 0; i < c->n_cases; i++)
			n += !c->cases[i].void_why && c->cases[i].runs &&
			     !isnan(time_of(r, c, &c->cases[i], drives[d]));
		if (!n || n < k->n)
			continue;
		k->drive = drives[d];
		k->n = 0;
		for (size_t i = 0; i < c->n_cases; i++) {
			double ns = time_of(r, c, &c->cases[i], drives[d]);

			if (c->cases[i].void_why || !c->cases[i].runs || isnan(ns))
				continue;
			k->of[k->n] = i;
			k->work[k->n] = (double)c->cases[i].instructions / (double)c->cases[i].runs;
			k->y[k->n++] = ns;
		}
	}
}

/* Column j: executions in one run of each case that was timed. */
static int read_counts(struct cost *k, size_t j, struct bb_err *err)
{
	const struct bb_counted *c = k->counted;
	const char *at = c->groups[j].counts;
	uint64_t count;

	for (size_t i = 0, row = 0; i < c->n_cases; i++) {
		if (bb_parse_digits(&at, &count))
			return bb_fail(err, -EINVAL,
				       "%s: the counts of blocks do not match its %zu cases",
				       c->name, c->n_cases);
		at += *at == ' ';
		if (row == k->n || k->of[row] != i)
			continue;
		k->x[row++ * c->n_groups + j] = (double)count / (double)c->cases[i].runs;
	}
	return *at ? bb_fail(err, -EINVAL, "%s: there are more counts of blocks than its %zu cases",
			     c->name, c->n_cases)
		   : 0;
}

/* --- what it comes to --- */

static void put_refusal(const struct cost *k, FILE *out)
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

static double executions(const struct cost *k, size_t j)
{
	double sum = 0;

	for (size_t i = 0; i < k->n; i++)
		sum += k->x[i * k->counted->n_groups + j];
	return sum / (double)k->n;
}

/* What depends on the others, or is free: its cost, if any, is in theirs. */
static void put_others(const struct cost *k, FILE *out)
{
	const char *before = "  no cost beside these: ";

	for (size_t j = 0; j < k->counted->n_groups; j++) {
		if (k->costs[j] > 0)
			continue;
		fputs(before, out);
		bb_put_clean(out, k->counted->groups[j].where);
		fprintf(out, " (%u insns, %.2f execs/run)", k->counted->groups[j].n_insns,
			executions(k, j));
		before = "; ";
	}
	fputs(before[0] == ';' ? "\n" : "", out);
}

static int put_costs(const struct cost *k, FILE *out)
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
		bb_text_table__add(&t, "%.2f", executions(k, j));
		bb_text_table__add(&t, "%.2f", k->costs[j] * executions(k, j));
		bb_text_table__add(&t, "%s", g->where);
	}
	rc = bb_text_table__print(&t, 2, out);
	bb_text_table__done(&t);
	put_others(k, out);
	return rc;
}

static int fit(struct cost *k, const struct bb_report *r, struct bb_err *err)
{
	int rc = 0;

	find_times(k, r);
	for (size_t j = 0; !rc && j < k->counted->n_groups; j++)
		rc = read_counts(k, j, err);
	if (rc || !k->n || !k->counted->n_groups)
		return rc;
	rc = bb_cost_fit(&(struct bb_cost_data){k->x, k->y, k->work, k->n, k->counted->n_groups},
			 k->costs, k->intervals, &k->fit);
	return rc ? bb_fail_nomem(err) : 0;
}

int bb_put_cost(const struct bb_report *r, const struct bb_counted *c, FILE *out,
		struct bb_err *err)
{
	struct cost k;
	int rc = make_cost(&k, c) ? bb_fail_nomem(err) : fit(&k, r, err);

	if (!rc) {
		bb_put_clean(out, c->name);
		fputs(": ", out);
	}
	if (!rc && !c->n_groups)
		fprintf(out, "no costs by block: it was counted on %zu inputs, and 8 are needed\n",
			c->n_cases);
	else if (!rc && !k.n)
		fputs("no costs by block: the run has no time of these inputs, by step or slope\n",
		      out);
	else if (!rc && k.fit.verdict != BB_COST_FITS)
		put_refusal(&k, out);
	else if (!rc && put_costs(&k, out))
		rc = bb_fail_nomem(err);
	free_cost(&k);
	return rc;
}
