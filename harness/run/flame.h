/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_RUN_FLAME_H
#define BB_RUN_FLAME_H

#include "base/err.h"
#include "plan/plan.h"
#include "profile/recording.h"
#include "run/session.h"

#define BB_FLAME_HZ 1999u /* samples a second of its CPU */
#define BB_FLAME_S 3.0    /* wall time, all cases together */

/* Which of the scenario's drives have a workload that can be sampled: those in situ. -EINVAL with a
 * message: none. */
int bb_flame_check(const struct bb_plan *plan, struct bb_err *err);

/*
 * Where the workload of the plan's drives in situ spends its time, while the programs run on it as
 * these drives make them, each case in turn. To be called when nothing is measured any more:
 * sampling costs the workload time. -EINTR after a signal, -ENOTSUP when this machine can do none
 * of it, and other errors.
 */
int bb_flame_sample(const struct bb_plan *plan, const struct bb_run_opts *opts,
		    struct bb_recording *ret_recording, struct bb_err *err);

#endif
