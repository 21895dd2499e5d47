/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CLI_FLAME_H
#define BB_CLI_FLAME_H

#include "base/err.h"
#include "cli/measure.h"
#include "plan/plan.h"

/*
 * After a plan was measured: sample its workload (run/flame.h), and write the flame graph to
 * `file`, or where that is NULL into the folder of stored runs as ID.svg. The folded stacks are
 * stored there as ID.folded unless nothing is to be stored. 0 or -errno with a message.
 */
int bb_flame_of_run(const struct bb_measure *m, const struct bb_plan *plan, const char *file,
		    struct bb_err *err);

#endif
