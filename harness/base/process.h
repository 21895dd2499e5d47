/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BASE_PROCESS_H
#define BB_BASE_PROCESS_H

#include "base/err.h"
#include "base/std.h"

/* Another program that runs to its end: git, a build. */
struct bb_process {
	const char *const *argv; /* ends in NULL; argv[0] is searched in $PATH */
	const char *dir;         /* folder to run in; NULL: this one */
	bool together;           /* its stderr goes to `out`, too, in the order of writing */
	uid_t uid;               /* user to run as; only root may name another user */
	gid_t gid;
	const char *const *env; /* variables to keep, as bb_child_rules.env */
};

struct bb_process_end {
	int status;      /* exit code, or 128 + signal */
	char *out, *log; /* the ends of its stdout and stderr */
	bool was_whole;  /* none of its processes can have survived, because it had a PID namespace
			  */
};

/*
 * Runs the program with empty stdin and a clean environment. It cannot get more rights, for example
 * by sudo. All that it starts ends with it, or when we are asked to stop.
 *
 * Returns 0 if it ran, however it ended; -ENOENT if there is no such program; -EINTR after a signal
 * to us; or -errno.
 */
int bb_process__run(const struct bb_process *p, struct bb_process_end *ret_end, struct bb_err *err);
void bb_process_end__done(struct bb_process_end *end);

#endif
