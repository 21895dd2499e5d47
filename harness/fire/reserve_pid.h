/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_FIRE_RESERVE_PID_H
#define BB_FIRE_RESERVE_PID_H

#include <sys/types.h>

#include "base/err.h"

/*
 * The pid of a process that is to be started later: programs that filter by it are told before
 * they are loaded, and the process comes after. It is the pid of a child that has ended; the kernel
 * hands pids out in turn, so nobody gets it before millions of others were started. -ENOTSUP where
 * pids of ours are not those that programs see (a PID namespace).
 */
int bb_reserve_pid(pid_t *ret_pid, struct bb_err *err);

#endif
