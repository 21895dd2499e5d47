/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "run/runner.h"

/* Receives each batch of samples of base or head, in the order of measurement. */
struct bb_ab_watch {
	/* may be NULL */
	void (*batch)(void *arg, bool is_head, const struct bb_batch *b);
	void *arg;
};

/*
 * Options for comparing two programs, base and head, in one run. For each pair of loads, both
 * programs are loaded anew and measured in turns, in the order ABBA or BAAB at random. Then one of
 * them is loaded again until its JIT address modulo 64 equals the other program's, and a second
 * pair is measured. This removes the effect of the code's address, which is 6-9 % for a loop. The
 * run stops when every comparison has a verdict, at `max_pairs`, or when the budget is used up.
 */
struct bb_ab_opts {
	struct bb_run_opts run; /* run.budget_s limits the whole comparison, s */
	/* extra time if the budget is too short for any verdict, s (0 means none) */
	double patience_s;
	const char *base, *head; /* names of two variants of the plan */
	double threshold, alpha;
	uint32_t max_pairs; /* largest number of pairs (0 means no limit) */
	/* number of comparisons that share alpha (0 means those of this run) */
	size_t n_family;
	/* true to count instructions first, in the plan's drives `exact` */
	bool count;
	/* true to store how much of each program its runs execute (run/count.h) */
	bool executed;
	bool same_load; /* self-test: true if base and head are one load of one program */
	/* self-test: share added to each sample of head, to simulate a slower program */
	double inject;
	struct bb_ab_watch watch;
};

/* Returns the number of comparisons with `base` in the plan. Drives that count are left out. */
size_t bb_ab_n_comparisons(const struct bb_plan *plan, const char *base);

/* Compares the two programs under every drive and parameter of the plan. Appends cases and judged
 * comparisons to the report. Returns the errors of bb_run_plan() (run/runner.h). */
int bb_run_ab(const struct bb_plan *plan, const struct bb_ab_opts *opts, struct bb_report *report,
	      struct bb_err *err);
