/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_JUDGE_STORED_RATIO_H
#define BB_JUDGE_STORED_RATIO_H

#include "report/report.h"
#include "stats/estimate.h"

/*
 * The latency of a case in run B over that in run A. Two runs at two times share no randomisation:
 * the loads are two independent samples, and the runs themselves differ by what the machine's
 * self-test has seen plain runs differ (bb_case.between; nothing where there is none).
 *
 * Loads that were drawn by place: the standard errors of both stratified means and of both runs
 * add up to a variance, and Student's t takes the degrees of freedom of Welch 1947. Other loads:
 * the intervals of order statistics of both medians (stats/estimate.h), joined with that of the
 * runs.
 */
struct bb_stored_ratio {
	double ratio;                /* of the estimates; NAN: one is missing or not above 0 */
	struct bb_interval interval; /* at 1 - alpha; NAN, NAN: too few loads */
	/* of being beyond the threshold, two-sided; NAN without a ratio */
	double p;
	size_t n_a, n_b, needs; /* loads, and how many an interval takes a side */
};

/* 0 or -ENOMEM. Both cases must be summarised. */
int bb_stored_ratio(const struct bb_case *a, const struct bb_case *b, double threshold,
		    double alpha, struct bb_stored_ratio *ret);

#endif
