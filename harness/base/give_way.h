/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BASE_GIVE_WAY_H
#define BB_BASE_GIVE_WAY_H

/*
 * Run ahead of other processes while stepping and polling: a poller that waits for its CPU sees
 * several runs in one window. A nice value would not do, it counts within a session only
 * (sched_autogroup). Others get their share by bb_give_way(), and another process that runs ahead
 * takes turns with us (SCHED_RR). Our memory so far stays in place (mlockall). Workloads inherit
 * neither. Where it is not granted, -errno: -EPERM without CAP_SYS_NICE, and as root in a cgroup
 * that has no real-time runtime.
 */
int bb_run_ahead_of_others(void);

/*
 * A measuring process runs ahead of others, and the kernel leaves them at most a
 * twentieth of each second. So it gives the CPU up by itself: between two loads or batches, and
 * between two runs of a slow program, it sleeps for a tenth of the time that it has had, once that
 * is 0.1 s.
 */
void bb_give_way(void);

/* Use all memory that bb_give_way() uses, so that it causes no page fault later. */
void bb_give_way_touch(void);

#endif
