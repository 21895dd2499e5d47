/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/*
 * Gives this process real-time priority, because a poller that must wait for its CPU sees several
 * runs in one window. A nice value is not enough: it counts only within a session
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
 * twentieth of each second. So bpfbench calls this between loads, batches and runs of slow
 * programs. If we have run for 0.1 s, we sleep for a tenth of the time that we ran, at most 0.2 s.
 */
void bb_give_way(void);

/* Touches the memory of bb_give_way() now, so that it causes no page fault later. */
void bb_give_way_touch(void);

/*
 * The process that holds the lock of a CPU. With this lock, only one bpfbench at a time measures on
 * a CPU. The holder listens on the abstract socket "bpfbench-cpuN", and this socket is the lock. It
 * leaves no file, works in a chroot and on a read-only root, and ends with the process. The kernel
 * tells a connecting process which process listens. Each network namespace has its own sockets, so
 * containers do not see each other's locks.
 *
 * Any user can take a socket's name, so the lock counts only if root holds it. Nobody else can make
 * root wait.
 */
struct bb_cpu_holder {
	pid_t pid;         /* process id of the holder; 0: the holder is in another PID namespace */
	char command[200]; /* command line of the holder, or why it is unknown; "" if `pid` is 0 */
	int fd; /* a connection to the holder, which the kernel closes when the holder ends
		   (bb_cpu_holder__wait()); -1: no holder */
};

/*
 * Takes the lock until this process ends. Returns 0; -EBUSY if a process of root has it, with that
 * process in `*ret_holder` (free it with bb_cpu_holder__done()); -EADDRINUSE if a process of
 * another user has the name, which does not count as a lock; or -errno.
 */
int bb_cpu_lock__take(int cpu, struct bb_cpu_holder *ret_holder);

/* Waits until the holder ends. Returns 0, -EINTR after a signal, or -errno. */
int bb_cpu_holder__wait(const struct bb_cpu_holder *holder);
void bb_cpu_holder__done(struct bb_cpu_holder *holder);
