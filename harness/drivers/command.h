/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

struct bb_child_place {
	int cpu;
	uid_t uid; /* the user, if we are root */
	gid_t gid;
	/* Names of environment variables that the child process keeps in addition to those that
	 * base/child.h lists. The list ends in NULL. `env` is NULL if there are none. */
	const char *const *env;
};

/* Called in a new child process that is still root and has its own session. Pins it to its CPU, and
 * gives it priority over other processes there, because on a busy machine it would otherwise run
 * too rarely to give enough samples. Returns 0 or -errno. */
int bb_child_place__take(const struct bb_child_place *place);

/* A command that runs as a child process, in a session of its own. Its stdin is empty, and it gets
 * only a few of our environment variables (base/child.h). The kernel kills it if we die. */
struct bb_command_spec {
	/* words for the message "the NOUN 'program' ended with exit code 1 WHEN" */
	const char *noun, *when;
	const char *shell; /* command line for sh -c; if NULL, `program` is executed */
	/* A path, or a name that is searched in `dir` and then in $PATH. If `dir`, `path` or
	 * `is_held` is set, we open it, because the command's user may be unable to. */
	const char *program;
	const char *const *args; /* without the program's name */
	size_t n_args;
	const char *dir; /* folder that is searched before $PATH; may be NULL */
	/* $PATH of the command, also used to find `program`; NULL means our own $PATH */
	const char *path;
	/* true if the command stops before its first instruction, until bb_command__resume() */
	bool is_held;
	/* true if the command is pinned to place.cpu, with priority over other processes there */
	bool is_pinned;
	/* true if the command's stdout is kept for bb_command__stdout(), and not discarded */
	bool keeps_stdout;
	/* Receives the time (bb_now_ns()) at which a held command begins to run, some ms after
	 * bb_command__resume(). It must be in shared memory. May be NULL. */
	uint64_t *ret_began_ns;
	struct bb_child_place place;
};

/* A zeroed struct is a command that was not started. */
struct bb_command {
	const struct bb_command_spec *spec; /* borrowed */
	pid_t pid;  /* the command's process; 0 if there is none, or it was reaped */
	int status; /* status of the reaped process, as waitpid() gives it */
	int log_fd; /* the command's stderr, in memory; 0 if there is none */
	int out_fd; /* the command's stdout, in memory; 0 if there is none */
};

/* Starts the command. `spec` must outlive it. Returns 0, or -errno with a message. Call
 * bb_command__done() after success and after failure. */
int bb_command__start(const struct bb_command_spec *spec, struct bb_command *ret_command,
		      struct bb_err *err);

/* Waits for the end of the command's process, at most `seconds`. Then kills the rest of its process
 * group. Returns 0, -ETIME if the process still runs, or -EINTR if a signal asked us to stop.
 * *ret_usage includes the descendants that the process has reaped. */
int bb_command__wait(struct bb_command *c, double seconds, struct rusage *ret_usage);

/* Returns 0 while the command runs, 1 if it ended with exit status 0, or an error with a message:
 * -ECHILD if it failed, -EINTR if a signal asked us to stop, or another -errno. Calls
 * bb_command__done() unless it returns 0. */
int bb_command__ended(struct bb_command *c, struct bb_err *err);

/* Writes the message that says how a reaped command ended. Returns -ECHILD. */
int bb_command__fail(const struct bb_command *c, struct bb_err *err);

/* Functions that bb_command__run() calls. */
struct bb_beside {
	/* Called when the process was started. A held command has not begun then. May be NULL. */
	int (*begin)(void *arg, const struct bb_command *c, struct bb_err *err);
	int (*feed)(void *arg, struct bb_err *err); /* called every 2 ms while the command runs */
	void *arg;
};

struct bb_run_cost {
	uint64_t wall_ns;
	double cpu_s; /* CPU time of the reaped processes */
};

/* Runs a command to its end, for at most `most_s` seconds, and adds its wall time and CPU time to
 * *cost. `beside` may be NULL. Returns 0, or an error with a message: -ECHILD if the command fails,
 * -ETIME, -EINTR or another -errno. Call bb_command__done() in all cases. */
int bb_command__run(const struct bb_command_spec *spec, const struct bb_beside *beside,
		    double most_s, struct bb_command *ret_command, struct bb_run_cost *cost,
		    struct bb_err *err);

/* Stop all processes of the command, and let them go on. Do nothing if the command does not run. */
void bb_command__pause(const struct bb_command *c);
void bb_command__resume(const struct bb_command *c);

/* Kills the command's processes and closes its files. */
void bb_command__done(struct bb_command *c);

/* Returns "; its stderr ends: ..." with the last lines of a command's stderr; "" if it is empty. */
struct bb_command_tail {
	char text[512];
} bb_command__tail(int log_fd);

/* Returns the last 64 KiB of stdout, or "" if it was not kept. The caller frees the text. */
char *bb_command__stdout(const struct bb_command *c);

/* Opens a file in memory for a command's output. The command's user may open it as /dev/stderr. */
int bb_command__open_log(const struct bb_child_place *place);

void bb_command__limit_log(int log_fd);

/* Opens a perf event of `clock` ("cpu-clock" or "task-clock") on the command and its children, at
 * `freq_hz`. The event runs the program `prog_fd`. It is disabled until bb_command__start_clock().
 * Returns 0, or -errno with a message. */
int bb_command__open_clock(const struct bb_command *c, const char *clock, uint32_t freq_hz,
			   int prog_fd, int *ret_event_fd, struct bb_err *err);
int bb_command__start_clock(int event_fd, struct bb_err *err);
