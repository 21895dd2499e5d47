/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* The CPU and the user of a child process. */
struct bb_child_place {
	int cpu;
	uid_t uid; /* user that the child process runs as, if we are root */
	gid_t gid;
	/* names of environment variables that the child process keeps beside the usual ones
	 * (base/child.h); the list ends in NULL. NULL: only the usual ones */
	const char *const *env;
};

/* A new child process calls this to pin itself to its CPU and to get priority over other processes
 * there. The child process must have its own session and must still be root. Returns 0 or
 * -errno. */
int bb_child_place__take(const struct bb_child_place *place);

/* A command that runs as a child process, in a session of its own. Its stdin is empty, its stderr
 * is kept for messages, and its environment is clean (base/child.h). The kernel kills it if we die.
 */
struct bb_command_spec {
	/* words for messages, as NOUN and WHEN in "the NOUN 'program' ended with exit code 1
	 * WHEN" */
	const char *noun, *when;
	const char *shell; /* a command line for sh -c; NULL: `program` is executed */
	/* A path, or a name that is searched in `dir` and then in $PATH. With `dir`, `path` or
	 * `is_held` we open the program with our own rights, because the user of the command may be
	 * unable to open it. */
	const char *program;
	const char *const *args; /* args[n_args], without the program's name */
	size_t n_args;
	const char *dir; /* folder that is searched first for `program`; NULL: no folder */
	/* $PATH of the command, in which `program` is searched, too; NULL: our $PATH */
	const char *path;
	/* true: the command is stopped before its first instruction, until bb_command__resume() */
	bool is_held;
	/* true: the command is pinned to place.cpu, with priority over other processes there */
	bool is_pinned;
	/* true: the command's stdout is kept for bb_command__stdout(); false: it is discarded */
	bool keeps_stdout;
	/* Points into shared memory, because the child process writes there. It receives the time
	 * (bb_now_ns()) at which a held command begins to run, perhaps some ms after
	 * bb_command__resume(). NULL: the time is not wanted. */
	uint64_t *ret_began_ns;
	struct bb_child_place place;
};

/* A zeroed struct is a command that was not started. */
struct bb_command {
	const struct bb_command_spec *spec; /* borrowed */
	pid_t pid;  /* the process that was started; 0: there is none, or it was reaped */
	int status; /* status of `pid` as from waitpid(), once it was reaped */
	int log_fd; /* file in memory that receives the command's stderr; 0: no file */
	int out_fd; /* file in memory that receives the command's stdout; 0: no file */
};

/* Starts the command. `spec` must outlive it. Returns 0, or -errno with a message that names the
 * program and the reason, such as "not found". Call bb_command__done() after success and after
 * failure. */
int bb_command__start(const struct bb_command_spec *spec, struct bb_command *ret_command,
		      struct bb_err *err);

/* Waits for the end of the process that was started, at most `seconds`. Then kills the other
 * processes of its group. Returns 0; -ETIME if the process still runs; -EINTR if a signal asked us
 * to stop. *ret_usage receives the resources that the process used, including those of descendants
 * that it reaped. */
int bb_command__wait(struct bb_command *c, double seconds, struct rusage *ret_usage);

/* Returns 0 while the command runs, 1 if it ended with exit status 0, or -ECHILD with a message if
 * it failed or was killed. Unless it returns 0, it has called bb_command__done(). */
int bb_command__ended(struct bb_command *c, struct bb_err *err);

/* Writes the message that says how a reaped command ended. Returns -ECHILD. */
int bb_command__fail(const struct bb_command *c, struct bb_err *err);

/* Functions that bb_command__run() calls around and during the run of a command. */
struct bb_beside {
	/* called as soon as there is a process for the command, before it executes the command, if
	 * the command is one that waits for this; NULL: not called */
	int (*begin)(void *arg, const struct bb_command *c, struct bb_err *err);
	int (*feed)(void *arg, struct bb_err *err); /* called every 2 ms while the command runs */
	void *arg;
};

struct bb_run_cost {
	uint64_t wall_ns;
	double cpu_s; /* CPU time of the processes of the command that were reaped, s */
};

/* Runs a command to its end, and adds its wall time and CPU time to *cost. `beside` may be NULL.
 * The run may take at most `most_s` seconds. Returns 0, or an error with a message: -ECHILD if the
 * command fails, -ETIME, -EINTR or another -errno. Call bb_command__done() in all cases. */
int bb_command__run(const struct bb_command_spec *spec, const struct bb_beside *beside,
		    double most_s, struct bb_command *ret_command, struct bb_run_cost *cost,
		    struct bb_err *err);

/* bb_command__pause() stops all processes of the command, bb_command__resume() lets them go on.
 * Both do nothing if the command does not run. */
void bb_command__pause(const struct bb_command *c);
void bb_command__resume(const struct bb_command *c);

/* Kills the processes of the command and closes its files. */
void bb_command__done(struct bb_command *c);

/* Returns "; its stderr ends: ..." with the last lines of the file that receives the stderr of a
 * command; "" if the file is empty. */
struct bb_command_tail {
	char text[512];
} bb_command__tail(int log_fd);

/* Returns the last 64 KiB of the stdout of the command if it was kept, else ""; the caller frees
 * the text. */
char *bb_command__stdout(const struct bb_command *c);

/* Opens a file in memory for the output of a command. The user of the command may open it again, as
 * /dev/stderr. Returns a descriptor or -errno. */
int bb_command__open_log(const struct bb_child_place *place);

/* Empties the file of bb_command__open_log() if it is larger than 1 MiB. */
void bb_command__limit_log(int log_fd);

/* Opens a perf event of the clock `clock` ("cpu-clock" or "task-clock") on the command and its
 * children, with the sampling frequency `freq_hz`. The event runs the program `prog_fd`; it is
 * disabled until bb_command__start_clock(). Returns 0, or -errno with a message. */
int bb_command__open_clock(const struct bb_command *c, const char *clock, uint32_t freq_hz,
			   int prog_fd, int *ret_event_fd, struct bb_err *err);
int bb_command__start_clock(int event_fd, struct bb_err *err);
