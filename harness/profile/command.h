/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PROFILE_COMMAND_H
#define BB_PROFILE_COMMAND_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

/*
 * The command to profile: a child of ours, which waits before its exec until it is let go, so that
 * nothing of it is missed. It runs as the user given, in a clean environment with `env`
 * (base/environment.h), its stdout goes to our stderr, and the kernel kills it if we die.
 */
struct bb_command {
	pid_t pid;            /* 0: none, or it has ended */
	int go_fd, failed_fd; /* -1 once it runs */
	int status;           /* as of waitpid(), once it has ended */
};

/* argv ends with NULL. */
int bb_command__fork(char *const *argv, const char *const *env, uid_t uid, gid_t gid,
		     struct bb_command *ret_command, struct bb_err *err);

/* Let it run. Errors: it cannot be executed. */
int bb_command__go(struct bb_command *c, const char *name, struct bb_err *err);

bool bb_command__has_ended(struct bb_command *c);

/* End it, first by SIGTERM. Nothing if it has ended. */
void bb_command__end(struct bb_command *c);

#endif
