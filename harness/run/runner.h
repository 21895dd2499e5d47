/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "run/session.h"

/*
 * Measures the plan and appends its cases to the report. A run consists of rounds. Each round loads
 * every variant anew in random order, and measures the cases of each drive in turns, in random
 * order. A plan that only times source lines is measured by several processes. If the budget is
 * short, the last rounds are left out, and turns of slow programs get fewer samples. Skips in the
 * report name what was left out. Returns -ENOTSUP if nothing of the plan can be measured on this
 * machine (skips tell why), -ETIME if the budget was used up before anything was measured, -EINTR
 * after a signal, or another -errno. After an error in the middle, the report has the measurements
 * so far, and its `incomplete` has the reason.
 */
int bb_run_plan(const struct bb_plan *plan, const struct bb_run_opts *opts,
		struct bb_report *report, struct bb_err *err);

/* Returns true if the plan needs a CPU of its own. Fake drives and the drive `live` do not. */
bool bb_plan_takes_cpu(const struct bb_plan *plan);
