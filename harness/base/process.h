/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BASE_PROCESS_H
#define BB_BASE_PROCESS_H

#include "base/err.h"
#include "base/std.h"

/* A program of other people that is run to its end: git, a build. */
struct bb_process {
	const char *const *argv; /* ends in NULL; argv[0] is looked for in $PATH */
	const char *dir;         /* where to run it; NULL: here */
	bool together;           /* its stderr into `out` too, in the order of writing */
	uid_t uid; /* of the user that it runs as; only root may name another user than itself */
	gid_t gid;
	const char *const *env; /* as `also` of base/child.h */
};

struct bb_process_end {
	int status;      /* exit code; 128 + signal when killed */
	char *out, *log; /* stdout and stderr: text, the end of it if there was very much */
	bool was_whole;  /* nothing of it can have survived: it had a PID namespace */
};

/*
 * stdin is empty, the environment a clean one. The program cannot get more rights than it has (by
 * sudo, say), and all that it starts ends with it, or when we are asked to stop.
 *
 * 0 when it ran, however it ended; -ENOENT when there is no such program, -EINTR after a signal to
 * us, other -errno.
 */
int bb_process__run(const struct bb_process *p, struct bb_process_end *ret_end, struct bb_err *err);
void bb_process_end__done(struct bb_process_end *end);

#endif
