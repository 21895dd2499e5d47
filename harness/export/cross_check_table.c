/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>

#include "core/drive_kind.h"
#include "export/documents.h"
#include "judge/cross_check.h"

static void add_verdict(struct bb_doc *d, const struct bb_cross_checked *k)
{
	bb_doc__number_cell(d, k->off_ns, k->step_ns);
	bb_doc__number_cell(d, k->noise_ns, k->step_ns);
	bb_doc__text_cell(d, k->agrees         ? "agree"
			     : k->wakes_reader ? "and its reader is woken"
					       : "DISAGREE");
}

static void add_slope(struct bb_doc *d, const struct bb_cross_checked *k)
{
	bb_doc__cell(d, "%s%s", k->slope->variant, k->rest);
	bb_doc__number_cell(d, k->slope_ns, k->step_ns);
	bb_doc__number_cell(d, k->stats_ns, k->step_ns);
	bb_doc__number_cell(d, k->step_ns, k->step_ns);
	add_verdict(d, k);
}

static void add_hook(struct bb_doc *d, const struct bb_cross_checked *k)
{
	const struct bb_summary *hook = &k->slope->summary, *step = &k->step->summary;

	bb_doc__cell(d, "%s%s", k->slope->variant, k->rest);
	bb_doc__number_cell(d, hook->latency.value, hook->latency.value);
	bb_doc__number_cell(d, hook->floor.value, hook->latency.value);
	bb_doc__number_cell(d, k->slope_ns, hook->latency.value);
	bb_doc__number_cell(d, step->latency.value, step->latency.value);
	bb_doc__number_cell(d, step->floor.value, step->latency.value);
	bb_doc__number_cell(d, k->step_ns, step->latency.value);
	add_verdict(d, k);
}

/* The checks of hooks, or of slopes. */
static void add_table(const struct bb_report *r, bool hooks, enum bb_detail detail,
		      struct bb_doc *d)
{
	static const struct bb_doc_column of_slopes[] = {
		{BB_TEXT("program")}, {BB_NUMBER("slope")},  {BB_NUMBER("+ bpf_stats")},
		{BB_NUMBER("step")},  {BB_NUMBER("off by")}, {BB_NUMBER("+-")},
		{BB_TEXT("")},
	};
	static const struct bb_doc_column of_hooks[] = {
		{BB_TEXT("program")}, {BB_NUMBER("hook")},   {BB_NUMBER("- empty")},
		{BB_NUMBER("= own")}, {BB_NUMBER("step")},   {BB_NUMBER("- empty step")},
		{BB_NUMBER("= own")}, {BB_NUMBER("off by")}, {BB_NUMBER("+-")},
		{BB_TEXT("")},
	};
	size_t begin = d->n;
	struct bb_cross_checked k;
	bool any = false;

	bb_doc__add(d, BB_DOC_TITLE, NULL,
		    "%s They disagree where they are off by more than 10 ns or 10 %%, and not by "
		    "the noise measured, the +-, alone%s)",
		    hooks ? "hook - empty = step - empty step? (ns; the program's own part, above "
			    "an empty program of its type: by the time of the event without "
			    "bpf_stats, and by bpf_stats."
			  : "slope + bpf_stats = step? (ns per run; the floor gives the cost of "
			    "bpf_stats.",
		    hooks ? ". The kernel wakes a ring buffer's reader by an interrupt behind the "
			    "program: it is in hook, not in step"
			  : "; step has a system call before each run, slope has none");
	bb_doc__table(d, hooks ? of_hooks : of_slopes,
		      hooks ? sizeof(of_hooks) / sizeof(of_hooks[0])
			    : sizeof(of_slopes) / sizeof(of_slopes[0]));
	for (size_t i = 0; i < r->n_cases; i++) {
		if (bb_drive_kind_named(r->cases[i].drive)->own_floor != hooks ||
		    !bb_cross_check(r, i, &k) || !isfinite(k.off_ns) ||
		    (detail == BB_SHORT && k.agrees))
			continue;
		any = true;
		(hooks ? add_hook : add_slope)(d, &k);
	}
	if (!any)
		bb_doc__cut(d, begin);
}

void bb_doc_cross_checks(const struct bb_report *r, enum bb_detail detail, struct bb_doc *d)
{
	add_table(r, false, detail, d);
	add_table(r, true, detail, d);
}
