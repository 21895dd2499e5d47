/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_JUDGE_CROSS_CHECK_H
#define BB_JUDGE_CROSS_CHECK_H

#include "base/std.h"
#include "report/report.h"

/*
 * Two instruments on one program and input. slope (bpf_stats off) and step (bpf_stats on) must
 * differ by the cost of bpf_stats, which the floor, measured by both, gives. So slope + stats =
 * step; the rest is the difference between runs that follow each other at once and runs with a
 * system call before each, whose caches and branch history are colder. If it is more than that, one
 * of the two figures is wrong.
 *
 * hook (bpf_stats off) and step agree on the program's own part: what it costs above the empty
 * program, which hook has on the same hook, and step on one of its own. Of a program that wakes the
 * reader of a ring buffer, hook has more.
 */
struct bb_cross_checked {
	const struct bb_case *slope, *step; /* slope: or hook */
	const char *rest;         /* of their names, after the drive: "/input=syn", or "" */
	double slope_ns, step_ns; /* latencies; of hook and its step, those above their floors */
	/* the floor's step - slope; NAN without a floor measured by both; hook: 0 */
	double stats_ns;
	double off_ns; /* step - (slope + stats); NAN if any is */
	/* half the 95 % interval of `off`, by those of the four figures in it (root of the sum of
	 * their squares); 0: none has one */
	double noise_ns;
	/* of that interval, some is within 10 ns or 10 % of step, whichever is more */
	bool agrees;
	/* they need not: the kernel wakes the reader of the program's ring buffer by an interrupt
	 * behind the program, which is in hook alone */
	bool wakes_reader;
};

/* Case i of the report, if it is a slope or hook that has a step beside it. False: it has none, or
 * neither has a latency. */
bool bb_cross_check(const struct bb_report *r, size_t i, struct bb_cross_checked *ret_reconciled);

#endif
