/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_JUDGE_CROSS_CHECK_H
#define BB_JUDGE_CROSS_CHECK_H

#include "base/std.h"
#include "report/report.h"

/*
 * Two drives that measured one program and input. slope (bpf_stats off) and step (bpf_stats on)
 * differ by the cost of bpf_stats, which the floor shows if both measured it: slope + stats = step.
 * What is left is the difference between runs that follow each other at once and runs after a
 * system call, which find colder caches and branch history. If more is left, one of the two figures
 * is wrong.
 *
 * hook (bpf_stats off) and step agree in the net cost of the program. The empty program of hook is
 * on the same hook, and step has an empty program of its own. If a program wakes the reader of a
 * ring buffer, hook measures more.
 */
struct bb_cross_checked {
	const struct bb_case *slope, *step; /* `slope` is a case of slope or hook */
	const char *rest;         /* end of their names after the drive: "/input=syn" or "" */
	double slope_ns, step_ns; /* latencies; for hook and its step, net latencies */
	/* the floor's step - slope; NAN if they did not both measure the floor; 0 for hook */
	double stats_ns;
	double off_ns; /* step - (slope + stats); NAN if one of them is NAN */
	/* half the 95 % interval of `off`, the root of the sum of squares of its four figures; 0
	 * without intervals */
	double noise_ns;
	/* the interval reaches into +-10 ns or +-10 % of step, whichever is wider */
	bool agrees;
	/* explains a difference: the kernel wakes the reader of the program's ring buffer by an
	 * interrupt after the program, which only hook measures */
	bool wakes_reader;
};

/* Checks case i of the report, a slope or hook, against its step. Returns false if the report
 * has no step for it, or one of them has no latency. */
bool bb_cross_check(const struct bb_report *r, size_t i, struct bb_cross_checked *ret_reconciled);

#endif
