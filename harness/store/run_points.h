/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_STORE_RUN_POINTS_H
#define BB_STORE_RUN_POINTS_H

#include <stdint.h>

#include "core/metric.h"
#include "report/report.h"

/* The figures by which runs of different times can be compared; which of them is the best predictor
 * is decided case by case (judge/timeline.h). */
enum bb_predictor { BB_BY_LATENCY, BB_BY_RATIO, BB_BY_RELATIVE, BB_N_PREDICTORS };

/*
 * A case of a run, reduced to the figures that its history needs, in the order of their enum:
 * latency, ns; its ratio to the anchor of the same run (NAN without one); in pieces of the
 * reference (NAN: it was not measured). The two last are taken round by round, as a disturbance of
 * the one has disturbed the other.
 */
struct bb_run_point {
	struct bb_estimate figure[BB_N_PREDICTORS]; /* over loads */
	double se[BB_N_PREDICTORS];                 /* of its ln; NAN with fewer than 2 loads */
	uint32_t loads, voids;                      /* series that count, and that do not */
	uint32_t is_anchor;                         /* 0 or 1: the others are divided by it */
	uint32_t what, run;                         /* indexes: for the caller */
};

/* The point of r->cases[i]; `what` and `run` are 0. 0 or -ENOMEM. */
int bb_run_point__make(const struct bb_report *r, size_t i, struct bb_run_point *ret_point);

#endif
