/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/cross_check_print.h"

#include <math.h>

#include "export/table_cells.h"
#include "export/text_table.h"
#include "judge/cross_check.h"

static void add_number(struct bb_text_table *t, double value, double scale)
{
	bb_text_table__add(t, "%s", bb_table_cell_number(value, scale).text);
}

static void add_row(struct bb_text_table *t, const struct bb_cross_checked *k)
{
	double step_ns = k->step->summary.latency.value, slope_ns = k->slope->summary.latency.value;

	bb_text_table__add(t, "%s%s", k->slope->variant, k->rest);
	add_number(t, slope_ns, step_ns);
	add_number(t, k->stats_ns, step_ns);
	add_number(t, step_ns, step_ns);
	add_number(t, k->off_ns, step_ns);
	add_number(t, k->noise_ns, step_ns);
	bb_text_table__add(t, "%s", k->agrees ? "agree" : "DISAGREE");
}

int bb_put_cross_checks(const struct bb_report *r, FILE *out)
{
	static const struct bb_text_column columns[] = {
		{"program", true}, {"slope", false},  {"+ bpf_stats", false},
		{"step", false},   {"off by", false}, {"+-", false},
		{"", true},
	};
	struct bb_text_table t;
	struct bb_cross_checked k;
	int rc = 0;

	bb_text_table__init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < r->n_cases; i++)
		if (bb_cross_check(r, i, &k) && isfinite(k.stats_ns))
			add_row(&t, &k);
	if (t.n_cells) {
		fputs("\nslope + bpf_stats = step? (ns per run; the floor says what bpf_stats "
		      "costs. They "
		      "disagree where they are off\n"
		      "by more than 10 ns or 10 %, and not by the noise measured, the +-, alone; "
		      "step has "
		      "a system call before\n"
		      "each run, slope has none)\n",
		      out);
		rc = bb_text_table__print(&t, 2, out);
	}
	bb_text_table__done(&t);
	return rc;
}
