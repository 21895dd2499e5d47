/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_RUN_RUNNER_H
#define BB_RUN_RUNNER_H

#include "run/session.h"

/*
 * Measure the plan and append its cases to the report. A run is rounds: in each, every variant is
 * loaded anew in random order, and all cases are measured in blocks in random order, so that a load
 * is one replication and the floor shares its noise with the rest. Where only lines are timed,
 * several processes do so.
 *
 * Under a budget no round begins that would end after it, and a turn of a slow program ends with
 * fewer samples; skips name the cases that were left out.
 *
 * 0; -ENOTSUP when nothing of the plan can be done on this machine (the skips say why); -ETIME when
 * the budget was used up before anything was measured; -EINTR after a signal and other errors
 * midway: the report then holds the measurements so far and `incomplete` says why.
 */
int bb_run_plan(const struct bb_plan *plan, const struct bb_run_opts *opts,
		struct bb_report *report, struct bb_err *err);

/* True if the plan needs a CPU of its own. Fake and live programs do not. */
bool bb_plan_takes_cpu(const struct bb_plan *plan);

#endif
