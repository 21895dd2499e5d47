/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* A program that bpfbench runs to its end, such as git or a build. */
struct bb_process {
	const char *const *argv; /* ends in NULL; argv[0] is looked up in $PATH */
	const char *dir;         /* NULL means our current folder */
	/* bb_process_end.out receives stderr, too, in the order of writing */
	bool together;
	uid_t uid; /* only root may name another user */
	gid_t gid;
	/* further environment variables for the program, as bb_child_rules.env */
	const char *const *env;
};

struct bb_process_end {
	int status;      /* exit code, or 128 + signal */
	char *out, *log; /* stdout and stderr, at most their last 16 MiB */
	/* All processes of the program have certainly ended (it had its own PID namespace). */
	bool was_whole;
};

/*
 * Runs the program with empty stdin and a clean environment. The program cannot get more rights,
 * for example by sudo. All processes that it starts end with it. A stop signal ends it, too.
 *
 * Returns 0 if the program ran, however it ended; -ENOENT if there is no such program; -EINTR after
 * a stop signal; or -errno.
 */
int bb_process__run(const struct bb_process *p, struct bb_process_end *ret_end, struct bb_err *err);
void bb_process_end__done(struct bb_process_end *end);
