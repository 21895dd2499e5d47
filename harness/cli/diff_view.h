/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "cli/options.h"
#include "export/documents.h"

/* How verdicts are shown, and which verdict makes the command fail. */
struct bb_diff_view {
	const char *sort; /* NULL if unsorted */
	struct bb_strings filters;
	bool details; /* show percentiles, too */
	/* a row with this verdict makes the exit code 3, but BB_VERDICT_INCONCLUSIVE never does */
	enum bb_verdict fail_on;
};

/* Two programs that are compared line by line (--time) or by counts of instructions (--exact). */
struct bb_compared {
	const struct bb_report *run;
	/* The members `option` and `amount` stay empty, because bb_compared__lines() sets them. */
	struct bb_time_diff_opts of;
	double loads;    /* value of --loads; 0 if not given */
	double budget_s; /* 0 means no limit */
	bool is_exact;   /* compares counts of instructions instead of the time of each line */
	bool details;    /* show all rows and lines, not only those that differ */
};

#define BB_TIME_BUDGET_S 18.0 /* default budget of --time */

/* Returns the options for comparing lines. Alpha is halved in a run with a budget, because such a
 * run judges the lines twice (run/runner.c). */
struct bb_time_diff_opts bb_compared__lines(const struct bb_compared *c);

/* Adds the result of the comparison to `d`. *ret_n receives the number of lines or cases with the
 * verdict `counted`. Returns 0, or -ENODATA if there is nothing to compare. */
int bb_compared__add(const struct bb_compared *c, struct bb_doc_sides sides,
		     enum bb_verdict counted, size_t *ret_n, struct bb_doc *d, struct bb_err *err);

/* Adds the failed lookups and early returns of two stored runs to `d`. If they are the same in both
 * runs, adds them once. */
void bb_doc_in_vain_of_runs(const struct bb_report *old, const struct bb_report *new,
			    struct bb_doc *d);

/* Reads --fail-on into an enum bb_verdict. */
void bb_read_verdict(const struct bb_option *o, const char *text, void *ret_verdict);

/* Sorts and filters the rows, and adds them to `doc`. For two stored runs, adds an explanation of
 * the columns and the warnings, too. Returns the exit code, or -errno with a message. Rows that
 * were filtered out count for the exit code. */
int bb_diff_view__add(const struct bb_diff_view *view, struct bb_diffs *d,
		      struct bb_doc_sides sides, struct bb_doc *doc, struct bb_err *err);
