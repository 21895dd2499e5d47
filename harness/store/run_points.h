/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_STORE_RUN_POINTS_H
#define BB_STORE_RUN_POINTS_H

#include <stdint.h>

#include "core/metric.h"
#include "report/report.h"

/*
 * A case of a run, reduced to the figures that its history needs. r = ln(program / anchor) is taken
 * round by round, as a disturbance of the one has disturbed the other; where a case has no anchor
 * or is one, it is ln(latency).
 */
struct bb_run_point {
	struct bb_estimate latency; /* ns, over loads */
	/* to the anchor of the same run, over rounds of both; NAN without one */
	struct bb_estimate ratio;
	double se;             /* of r; NAN with fewer than 2 loads */
	uint32_t loads, voids; /* series that count, and that do not */
	uint32_t is_anchor;    /* 0 or 1: the others are divided by it */
	uint32_t what;         /* which case: for the caller */
};

/* The point of r->cases[i]; `what` is 0. 0 or -ENOMEM. */
int bb_run_point__make(const struct bb_report *r, size_t i, struct bb_run_point *ret_point);

#endif
