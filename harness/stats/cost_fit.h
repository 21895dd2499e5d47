/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_STATS_COST_FIT_H
#define BB_STATS_COST_FIT_H

#include <stddef.h>

#include "stats/estimate.h"

/*
 * What each part of a program costs, by its times on many inputs: y = x b with b >= 0
 * (stats/nnls.h), where x says how often an input executes each part. Judged on inputs that it has
 * not seen: the ways through the program (different rows of x) are dealt to ten folds, and each
 * fold is predicted by the others. It counts only if it is clearly better than two simpler models
 * on the same folds: one time for all inputs, and one cost for every instruction. Clearly: its
 * error is smaller on so many of the ways that a fair coin would do it once in a hundred times
 * (sign test).
 */
struct bb_cost_data {
	const double *x;    /* n x m, by rows: executions of each part in one run */
	const double *y;    /* n: time of a run */
	const double *work; /* n: instructions of a run */
	size_t n, m;
};

enum bb_cost_verdict {
	BB_COST_FITS,
	BB_COST_FEW_WAYS,    /* fewer than 8, or than 2 for each part that costs something */
	BB_COST_AS_CONSTANT, /* one time for all predicts as well */
	BB_COST_AS_WORK,     /* one cost for every instruction predicts as well */
};

struct bb_cost_fit {
	enum bb_cost_verdict verdict;
	size_t n_ways;
	size_t n_costs; /* parts with a cost above 0 */
	/* out of sample: share of the variance of y that was predicted; may be negative */
	double r2;
	double error; /* median |y - prediction| out of sample; likewise of the two others: */
	double error_constant, error_work;
	double per_work; /* the third model's cost of an instruction, all inputs together */
};

/*
 * Into ret_costs[m] what each part costs an execution, and its 95 % interval: jackknife over the
 * folds (t with 9 degrees of freedom, Efron & Tibshirani 1993, chapter 11), cut at 0. NAN when
 * there are too few ways. 0 or -ENOMEM.
 */
int bb_cost_fit(const struct bb_cost_data *d, double *ret_costs, struct bb_interval *ret_intervals,
		struct bb_cost_fit *ret_fit);

#endif
