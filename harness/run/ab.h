/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_RUN_AB_H
#define BB_RUN_AB_H

#include "base/err.h"
#include "base/std.h"
#include "plan/plan.h"
#include "report/report.h"
#include "run/runner.h"

/* Sees each batch of base and of head in the order of measurement; not 0 (no memory) ends the
 * run. */
struct bb_ab_watch {
	int (*batch)(void *arg, bool is_head, const struct bb_batch *b); /* NULL: nobody looks */
	void *arg;
};

/*
 * Two programs against each other in one run. The unit of replication is the load pair: each pair
 * is loaded anew, in random order, compared over blocks of runs in ABBA or BAAB order by a seeded
 * coin, and then once more with the head reloaded to the base's JIT address mod 64 (matched:
 * layout, which moves a loop by 6-9 %, drops out). It stops at a verdict for every case, at
 * `max_pairs`, or when the budget is used up.
 */
struct bb_ab_opts {
	struct bb_run_opts run; /* its budget_s applies */
	/* beyond the budget, where fewer pairs fit than any verdict takes; 0: not at all */
	double patience_s;
	const char *base, *head; /* variants of the plan */
	double threshold, alpha;
	uint32_t max_pairs; /* 0: as many as the budget allows */
	/* comparisons that share alpha, if they are more than those of this run */
	size_t n_family;
	bool count;     /* whether the plan's exact drives count, before the pairs */
	bool executed;  /* whether to note how much of the programs is executed (run/count.h) */
	bool same_load; /* self-test: both labels are one and the same load */
	double inject;  /* self-test: share added to every sample of head; 0: none */
	struct bb_ab_watch watch;
};

/*
 * Compare, for every drive and parameter of the plan, and append cases and comparisons to the
 * report, judged. Errors as bb_run_plan().
 */
int bb_run_ab(const struct bb_plan *plan, const struct bb_ab_opts *opts, struct bb_report *report,
	      struct bb_err *err);

#endif
