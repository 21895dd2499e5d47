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

#endif
