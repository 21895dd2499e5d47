/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* The processes of the user's commands. All of them, orphans too, remain descendants of bpfbench
 * (PR_SET_CHILD_SUBREAPER). So bpfbench can read their CPU time, and can end them all. */

/* The descendants of the process `root`, and `root` itself unless it is our own process. */
struct bb_processes {
	pid_t *pids;
	size_t n;
	double cpu_s; /* CPU time of the processes and of the descendants that they reaped, s */
	uint64_t rss_bytes; /* resident memory, bytes; a shared page counts once for each process */
};

/* Reads the processes below `root`. Leaves out the process `but` and its descendants; `but` is 0 to
 * leave out none. Returns 0, or the -errno of reading /proc. */
int bb_processes__read(pid_t root, pid_t but, struct bb_processes *ret_processes);
void bb_processes__done(struct bb_processes *p);

/* The threads that ran, or waited for a CPU, when bb_running__in_kernel() last looked. */
struct bb_running {
	struct bb_running_thread {
		uint64_t id, user_ticks; /* user_ticks: time in user space, in ticks of proc(5) */
	} * v;
	size_t n;
};

/* Looks at the threads below the process `root`, and stores those that run in `r`. Returns true if
 * one of them also ran at the last look and has spent no time in user space since then. Such a
 * thread is in a long system call, such as bpf() while the verifier works on a program. Begin with
 * a zeroed `r`; free r->v. */
bool bb_running__in_kernel(struct bb_running *r, pid_t root);

/* Ends the processes below `root`: by SIGTERM, and after 5 s by SIGKILL. Reaps those that are our
 * children. `*ret_killed` is true if SIGKILL was needed. Returns 0, or -EBUSY if one does not end.
 */
int bb_processes__end(pid_t root, bool *ret_killed);
