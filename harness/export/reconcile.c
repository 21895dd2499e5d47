/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/reconcile.h"

#include <math.h>
#include <string.h>

#include "export/table_cells.h"
#include "export/text_table.h"

#define OFF_NS 10 /* the margin that censoring allows a sample, stats/estimate.h */
#define OFF_SHARE 0.1

/* What follows the drive in a case's name: "/input=syn", or nothing. */
static const char *rest_of(const struct bb_case *c)
{
	size_t len = strlen(c->scenario) + strlen(c->variant) + strlen(c->drive) + 2;

	return strlen(c->name) >= len ? c->name + len : "";
}

static const struct bb_case *step_beside(const struct bb_report *r, const struct bb_case *slope)
{
	for (size_t i = 0; i < r->n_cases; i++) {
		const struct bb_case *c = &r->cases[i];

		if (!strcmp(c->drive, "step") && !strcmp(c->scenario, slope->scenario) &&
		    !strcmp(c->variant, slope->variant) && !strcmp(rest_of(c), rest_of(slope)))
			return c;
	}
	return NULL;
}

static double step_minus_slope(const struct bb_report *r, const struct bb_case *slope)
{
	const struct bb_case *step = step_beside(r, slope);

	return step ? step->summary.latency.value - slope->summary.latency.value : NAN;
}

bool bb_reconcile(const struct bb_report *r, size_t i, struct bb_reconciled *ret_reconciled)
{
	struct bb_reconciled k = {.slope = &r->cases[i], .stats_ns = NAN};

	if (strcmp(k.slope->drive, "slope"))
		return false;
	k.step = step_beside(r, k.slope);
	if (!k.step || isnan(step_minus_slope(r, k.slope)))
		return false;
	if (k.slope->floor != BB_NO_FLOOR)
		k.stats_ns = step_minus_slope(r, &r->cases[k.slope->floor]);
	k.off_ns = step_minus_slope(r, k.slope) - k.stats_ns;
	k.agrees = fabs(k.off_ns) <= fmax(OFF_NS, OFF_SHARE * k.step->summary.latency.value);
	*ret_reconciled = k;
	return true;
}

static void add_number(struct bb_text_table *t, double value, double scale)
{
	bb_text_table__add(t, "%s", bb_cell_number(value, scale).text);
}

static void add_row(struct bb_text_table *t, const struct bb_reconciled *k)
{
	double step_ns = k->step->summary.latency.value, slope_ns = k->slope->summary.latency.value;

	bb_text_table__add(t, "%s%s", k->slope->variant, rest_of(k->slope));
	add_number(t, slope_ns, step_ns);
	add_number(t, k->stats_ns, step_ns);
	add_number(t, step_ns, step_ns);
	add_number(t, k->off_ns, step_ns);
	bb_text_table__add(t, "%s", k->agrees ? "agree" : "DISAGREE");
}

int bb_put_reconciled(const struct bb_report *r, FILE *out)
{
	static const struct bb_text_column columns[] = {
		{"program", true}, {"slope", false},  {"+ bpf_stats", false},
		{"step", false},   {"off by", false}, {"", true},
	};
	struct bb_text_table t;
	struct bb_reconciled k;
	int rc = 0;

	bb_text_table__init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < r->n_cases; i++)
		if (bb_reconcile(r, i, &k) && isfinite(k.stats_ns))
			add_row(&t, &k);
	if (t.n_cells) {
		fputs("\nslope + bpf_stats = step? (ns per run; the floor says what bpf_stats "
		      "costs, within 10 ns or 10 % is agreement:\n"
		      "step has a system call before each run, slope has none)\n",
		      out);
		rc = bb_text_table__print(&t, 2, out);
	}
	bb_text_table__done(&t);
	return rc;
}
