/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "cli/options.h"
#include "export/documents.h"

/* How verdicts are shown, and which verdict makes the command fail. */
struct bb_diff_view {
	const char *sort; /* NULL: unsorted */
	struct bb_strings filters;
	bool details; /* show percentiles, too */
	/* the exit code is 3 if a row has this verdict; inconclusive: it never is */
	enum bb_verdict fail_on;
};

/* Two programs that are compared line by line (--time) or by counts of instructions (--exact). */
struct bb_compared {
	const struct bb_report *run;
	/* what to compare. Its members `option` and `amount` are not set here, but by
	 * bb_compared__lines(). Its member base_run is an older run than `run`. */
	struct bb_time_diff_opts of;
	double loads;    /* value of --loads; 0: not given */
	double budget_s; /* 0: no limit */
	bool is_exact;   /* true: compares counts of instructions; false: the time of each line */
	bool details;    /* show all rows and lines, not only those that differ */
};

#define BB_COMPARE_THRESHOLD 0.01
/* For --time: enough loads for a verdict on each of a thousand lines. */
#define BB_TIME_LOADS 16u
#define BB_TIME_BUDGET_S 18.0

/* Returns the options for comparing lines. In a run with a budget alpha is halved, because such a
 * run judges the lines twice (run/runner.c). */
struct bb_time_diff_opts bb_compared__lines(const struct bb_compared *c);

/* Adds the result of the comparison to `d`: the verdict, the lines or counts that differ, their
 * legend and the next step. *ret_n receives how many lines, or cases, have the verdict `counted`.
 * Returns 0, or -ENODATA if there is nothing to compare. */
int bb_compared__add(const struct bb_compared *c, struct bb_doc_sides sides,
		     enum bb_verdict counted, size_t *ret_n, struct bb_doc *d, struct bb_err *err);

/* Adds the failed lookups and early returns of the programs of two stored runs to `d`, those of
 * each run below its id. If they are the same in both runs, adds them once. */
void bb_doc_in_vain_of_runs(const struct bb_report *old, const struct bb_report *new,
			    struct bb_doc *d);

/* Reads --fail-on into an enum bb_verdict. */
void bb_read_verdict(const struct bb_option *o, const char *text, void *ret_verdict);

/* Sorts and filters the rows, and adds them to `doc`. If two stored runs are compared, also
 * explains the columns and adds the warnings. Returns the exit code, or -errno with a message. Rows
 * that were filtered out count for the exit code, too. */
int bb_diff_view__add(const struct bb_diff_view *view, struct bb_diffs *d,
		      struct bb_doc_sides sides, struct bb_doc *doc, struct bb_err *err);
