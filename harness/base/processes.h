/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* The processes of the user's commands. All of them, orphans too, stay descendants of the process
 * that reads and ends them (PR_SET_CHILD_SUBREAPER), which is bpfbench or a keeper. */

/* The descendants of the process `root`, and `root` itself unless it is this process. */
struct bb_processes {
	pid_t *pids;
	size_t n;
	double cpu_s;       /* CPU time, with that of the children that they reaped, s */
	uint64_t rss_bytes; /* resident memory (a shared page counts once for each process) */
};

/* Reads the descendants of `root`. Leaves out the process `but` and its descendants, or none if
 * `but` is 0. Returns 0, or the -errno of reading /proc. */
int bb_processes__read(pid_t root, pid_t but, struct bb_processes *ret_processes);
void bb_processes__done(struct bb_processes *p);

/* The threads that ran or waited for a CPU at the last bb_running__in_kernel(). */
struct bb_running {
	struct bb_running_thread {
		/* `user_ticks` is time in user space, in ticks of proc(5) */
		uint64_t id, user_ticks;
	} * v;
	size_t n;
};

/* Returns true if a descendant of `root` has a thread that ran at the last call and now, and spent
 * no time in user space in between. It is in a long system call, such as bpf() while the verifier
 * works. Zero `r` before the first call. Free r->v. */
bool bb_running__in_kernel(struct bb_running *r, pid_t root);

/* How to end processes. */
struct bb_ending {
	/* The process that ends with its descendants, unless it is this process. If it is 0, the
	 * children of this process end, and orphans that become its children meanwhile. */
	pid_t root;
	const pid_t *keep; /* keep[n_keep] do not end */
	size_t n_keep;
	/* A child that leads a process group and has not been reaped, or 0. The whole group gets
	 * the signals for it, even if /proc cannot be read. turn() must reap it, so that its status
	 * is not lost. */
	pid_t leader;
	/* The signals in their order, all different, the last one followed by 0, and how long to
	 * wait after each, s. Processes that appear later get no signal of the present step but
	 * SIGKILL. */
	struct {
		int signal;
		double seconds;
	} steps[4];
	/* Called again and again meanwhile instead of a pause of 5 ms. May be NULL. */
	void (*turn)(void *arg);
	void *arg;
};

/* Ends processes and reaps those that are our children. *ret_signal receives the last signal that
 * was sent, or 0; `ret_signal` may be NULL. Returns 0; -EBUSY if a process does not end;
 * -ENOTSUP if /proc does not show our PID namespace; or the -errno of reading /proc. After the last
 * two, a process may be left. */
int bb_processes__end(const struct bb_ending *e, int *ret_signal);
