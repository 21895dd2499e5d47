/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_DRIVERS_EXACT_CLONES_H
#define BB_DRIVERS_EXACT_CLONES_H

#include "bpf/target.h"
#include "drivers/exact.h"

/* A clone of the target's program. -ENOTSUP as of bb_clone__load(). */
int bb_exact__open(const struct bb_target *target, struct bb_exact *ret_exact, struct bb_err *err);

/*
 * Another clone of every program of the load, if this one has tail calls: e->behind. What cannot be
 * cloned, or not in time, is left out. They count once they are swapped in.
 */
void bb_exact__open_behind(const struct bb_target *target, struct bb_exact *e);

void bb_exact__close(struct bb_exact *e); /* and those behind */
void bb_exact__reset(struct bb_exact *e); /* all counters of one run */
void bb_exact__add(struct bb_exact *e);   /* the counters of one run to the totals */

#endif
