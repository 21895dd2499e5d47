/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "report/report.h"

/*
 * Two drives that measured one program and input.
 *
 * slope (bpf_stats off) and step (bpf_stats on) differ by the cost of bpf_stats. The empty program
 * shows this cost if both drives measured it: slope + stats = step. A difference is left, because
 * the runs of slope follow each other at once, and those of step come after a system call and find
 * colder caches and branch history. If more than that is left, one of the two figures is wrong.
 *
 * hook (bpf_stats off) and step agree in the net cost of the program. In hook, the empty program is
 * on the same hook; step has an empty program of its own. If a program wakes the reader of a ring
 * buffer, hook measures more.
 */
struct bb_cross_checked {
	/* `step` is a case of the drive step. `slope` is the case of the drive slope or of the
	 * drive hook that it is compared with. */
	const struct bb_case *slope, *step;
	const char *rest; /* end of both names behind the drive: "/input=syn" or "" */
	/* latencies; if `slope` is a case of hook, both are net latencies */
	double slope_ns, step_ns;
	/* step - slope of the empty program; NAN if one of them did not measure it; 0 for hook */
	double stats_ns;
	double off_ns; /* step_ns - slope_ns - stats_ns; NAN if one of these is NAN */
	/* half the 95 % interval of off_ns: the root of the sum of squares of half the interval
	 * of each figure in it. A figure without an interval counts as 0. */
	double noise_ns;
	/* true if abs(off_ns) - noise_ns is at most 10 ns or 10 % of step, whichever is more */
	bool agrees;
	/* true if this explains a difference: the kernel wakes the reader of the program's ring
	 * buffer by an interrupt after the program, which only hook measures */
	bool wakes_reader;
};

/* Checks case i of the report against the step of the same program and input. Returns false if case
 * i is not of slope or hook, if the report has no such step, or if one of them has no latency. */
bool bb_cross_check(const struct bb_report *r, size_t i, struct bb_cross_checked *ret_reconciled);
