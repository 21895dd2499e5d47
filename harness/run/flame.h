/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "profile/recording.h"
#include "run/session.h"

#define BB_FLAME_HZ 1999u /* samples per second of CPU time */
#define BB_FLAME_S 3.0    /* wall time of sampling, for all cases together */

/* Returns -EINVAL with a message if the plan has no drive in situ (one that measures programs under
 * a real workload). Only a workload can be sampled. */
int bb_flame_check(const struct bb_plan *plan, struct bb_err *err);

/* Samples the stacks of the workload of each case in situ, the cases in turn. Call it after all
 * measurements, because sampling slows the workload. Returns -EINTR after a signal, -ENOTSUP if the
 * machine cannot sample, or -errno. */
int bb_flame_sample(const struct bb_plan *plan, const struct bb_run_opts *opts,
		    struct bb_recording *ret_recording, struct bb_err *err);
