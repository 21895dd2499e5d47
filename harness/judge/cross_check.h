/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "report/report.h"

/*
 * Compares the figures of two drives that measured one program with one input. The drive slope runs
 * with bpf_stats off, the drive step with bpf_stats on. The empty program in both drives shows the
 * cost of bpf_stats: slope + cost = step. A small difference remains, because step makes a system
 * call before each run, so its runs find colder caches and branch history. If the difference is
 * larger, one of the two figures is wrong.
 *
 * The drive hook (bpf_stats off) and step should measure the same net cost of the program, because
 * each of them subtracts an empty program. If a program wakes the reader of a ring buffer, hook
 * measures more.
 */
struct bb_cross_checked {
	/* `step` is a case of the drive step, `slope` a case of the drive slope or hook */
	const struct bb_case *slope, *step;
	const char *rest;
	double slope_ns, step_ns; /* latencies, or net latencies if `slope` is a case of hook */
	/* Cost of bpf_stats: latency of the empty program in step minus its latency in slope. NAN
	 * if one of them is missing. 0 if `slope` is a case of hook. */
	double stats_ns;
	double off_ns; /* step_ns - slope_ns - stats_ns */
	/* Half the width of the 95 % interval of off_ns: sqrt(sum of h^2), with h half the width of
	 * the interval of each latency in off_ns, or 0 for a latency without an interval. */
	double noise_ns;
	/* true if abs(off_ns) - noise_ns is at most 10 ns or 10 % of step_ns, whichever is more */
	bool agrees;
	/* True if a wakeup may explain the difference: the program has a ring buffer, and hook
	 * measures more. The interrupt that wakes the ring buffer's reader comes after the program,
	 * so only hook measures it. */
	bool wakes_reader;
};

/* Compares case i, of slope or hook, with step's case of that program and input. Returns false if
 * case i is of another drive, or if step's case or a latency is missing. */
bool bb_cross_check(const struct bb_report *r, size_t i, struct bb_cross_checked *ret_reconciled);
