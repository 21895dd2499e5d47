/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* A program that bpfbench runs to its end, for example git or a build. */
struct bb_process {
	const char *const *argv; /* ends in NULL; argv[0] is looked up in $PATH */
	const char *dir;         /* folder to run in; NULL: our current folder */
	/* true: bb_process_end.out receives stderr, too, in the order in which the program
	 * writes */
	bool together;
	uid_t uid; /* user that the program runs as; only root may name another user */
	gid_t gid;
	/* names of further environment variables that the program gets, as in
	 * bb_child_rules.env; NULL: no further variables */
	const char *const *env;
};

struct bb_process_end {
	int status;      /* exit code of the program, or 128 + signal */
	char *out, *log; /* stdout and stderr of the program, at most their last 16 MiB */
	/* true: all processes of the program have certainly ended, because the program had its
	 * own PID namespace */
	bool was_whole;
};

/*
 * Runs the program with empty stdin and a clean environment. The program cannot get more rights,
 * for example by sudo. All processes that the program starts end with it. If a signal asks us to
 * stop, the program ends, too.
 *
 * Returns 0 if the program ran, however it ended; -ENOENT if there is no such program; -EINTR if a
 * signal asked us to stop; or -errno.
 */
int bb_process__run(const struct bb_process *p, struct bb_process_end *ret_end, struct bb_err *err);
void bb_process_end__done(struct bb_process_end *end);
