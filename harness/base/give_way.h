/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/*
 * Gives this process real-time priority while it steps and polls, because a poller that waits for
 * its CPU sees several runs in one window. A nice value would count within a session only
 * (sched_autogroup). Other processes get CPU time by bb_give_way(), and another real-time process
 * takes turns with us (SCHED_RR). Locks our memory (mlockall). Workloads inherit neither the
 * priority nor the lock.
 *
 * Returns 0, or -errno if real-time priority is refused: -EPERM without CAP_SYS_NICE, or for root
 * in a cgroup without real-time runtime. The nice value is then -20.
 */
int bb_run_ahead_of_others(void);

/*
 * Gives the CPU to other processes. Beside a real-time process, the kernel leaves them at most a
 * twentieth of each second. So we sleep between loads, batches and runs of slow programs: whenever
 * we have run for 0.1 s, for a tenth of the time that we ran, at most 0.2 s.
 */
void bb_give_way(void);

/* Touches the memory of bb_give_way() now, so that it causes no page fault later. */
void bb_give_way_touch(void);
