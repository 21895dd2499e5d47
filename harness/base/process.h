/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BASE_PROCESS_H
#define BB_BASE_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

/* A program that is run to its end: git, make. */
struct bb_process {
	const char *const *argv; /* ends in NULL; argv[0] is looked for in $PATH */
	const char *dir;         /* where to run it; NULL: here */
	bool together;           /* its stderr into `out` too, in the order of writing */
	uid_t uid;               /* of who it runs as; only root can ask for another than itself */
	gid_t gid;
};

struct bb_process_end {
	int status;      /* exit code; 128 + signal when killed */
	char *out, *log; /* what it wrote to stdout and to stderr */
};

/*
 * stdin is empty. The environment is ours, without what git and make hand down to those whom they
 * run: it would name another repository. The program and what it starts are a process group, which
 * ends when we are asked to stop.
 *
 * 0 when it ran, however it ended; -ENOENT when there is no such program, -EINTR after a signal to
 * us, other -errno.
 */
int bb_process__run(const struct bb_process *p, struct bb_process_end *ret_end, struct bb_err *err);
void bb_process_end__done(struct bb_process_end *end);

#endif
