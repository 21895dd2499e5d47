/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CLI_MACHINE_H
#define BB_CLI_MACHINE_H

#include "base/err.h"

/*
 * Which CPU programs run on and which one polls: `wanted` (-1: the last CPU we may use) and the
 * first other one; the same twice when there is only one. -EINVAL when `wanted` is none of ours.
 */
int bb_machine_cpus(int wanted, int *ret_cpu, int *ret_poll_cpu, struct bb_err *err);

/*
 * Stepping and polling go before what else runs here: a poller that waits for its CPU sees several
 * runs in one window. A nice value would not do, it counts within a session only (sched_autogroup).
 * The kernel leaves 5 % of each second to the others (sched_rt_runtime_us). Workloads do not
 * inherit it. Where it is not permitted, all stays as it is.
 */
void bb_run_ahead_of_others(void);

#endif
