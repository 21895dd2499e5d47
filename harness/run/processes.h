/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* The processes of the user's commands. All of them, orphans too, stay descendants of bpfbench
 * (PR_SET_CHILD_SUBREAPER), so that it can read their CPU time and end them. */

/* The descendants of the process `root`, and `root` itself unless it is bpfbench. */
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

/* Ends the descendants of `root` by SIGTERM, and after 5 s by SIGKILL. Reaps the children of
 * bpfbench. *ret_killed tells whether SIGKILL was needed. Returns -EBUSY if one does not end. */
int bb_processes__end(pid_t root, bool *ret_killed);
