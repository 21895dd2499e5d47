/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_RUN_LEFT_OUT_H
#define BB_RUN_LEFT_OUT_H

#include "run/round.h"

/* The report gets a skip for all that the budget leaves out, which says how to get it. */

/* The loads first..end - 1. 0 or -ENOMEM. */
int bb_left_out__loads(struct bb_run *r, uint32_t first, uint32_t end, struct bb_err *err);

/* Samples of the `loads` that were begun; cases without any are dropped. -ETIME when those are all,
 * -ENOMEM. */
int bb_left_out__samples(struct bb_run *r, uint32_t loads, struct bb_err *err);

#endif
