/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/*
 * Gives this process real-time priority (SCHED_RR) and locks its memory. Without the priority it
 * could lose its CPU between two readings of a program's counters, and the program would run
 * several times between them. A nice value is not enough, because it counts only within a session
 * (sched_autogroup). bb_give_way() leaves CPU time to other processes. Workloads inherit neither
 * the priority nor the lock.
 *
 * Returns 0, or -errno if real-time priority is refused: -EPERM without CAP_SYS_NICE, or for root
 * in a cgroup without real-time runtime. The nice value is then -20.
 */
int bb_run_ahead_of_others(void);

/* Gives the CPU to other processes, to which the kernel leaves only a twentieth of each second
 * while a real-time process runs. If the last sleep in this function ended at least 0.1 s ago, this
 * process now sleeps for a tenth of the time since then, at most 0.2 s. bpfbench calls this between
 * loads, batches and runs of slow programs. */
void bb_give_way(void);

void bb_give_way_touch(void);

/*
 * The process that holds the lock of a CPU. With this lock, only one bpfbench at a time measures on
 * a CPU. The lock is the abstract socket "bpfbench-cpuN", on which the holder listens. A socket
 * needs no file, so it works in a chroot and on a read-only file system, and it ends with its
 * holder. Each network namespace has its own sockets, so containers do not see each other's locks.
 *
 * Any user can take a socket's name, so the lock counts only if a process of root holds it. Other
 * users cannot make root wait.
 */
struct bb_cpu_holder {
	pid_t pid;         /* 0 if the holder is in another PID namespace */
	char command[200]; /* command line of the holder, or why it is unknown; "" if `pid` is 0 */
	/* A connection to the holder. The kernel closes it when the holder ends. -1 without one. */
	int fd;
};

/* Takes the lock of a CPU until this process ends. Returns 0; -EBUSY if another process of root
 * holds the lock; -EADDRINUSE if a process of another user has the name; or -errno. With -EBUSY,
 * `*ret_holder` describes the holder, and the caller closes its fd. */
int bb_cpu_lock__take(int cpu, struct bb_cpu_holder *ret_holder);

/* Waits until the holder ends. Returns 0, -EINTR after a stop signal, or -errno. */
int bb_cpu_holder__wait(const struct bb_cpu_holder *holder);
