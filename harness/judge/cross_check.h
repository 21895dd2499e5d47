/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "report/report.h"

/*
 * Compares the figures of two drives that measured the same program and input.
 *
 * slope (bpf_stats off) and step (bpf_stats on) differ by the cost of bpf_stats. The empty program
 * shows this cost if both drives measured it: slope + stats = step. A small difference remains,
 * because the runs of slope follow each other without a break, and the runs of step come after a
 * system call and find colder caches and branch history. If the difference is larger than colder
 * caches and branch history can explain, one of the two figures is wrong.
 *
 * hook (bpf_stats off) and step should measure the same net cost of the program. Each of them
 * subtracts an empty program of its own; that of hook is on the same hook as the program. If a
 * program wakes the reader of a ring buffer, hook measures more.
 */
struct bb_cross_checked {
	/* `step` is a case of the drive step. `slope` is a case of the drive slope or hook. */
	const struct bb_case *slope, *step;
	const char *rest; /* the part of both cases' names after the drive: "/input=syn" or "" */
	/* latencies; if `slope` is a case of hook, both are net latencies */
	double slope_ns, step_ns;
	/* cost of bpf_stats: latency of the empty program in step minus that in slope; NAN if one
	 * of the two drives did not measure the empty program; 0 if `slope` is a case of hook */
	double stats_ns;
	double off_ns; /* step_ns - slope_ns - stats_ns; NAN if one of these is NAN */
	/* half the width of the 95 % interval of off_ns: sqrt(sum of h^2). h is half the width of
	 * the interval of each latency that off_ns is computed from; 0 for a latency without an
	 * interval */
	double noise_ns;
	/* true if abs(off_ns) - noise_ns is at most 10 ns or 10 % of step, whichever is more */
	bool agrees;
	/* true if a wakeup may explain the difference: the program has a ring buffer, and hook
	 * measures more than step. After the program, an interrupt wakes the reader of the ring
	 * buffer. Only hook measures the time of this interrupt */
	bool wakes_reader;
};

/* Compares case i of the report with the case in which the drive step measured the same program and
 * input. Returns false if case i is not of slope or hook, if the report has no such case of step,
 * or if one of the two cases has no latency. */
bool bb_cross_check(const struct bb_report *r, size_t i, struct bb_cross_checked *ret_reconciled);
