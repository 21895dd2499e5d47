/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_FIRE_CALL_CHILD_H
#define BB_FIRE_CALL_CHILD_H

#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"
#include "plan/fired_by.h"

/* The user that other people's code runs as, and its surroundings. */
struct bb_fire_user {
	uid_t uid; /* root's code runs as nobody, where it is a library */
	gid_t gid;
	const char *const *env; /* variables that it keeps besides (base/child.h) */
	const char *helper_dir; /* of call_function; NULL: there is none */
	char dir[4096];         /* where commands are run; "": here */
};

/*
 * The process that calls a function of a shared library, each time it is asked to: it has nothing
 * of ours but a socket, runs as that user and can get no other rights (workloads/call_function).
 */
struct bb_call_child {
	pid_t pid; /* 0: none */
	int fd;    /* our end of the socket; a child of ours may use it, too */
};

/* As `pid`, or 0: any. Returns when the library is loaded there. -ENOTSUP with the reason. */
int bb_call_child__start(const struct bb_fire_user *user, const char *library,
			 const struct bb_fired_by *by, pid_t pid, struct bb_call_child *ret_child,
			 struct bb_err *err);
void bb_call_child__stop(struct bb_call_child *c); /* a zeroed one does no harm */

/* One call. 0 or -errno. */
int bb_call_child__call(int fd);

/* Has it ended? Then in words how, else "". */
void bb_call_child__say_end(struct bb_call_child *c, char *ret_words, size_t size);

#endif
