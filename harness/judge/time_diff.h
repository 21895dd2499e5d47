/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "judge/by_line.h"

/*
 * Two programs compared line by line. The drive `lines` timed both in the same loads of one run, or
 * in two runs. Lines are matched as `diff` matches two texts: by the longest common sequence of
 * their source and calls, in the order of the run. Line numbers and file names are not compared,
 * because they change.
 *
 * Of two runs, one may have been made while the machine was slower. So a line of two runs differs
 * only if it differs in ns and also relative to each reference of the program: instructions, and
 * wakeups if the program wakes somebody.
 */
struct bb_time_diff_row {
	const struct bb_timed_row *a, *b; /* NULL: this program does not have the row */
	double a_ns, b_ns;                /* 0 if `a` or `b` is NULL */
	/* b - a, ns; its interval has the level 1 - alpha over all rows together */
	struct bb_estimate more;
	enum bb_verdict verdict;
};

struct bb_time_diff_case {
	const struct bb_timed *a, *b;
	double a_ns, b_ns; /* times of a whole run */
	struct bb_estimate more;
	/*
	 * how much slower the machine was in b's run than in a's, as a share, by each reference. 0:
	 * a and b are of one run. NAN: the reference was not measured or is not one of the
	 * program's
	 */
	double slower[BB_N_REFERENCES];
	struct bb_time_diff_row *rows; /* sorted, largest difference first */
	size_t n_rows;
	/* loads that both have, and loads that a verdict on a line needs at least; both 0 if a
	 * and b are of two runs */
	size_t n_loads, needs_loads;
	/*
	 * Medians over the lines without a verdict: half the width of the interval, and the factor
	 * by which the number of loads must grow to give a verdict (stats/verdict.h). NAN: all
	 * lines have a verdict, or there are no intervals
	 */
	double half_ns, times;
};

/*
 * True if the row explains a part of the difference. That is so if its verdict is regressed or
 * improved, or if only one program has the line and its time is at least BB_BY_LINE_LEAST_NS. A
 * shorter time is noise.
 */
static inline bool bb_time_diff_row__differs(const struct bb_time_diff_row *r)
{
	return r->verdict == BB_VERDICT_REGRESSED || r->verdict == BB_VERDICT_IMPROVED ||
	       ((!r->a || !r->b) && (r->b ? 1 : -1) * r->more.value >= BB_BY_LINE_LEAST_NS);
}

struct bb_time_diff {
	struct bb_time_diff_case *cases;
	size_t n_cases;
	/* the option that gives more loads, and its value in this run; NULL: there is no such
	 * option */
	const char *option;
	double amount;
};

struct bb_time_diff_opts {
	/* variants; NULL: every variant is compared with the variant of the same name in
	 * base_run */
	const char *base, *head;
	/* run of base, if it is another run than that of head; NULL: base and head share the
	 * loads of one run */
	const struct bb_report *base_run;
	double threshold; /* smallest change of a line that matters, as a share of its time; a
			     change below BB_BY_LINE_LEAST_NS never matters */
	double alpha;     /* chance of a false verdict over all lines of all cases */
	/* as in struct bb_time_diff */
	const char *option;
	double amount;
};

/* Compares all cases that both base and head have. Returns 0, -ENOMEM, or -ENODATA if there are
 * no such cases. Borrows from the reports. */
int bb_time_diff__make(const struct bb_report *r, const struct bb_time_diff_opts *opts,
		       struct bb_time_diff *ret_diff, struct bb_err *err);
void bb_time_diff__done(struct bb_time_diff *d);

/* Returns how many lines of all cases have that verdict. */
size_t bb_time_diff__count(const struct bb_time_diff *d, enum bb_verdict verdict);
