/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/*
 * Commands of the user that run for minutes or for milliseconds: an agent, a server, a workload.
 * All of their processes are descendants of bpfbench, orphans too (PR_SET_CHILD_SUBREAPER),
 * so that their CPU time can be read and all of them can be ended.
 */
struct bb_command_spec {
	const char *shell;       /* a command line for sh -c; NULL: `argv` is executed */
	const char *const *argv; /* ends in NULL; argv[0] is searched in $PATH */
	const char *const *env;  /* further variables that the command keeps (base/child.h) */
	uid_t uid;               /* user that it runs as, if we are root; 0: root */
	gid_t gid;
	bool keeps_stdout; /* its stdout can be read afterwards, and is not discarded */
};

struct bb_command {
	pid_t pid;  /* its first process; 0: there is none, or it was reaped */
	int status; /* of waitpid(), once `pid` was reaped */
	int log_fd; /* file in memory that receives its stderr; -1: none */
	int out_fd; /* the same for its stdout */
};

/* Starts the command in a session of its own, its stdin empty, its stdout discarded. Returns 0, or
 * -errno with a message. bb_command__done() is due in both cases. */
int bb_command__start(const struct bb_command_spec *spec, struct bb_command *ret_command,
		      struct bb_err *err);

/* Waits for the end of its first process, at most `seconds`. Then kills what is left of its
 * session. Returns 0; -ETIME if it still runs; -EINTR if a signal asked us to stop. `*ret_usage`
 * receives the resources of the process and of those descendants that it waited for. */
int bb_command__wait(struct bb_command *c, double seconds, struct rusage *ret_usage);

/* Kills its session and frees what it has. Accepts a zeroed struct. */
void bb_command__done(struct bb_command *c);

/* Writes "; its stderr ends: ..." with the last lines of the command; "" if it wrote none. */
struct bb_command_tail {
	char text[512];
} bb_command__tail(const struct bb_command *c);

/* Returns the last 64 KiB of its stdout, if it was kept; free() the text. */
char *bb_command__stdout(const struct bb_command *c);

/* Empties the file with the stderr of a command that writes much. */
void bb_command__limit_log(const struct bb_command *c);

/* The processes that descend from `root`, with `root` itself unless that is us. */
struct bb_processes {
	pid_t *pids;
	size_t n;
	double cpu_s;       /* CPU time that they used, with that of descendants that they reaped */
	uint64_t rss_bytes; /* resident memory; shared pages count in each process */
};

/* Reads the processes below `root`, without those below `but` (0: none). Returns 0, or the -errno
 * of reading /proc. */
int bb_processes__read(pid_t root, pid_t but, struct bb_processes *ret_processes);
void bb_processes__done(struct bb_processes *p);

/* Ends all processes that bb_processes__read() finds: by SIGTERM, and after `patience_s` by
 * SIGKILL. Reaps our children among them. `*ret_killed` is true if SIGKILL was needed. Returns 0,
 * or -EBUSY if a process does not end. */
int bb_processes__end(pid_t root, pid_t but, double patience_s, bool *ret_killed);
