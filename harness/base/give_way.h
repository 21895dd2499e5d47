/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BASE_GIVE_WAY_H
#define BB_BASE_GIVE_WAY_H

/*
 * Gives this process real-time priority while it steps and polls, because a poller that waits for
 * its CPU sees several runs in one window. A nice value would count within a session only
 * (sched_autogroup). Others get CPU time by bb_give_way(), and another real-time process takes
 * turns with us (SCHED_RR). Locks our memory (mlockall). Workloads inherit neither. Returns -errno
 * if refused: -EPERM without CAP_SYS_NICE, or for root in a cgroup without real-time runtime.
 */
int bb_run_ahead_of_others(void);

/*
 * Gives the CPU to other processes. The kernel leaves them at most a twentieth of each second
 * beside a real-time process. So we sleep between loads, batches and runs of slow programs: for a
 * tenth of the time that we ran, once that time is 0.1 s.
 */
void bb_give_way(void);

/* Touches the memory of bb_give_way() now, so that it causes no page fault later. */
void bb_give_way_touch(void);

#endif
