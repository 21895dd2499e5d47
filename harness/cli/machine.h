/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CLI_MACHINE_H
#define BB_CLI_MACHINE_H

#include <stdbool.h>

#include "base/err.h"

/*
 * Which CPU programs run on and which one polls: `wanted` (-1: the last CPU we may use) and the
 * first other one; the same twice when there is only one. -EINVAL when `wanted` is none of ours.
 */
int bb_machine_cpus(int wanted, int *ret_cpu, int *ret_poll_cpu, struct bb_err *err);

/*
 * Likewise, but no other bpfbench measures on that CPU, from now until this process ends
 * (base/cpu_lock.h). Where `wanted` is -1 and the last CPU is taken, it is the last but one, polled
 * from the second, and so on, so that no two share a CPU. If all are taken, it names the holder on
 * stderr and waits; with `no_wait` it returns -EBUSY, and the message names the holder. -EINTR: a
 * signal ended the wait. Root only: without root nothing is locked.
 */
int bb_machine_take_cpus(int wanted, bool no_wait, int *ret_cpu, int *ret_poll_cpu,
			 struct bb_err *err);

/*
 * Run ahead of other processes while stepping and polling: a poller that waits for its CPU sees
 * several runs in one window. A nice value would not do, it counts within a session only
 * (sched_autogroup). Others get their share by base/give_way.h, and another process that runs ahead
 * takes turns with us (SCHED_RR). Our memory so far stays in place (mlockall). Workloads inherit
 * neither. Where it is not granted, -errno: -EPERM without CAP_SYS_NICE, and as root in a cgroup
 * that has no real-time runtime.
 */
int bb_run_ahead_of_others(void);

#endif
