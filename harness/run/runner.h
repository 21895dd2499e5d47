/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "run/session.h"

/*
 * Measures the plan and appends its cases to the report. A run consists of rounds. In each round
 * every variant is loaded anew in random order, and the cases of each drive are measured in turns,
 * in random order. So a load is one replication, and the floor has the same noise as the other
 * programs. If a plan only times lines, several processes measure it.
 *
 * With a budget, a round that would probably not end in time does not begin, and a turn of a slow
 * program ends with fewer samples. Skips name what was left out.
 *
 * Returns 0; -ENOTSUP if nothing of the plan can be done on this machine (skips say why); -ETIME if
 * the budget was used up before anything was measured; -EINTR after a signal; or another -errno.
 * After an error in the middle of the run, the report has the measurements so far, and its
 * `incomplete` says why the run ended.
 */
int bb_run_plan(const struct bb_plan *plan, const struct bb_run_opts *opts,
		struct bb_report *report, struct bb_err *err);

/* True if the plan needs a CPU of its own. Fake drives and the drive `live` do not need one. */
bool bb_plan_takes_cpu(const struct bb_plan *plan);
