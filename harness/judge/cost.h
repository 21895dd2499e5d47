/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_JUDGE_COST_H
#define BB_JUDGE_COST_H

#include <stddef.h>

#include "base/err.h"
#include "report/report.h"
#include "stats/cost_fit.h"

/*
 * What the blocks of a counted program cost, ns an execution: fitted (stats/cost_fit.h) to the
 * times that the same run measured on the same inputs. Borrows from the report.
 */
struct bb_cost {
	const struct bb_counted *counted;
	const char *drive;    /* that timed most of the cases: "step" or "slope" */
	double *x, *y, *work; /* struct bb_cost_data's */
	size_t *of;           /* by row: index of the counted case */
	size_t n; /* rows; 0: the run has no time of these inputs, and nothing is fitted */
	/* by group of counted->groups: 0 where its cost, if any, is in the others' */
	double *costs;
	struct bb_interval *intervals;
	struct bb_cost_fit fit;
};

/* 0; -EINVAL for a stored run that contradicts itself; -ENOMEM. bb_cost__done() it. */
int bb_cost__make(const struct bb_report *r, const struct bb_counted *c, struct bb_cost *ret_cost,
		  struct bb_err *err);
void bb_cost__done(struct bb_cost *k);

/* Executions of group j in a run, mean over the rows. */
double bb_cost__executions(const struct bb_cost *k, size_t j);

#endif
