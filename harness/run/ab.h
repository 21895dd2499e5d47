/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "run/runner.h"

/* A function that receives each batch of samples of base or head, in the order of measurement. */
struct bb_ab_watch {
	/* NULL: no function receives the batches */
	void (*batch)(void *arg, bool is_head, const struct bb_batch *b);
	void *arg;
};

/*
 * Options for comparing two programs in one run. The unit of replication is a pair of loads. For
 * each pair both programs are loaded anew in random order, and compared in blocks of turns, ABBA or
 * BAAB at random. Then one of the two programs is loaded again until its JIT address modulo 64
 * equals that of the other program, and they are compared again as a matched pair. This removes the
 * effect of layout, which is 6-9 % for a loop. The run stops when every comparison has a verdict,
 * at `max_pairs`, or when the budget is used up.
 */
struct bb_ab_opts {
	struct bb_run_opts run; /* run.budget_s is the time limit of the whole comparison, s */
	/* extra time, s, if the budget is too short for the fewest pairs of a verdict; 0: none */
	double patience_s;
	const char *base, *head; /* names of two variants of the plan */
	double threshold, alpha;
	uint32_t max_pairs; /* largest number of pairs; 0: as many as the budget allows */
	/* number of comparisons that share alpha, if there are more than in this run */
	size_t n_family;
	/* true: count instructions in the plan's exact drives before pairs are measured */
	bool count;
	/* true: store in the report how much of each program its runs execute (run/count.h) */
	bool executed;
	bool same_load; /* self-test; true: base and head are the same load of one program */
	double inject;  /* self-test: share added to each sample of head; 0: nothing is added */
	struct bb_ab_watch watch;
};

/* Returns how many comparisons of `base` with another variant the plan has. */
size_t bb_ab_n_comparisons(const struct bb_plan *plan, const char *base);

/* Compares the programs under every drive and parameter of the plan. Appends cases and judged
 * comparisons to the report. Returns the errors of bb_run_plan() (run/runner.h). */
int bb_run_ab(const struct bb_plan *plan, const struct bb_ab_opts *opts, struct bb_report *report,
	      struct bb_err *err);
