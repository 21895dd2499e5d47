/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_DRIVERS_WORKLOAD_H
#define BB_DRIVERS_WORKLOAD_H

#include "base/err.h"
#include "base/std.h"

/* Where a child process runs: its CPU and its user. */
struct bb_child_place {
	int cpu;
	uid_t uid; /* the user that it runs as, if we are root */
	gid_t gid;
	/* Names of more variables that a program keeps; NULL means none (base/child.h). */
	const char *const *env;
};

/* For a new child process with a session of its own, before it gives up root: pins it to its CPU,
 * ahead of others there. 0 or -errno. */
int bb_child_place__take(const struct bb_child_place *place);

/*
 * A command that runs as a child process: as the caller of sudo, on one CPU, in a session of its
 * own and ahead of others there. Its stdout is thrown away and its environment is clean
 * (base/child.h). The kernel kills it if we die.
 */
struct bb_workload_spec {
	const char *program; /* a path, or a name looked for in `dir` and then in $PATH */
	char *const *args;   /* n_args of them, without the program's name */
	size_t n_args;
	const char *dir; /* may be NULL */
	/* in place of $PATH, for the program too; NULL: $PATH */
	const char *path;
	/* it stands still before its first instruction until bb_workload__resume() */
	bool is_held;
	struct bb_child_place place;
};

struct bb_workload {
	pid_t pid; /* 0: not running */
};

/* Start it. Errors name the program and the reason (not found, not executable by that user, ...).
 */
int bb_workload__start(const struct bb_workload_spec *spec, struct bb_workload *ret_workload,
		       struct bb_err *err);

/*
 * Has it ended? 0: still running. 1: it ended with exit status 0. -ECHILD with a message: it failed
 * or was killed. After an answer other than 0 the process is gone and pid is 0.
 */
int bb_workload__ended(struct bb_workload *w, const char *program, struct bb_err *err);

/* Hold the whole group still while something else is measured, and let it go on. Nothing if it is
 * not running. */
void bb_workload__pause(const struct bb_workload *w);
void bb_workload__resume(const struct bb_workload *w);

/* Kill the whole group and wait. */
void bb_workload__stop(struct bb_workload *w);

/*
 * A clock event ("cpu-clock", "task-clock") of `freq_hz` on the process and its children, which
 * runs the program; disabled. 0, or -errno with a message and *ret_event_fd -1.
 */
int bb_workload__open_clock(const struct bb_workload *w, const char *clock, uint32_t freq_hz,
			    int prog_fd, int *ret_event_fd, struct bb_err *err);
int bb_workload__start_clock(int event_fd, struct bb_err *err);

/* CPU seconds the process has used; NAN when unknown. */
double bb_workload__cpu_s(const struct bb_workload *w);

#endif
