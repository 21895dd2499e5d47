/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* CPU and user of a child process. */
struct bb_child_place {
	int cpu;
	uid_t uid; /* user that the child process runs as, if we are root */
	gid_t gid;
	/* names of environment variables that the child keeps besides the usual ones
	 * (base/child.h); ends in NULL. NULL: only the usual ones */
	const char *const *env;
};

/* Pins a new child process to its CPU, with priority over others there. The process must have a
 * session of its own and must still be root. Returns 0 or -errno. */
int bb_child_place__take(const struct bb_child_place *place);

/* A command that runs as a child process: as the caller of sudo, on one CPU, in a session of its
 * own, and with priority over others there. Its stdout is discarded, and its environment is clean
 * (base/child.h). The kernel kills it if we die. */
struct bb_workload_spec {
	const char *program; /* a path, or a name that is looked up in `dir` and then in $PATH */
	char *const *args;   /* args[n_args], without the program's name */
	size_t n_args;
	const char *dir; /* folder that is searched first for `program`; NULL: none */
	/* value of the workload's $PATH, which is searched for `program`, too; NULL: our $PATH */
	const char *path;
	/* it is stopped before its first instruction, until bb_workload__resume() */
	bool is_held;
	/* in memory that is shared with the workload: receives the time at which a held workload
	 * goes on (bb_now_ns()), perhaps some ms after bb_workload__resume(); NULL: not wanted */
	uint64_t *ret_began_ns;
	struct bb_child_place place;
};

struct bb_workload {
	pid_t pid; /* 0: not running */
};

/* Starts the command. Returns 0, or -errno with a message that names the program and the reason,
 * such as not found or not executable for that user. */
int bb_workload__start(const struct bb_workload_spec *spec, struct bb_workload *ret_workload,
		       struct bb_err *err);

/* Returns 0 while it runs, 1 if it ended with exit status 0, or -ECHILD with a message if it
 * failed or was killed. Unless it returns 0, the process is gone and pid is 0. */
int bb_workload__ended(struct bb_workload *w, const char *program, struct bb_err *err);

/* Stop and continue all processes of the workload's group. They do nothing if the workload does
 * not run. */
void bb_workload__pause(const struct bb_workload *w);
void bb_workload__resume(const struct bb_workload *w);

/* Kills all processes of the workload's group and waits for the one that was started. */
void bb_workload__stop(struct bb_workload *w);

/* Opens a clock event ("cpu-clock", "task-clock") of `freq_hz` on the workload and its children.
 * The event runs the program `prog_fd`, and is disabled at first. Returns 0, or -errno with a
 * message and *ret_event_fd -1. */
int bb_workload__open_clock(const struct bb_workload *w, const char *clock, uint32_t freq_hz,
			    int prog_fd, int *ret_event_fd, struct bb_err *err);
int bb_workload__start_clock(int event_fd, struct bb_err *err);
