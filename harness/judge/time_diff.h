/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_JUDGE_TIME_DIFF_H
#define BB_JUDGE_TIME_DIFF_H

#include "base/err.h"
#include "base/std.h"
#include "judge/by_line.h"
#include "report/report.h"
#include "stats/verdict.h"

/*
 * Two programs line by line, timed by the drive `lines`, in the same loads of one run or in two: on
 * which lines is the difference? Lines are matched as `diff` matches two texts, by the longest
 * common sequence of their source and calls in the order of the run. Line numbers and names of
 * files are not compared, as they change.
 *
 * In one of two runs the machine may have been slower. So a line of two runs differs only if it
 * does in ns and also relative to each reference of the program: instructions, and wakeups if it
 * wakes somebody.
 */
struct bb_time_diff_row {
	const struct bb_timed_row *a, *b; /* NULL: only the other has it */
	double a_ns, b_ns;                /* 0 where it is NULL */
	struct bb_estimate more;          /* ns, b - a, at the level of all rows together */
	enum bb_verdict verdict;
};

struct bb_time_diff_case {
	const struct bb_timed *a, *b;
	double a_ns, b_ns; /* of a whole run */
	struct bb_estimate more;
	/* by what share the machine itself was slower in b's run, by its references; 0: they share
	 * a run; NAN: not measured, or nothing of the program is counted in it */
	double slower[BB_N_REFERENCES];
	struct bb_time_diff_row *rows; /* the largest difference first */
	size_t n_rows;
	/* of one run: loads that both have, and that a verdict on a line takes; 0 of two runs */
	size_t n_loads, needs_loads;
	/* of the median line without a verdict: half the width of its interval, and how many times
	 * the loads would give it one (stats/verdict.h); NAN: no such line, or no interval */
	double half_ns, times;
};

/* True if the row explains a part of the difference. A line that only one program has does so with
 * any number of loads, unless its time is below 0, which is noise. */
static inline bool bb_time_diff_row__differs(const struct bb_time_diff_row *r)
{
	return r->verdict == BB_VERDICT_REGRESSED || r->verdict == BB_VERDICT_IMPROVED ||
	       ((!r->a || !r->b) && (r->b ? 1 : -1) * r->more.value >= BB_BY_LINE_LEAST_NS);
}

struct bb_time_diff {
	struct bb_time_diff_case *cases;
	size_t n_cases;
	/* the option that gives more loads, and its value in this run; NULL: no option does */
	const char *option;
	double amount;
};

struct bb_time_diff_opts {
	/* variants; NULL: every variant, with the one of its name in base_run */
	const char *base, *head;
	/* the run that base is of, which shares no loads with head's; NULL: the same run, in the
	 * same loads */
	const struct bb_report *base_run;
	double threshold; /* of a line, a share; never less than BB_BY_LINE_LEAST_NS */
	double alpha;     /* chance of a false verdict over all lines of all cases */
	/* as in struct bb_time_diff */
	const char *option;
	double amount;
};

/* -ENODATA when there is nothing to compare; -ENOMEM. Borrows from the report. */
int bb_time_diff__make(const struct bb_report *r, const struct bb_time_diff_opts *opts,
		       struct bb_time_diff *ret_diff, struct bb_err *err);
void bb_time_diff__done(struct bb_time_diff *d);

/* How many lines of all cases have the verdict. */
size_t bb_time_diff__count(const struct bb_time_diff *d, enum bb_verdict verdict);

#endif
