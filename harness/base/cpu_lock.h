/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BASE_CPU_LOCK_H
#define BB_BASE_CPU_LOCK_H

#include "base/err.h"
#include "base/std.h"

/*
 * One bpfbench at a time measures on a CPU. The lock is the abstract socket "bpfbench-cpuN", on
 * which the holder listens. It leaves no file, nobody else can have made one, and it works in a
 * chroot and on a read-only root; it ends with the process; and the kernel tells a process that
 * connects which process listens. Network namespaces have their own, so containers do not see each
 * other's.
 *
 * Any user may take a socket's name, so a lock counts only if root holds it: nobody else can keep
 * root waiting.
 */
struct bb_cpu_holder {
	pid_t pid;         /* 0: in another PID namespace */
	char command[200]; /* its command line, or why it has none; "" if pid is 0 */
	int fd;            /* ends when the holder does, see bb_cpu_lock__wait(); -1: none */
};

/*
 * Take the lock, until this process ends. 0, or -EBUSY with the holder, a process of root's (free
 * it with bb_cpu_holder__done()); -EADDRINUSE when a process of another user has the name, which
 * does not count; other -errno.
 */
int bb_cpu_lock__take(int cpu, struct bb_cpu_holder *ret_holder);

/* Wait until the holder ends (0), or a signal comes (-EINTR). */
int bb_cpu_holder__wait(const struct bb_cpu_holder *holder);
void bb_cpu_holder__done(struct bb_cpu_holder *holder);

#endif
