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

/* A command that runs as a child process, in a session of its own. Its stdin is empty, its stderr
 * is kept for messages, and its environment is clean (base/child.h). The kernel kills it if we die.
 */
struct bb_command_spec {
	/* words for messages: "the NOUN 'program' ended with exit code 1 WHEN" */
	const char *noun, *when;
	const char *shell; /* a command line for sh -c; NULL: `program` is executed */
	/* a path, or a name that is looked up in `dir` and then in $PATH. With `dir`, `path` or
	 * `is_held` it is opened with our rights, because the user may not reach its folder. */
	const char *program;
	const char *const *args; /* args[n_args], without the program's name */
	size_t n_args;
	const char *dir; /* folder that is searched first for `program`; NULL: none */
	/* value of the command's $PATH, which is searched for `program`, too; NULL: our $PATH */
	const char *path;
	/* it is stopped before its first instruction, until bb_command__resume() */
	bool is_held;
	bool is_pinned;    /* it is pinned to place.cpu, with priority over others there */
	bool keeps_stdout; /* keep its stdout for bb_command__stdout(); else it is discarded */
	/* in memory that is shared with the command: receives the time at which a held command
	 * goes on (bb_now_ns()), perhaps some ms after bb_command__resume(); NULL: not wanted */
	uint64_t *ret_began_ns;
	struct bb_child_place place;
};

/* A zeroed struct is a command that was not started. */
struct bb_command {
	const struct bb_command_spec *spec; /* borrowed */
	pid_t pid;  /* its first process; 0: it was not started, or it was reaped */
	int status; /* status from waitpid(), once `pid` was reaped */
	int log_fd; /* file in memory that receives its stderr; 0: none */
	int out_fd; /* file in memory that receives its stdout; 0: none */
};

/* Starts the command. Returns 0, or -errno with a message that names the program and the reason,
 * such as not found or not executable for that user. Call bb_command__done() in both cases. */
int bb_command__start(const struct bb_command_spec *spec, struct bb_command *ret_command,
		      struct bb_err *err);

/* Waits for the end of its first process, at most `seconds`. Then kills the other processes of its
 * session. Returns 0; -ETIME if the first process still runs; -EINTR if a signal asked us to stop.
 * `*ret_usage` receives the resources of that process and of descendants that it reaped. */
int bb_command__wait(struct bb_command *c, double seconds, struct rusage *ret_usage);

/* Returns 0 while it runs, 1 if it ended with exit status 0, or -ECHILD with a message if it
 * failed or was killed. Unless it returns 0, bb_command__done() was called. */
int bb_command__ended(struct bb_command *c, struct bb_err *err);

/* Writes the message that says how a reaped command ended. Returns -ECHILD. */
int bb_command__fail(const struct bb_command *c, struct bb_err *err);

/* What is done beside a run of a command. */
struct bb_beside {
	/* called before a held command goes on; NULL: nothing to do */
	int (*begin)(void *arg, const struct bb_command *c, struct bb_err *err);
	int (*feed)(void *arg, struct bb_err *err); /* called every 2 ms while it runs */
	void *arg;
};

struct bb_run_cost {
	uint64_t wall_ns;
	double cpu_s; /* CPU time of those of its processes that were waited for, s */
};

/* Runs a command to its end, and adds what that took to *cost. `beside` may be NULL. The run
 * may take `most_s`. Returns 0, or an error with a message: -ECHILD if the command fails, -ETIME,
 * -EINTR or another -errno. Call bb_command__done() in all cases. */
int bb_command__run(const struct bb_command_spec *spec, const struct bb_beside *beside,
		    double most_s, struct bb_command *ret_command, struct bb_run_cost *cost,
		    struct bb_err *err);

/* Stop and continue all processes of the command's group. They do nothing if it does not run. */
void bb_command__pause(const struct bb_command *c);
void bb_command__resume(const struct bb_command *c);

/* Kills the processes of its session and closes its files. */
void bb_command__done(struct bb_command *c);

/* Returns "; its stderr ends: ..." with the last lines of a command, from the file that receives
 * its stderr; "" if it wrote nothing. */
struct bb_command_tail {
	char text[512];
} bb_command__tail(int log_fd);

/* Returns the last 64 KiB of its stdout, if it was kept; free() the text. */
char *bb_command__stdout(const struct bb_command *c);

/* Opens a file in memory that receives the output of a command; the command's user may open it
 * again. Returns a descriptor or -errno. */
int bb_command__open_log(const struct bb_child_place *place);

/* Empties a file that receives the output of a command if it is above 1 MiB. */
void bb_command__limit_log(int log_fd);

/* Opens a clock event ("cpu-clock", "task-clock") of `freq_hz` on the command and its children.
 * The event runs the program `prog_fd`, and is disabled at first. Returns 0, or -errno with a
 * message and *ret_event_fd -1. */
int bb_command__open_clock(const struct bb_command *c, const char *clock, uint32_t freq_hz,
			   int prog_fd, int *ret_event_fd, struct bb_err *err);
int bb_command__start_clock(int event_fd, struct bb_err *err);
