/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/*
 * Commands of the user, such as an agent, a server or a workload. All of their processes, orphans
 * too, remain descendants of bpfbench (PR_SET_CHILD_SUBREAPER). So bpfbench can read their CPU
 * time, and can end them all.
 */
struct bb_command_spec {
	const char *shell;       /* a command line for sh -c; NULL: `argv` is executed */
	const char *const *argv; /* ends in NULL; argv[0] is searched in $PATH */
	const char *const *env;  /* names of variables that it keeps (base/child.h) */
	uid_t uid;               /* user that it runs as, if we are root; 0: root */
	gid_t gid;
	bool keeps_stdout; /* keep its stdout for bb_command__stdout() */
};

struct bb_command {
	pid_t pid;  /* its first process; 0: it was not started, or it was reaped */
	int status; /* status from waitpid(), once `pid` was reaped */
	int log_fd; /* file in memory that receives its stderr; -1: none */
	int out_fd; /* the same for its stdout */
};

/* Starts the command in a session of its own. Its stdin is empty. Returns 0, or -errno with a
 * message. Call bb_command__done() in both cases. */
int bb_command__start(const struct bb_command_spec *spec, struct bb_command *ret_command,
		      struct bb_err *err);

/* Waits for the end of its first process, at most `seconds`. Then kills the other processes of its
 * session. Returns 0; -ETIME if the first process still runs; -EINTR if a signal asked us to stop.
 * `*ret_usage` receives the resources of that process and of descendants that it reaped. */
int bb_command__wait(struct bb_command *c, double seconds, struct rusage *ret_usage);

/* Kills the processes of its session and closes its files. Accepts a zeroed struct. */
void bb_command__done(struct bb_command *c);

/* Returns "; its stderr ends: ..." with the command's last lines; "" if it wrote nothing. */
struct bb_command_tail {
	char text[512];
} bb_command__tail(const struct bb_command *c);

/* Returns the last 64 KiB of its stdout, if it was kept; free() the text. */
char *bb_command__stdout(const struct bb_command *c);

/* Empties the file with the command's stderr if it is above 1 MiB. */
void bb_command__limit_log(const struct bb_command *c);

/* The descendants of the process `root`, and `root` itself unless it is our own process. */
struct bb_processes {
	pid_t *pids;
	size_t n;
	double cpu_s;       /* their CPU time, with that of the descendants that they reaped */
	uint64_t rss_bytes; /* resident memory; shared pages count in each process */
};

/* Reads the processes below `root`, without `but` and those below it (0: none). Returns 0, or the
 * -errno of reading /proc. */
int bb_processes__read(pid_t root, pid_t but, struct bb_processes *ret_processes);
void bb_processes__done(struct bb_processes *p);

/* Ends all processes that bb_processes__read() finds: by SIGTERM, and after `patience_s` by
 * SIGKILL. Reaps the processes that are our children. `*ret_killed` is true if SIGKILL was needed.
 * Returns 0, or -EBUSY if a process does not end. */
int bb_processes__end(pid_t root, pid_t but, double patience_s, bool *ret_killed);
