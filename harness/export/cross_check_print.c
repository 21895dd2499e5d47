/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/cross_check_print.h"

#include <math.h>

#include "core/drive_kind.h"
#include "export/table_cells.h"
#include "export/text_table.h"
#include "judge/cross_check.h"

static void add_number(struct bb_text_table *t, double value, double scale)
{
	bb_text_table__add(t, "%s", bb_table_cell_number(value, scale).text);
}

static void add_verdict(struct bb_text_table *t, const struct bb_cross_checked *k)
{
	add_number(t, k->off_ns, k->step_ns);
	add_number(t, k->noise_ns, k->step_ns);
	bb_text_table__add(t, "%s", k->agrees ? "agree" : "DISAGREE");
}

static void add_slope(struct bb_text_table *t, const struct bb_cross_checked *k)
{
	bb_text_table__add(t, "%s%s", k->slope->variant, k->rest);
	add_number(t, k->slope_ns, k->step_ns);
	add_number(t, k->stats_ns, k->step_ns);
	add_number(t, k->step_ns, k->step_ns);
	add_verdict(t, k);
}

static void add_hook(struct bb_text_table *t, const struct bb_cross_checked *k)
{
	const struct bb_summary *hook = &k->slope->summary, *step = &k->step->summary;

	bb_text_table__add(t, "%s%s", k->slope->variant, k->rest);
	add_number(t, hook->latency.value, hook->latency.value);
	add_number(t, hook->floor.value, hook->latency.value);
	add_number(t, k->slope_ns, hook->latency.value);
	add_number(t, step->latency.value, step->latency.value);
	add_number(t, step->floor.value, step->latency.value);
	add_number(t, k->step_ns, step->latency.value);
	add_verdict(t, k);
}

static int put(const struct bb_report *r, bool hooks, FILE *out)
{
	static const struct bb_text_column of_slopes[] = {
		{"program", true}, {"slope", false},  {"+ bpf_stats", false},
		{"step", false},   {"off by", false}, {"+-", false},
		{"", true},
	};
	static const struct bb_text_column of_hooks[] = {
		{"program", true}, {"hook", false},   {"- empty", false},
		{"= own", false},  {"step", false},   {"- empty step", false},
		{"= own", false},  {"off by", false}, {"+-", false},
		{"", true},
	};
	struct bb_text_table t;
	struct bb_cross_checked k;
	int rc = 0;

	if (hooks)
		bb_text_table__init(&t, of_hooks, sizeof(of_hooks) / sizeof(of_hooks[0]));
	else
		bb_text_table__init(&t, of_slopes, sizeof(of_slopes) / sizeof(of_slopes[0]));
	for (size_t i = 0; i < r->n_cases; i++)
		if (bb_drive_kind_named(r->cases[i].drive)->own_floor == hooks &&
		    bb_cross_check(r, i, &k) && isfinite(k.off_ns))
			(hooks ? add_hook : add_slope)(&t, &k);
	if (t.n_cells) {
		fputs(hooks ? "\nhook - empty = step - empty step? (ns; the program's own part, "
			      "above an empty program of its type:\n"
			      "by the time of the event without bpf_stats, and by bpf_stats. They "
			      "disagree where they are off\n"
			      "by more than 10 ns or 10 %, and not by the noise measured, the +-, "
			      "alone)\n"
			    : "\nslope + bpf_stats = step? (ns per run; the floor gives the "
			      "cost of bpf_stats. They disagree where they are off\n"
			      "by more than 10 ns or 10 %, and not by the noise measured, the +-, "
			      "alone; step has a system call before\n"
			      "each run, slope has none)\n",
		      out);
		rc = bb_text_table__print(&t, 2, out);
	}
	bb_text_table__done(&t);
	return rc;
}

int bb_put_cross_checks(const struct bb_report *r, FILE *out)
{
	int rc = put(r, false, out);

	return rc ? rc : put(r, true, out);
}
