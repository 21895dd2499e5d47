/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_DRIVERS_CHILD_H
#define BB_DRIVERS_CHILD_H

#include <sys/types.h>

#include "base/err.h"

/* The processes that cause events: their CPU, their user, and their end with ours. */
struct bb_child_place {
	int cpu;
	uid_t uid; /* the user that it runs as, if we are root */
	gid_t gid;
	/* names of the variables that a program keeps besides; NULL: none (base/environment.h) */
	const char *const *env;
};

/*
 * In a new child: a session of its own, ahead of others on that CPU, no stdin and stdout of ours,
 * as that user; the kernel kills it when `parent` ends. 0 or -errno.
 */
int bb_child__prepare(const struct bb_child_place *place, pid_t parent);

/* Kill the child's whole group and wait; *pid is 0 then, and may have been before. */
void bb_child__stop(pid_t *pid);

/* A child that runs a function of ours. It keeps no descriptor of ours but the two that it is
 * given. */
struct bb_worker {
	pid_t pid; /* 0: not running */
	int fd;    /* our end of a stream of packets (SOCK_SEQPACKET) between us */
};

struct bb_worker_task {
	const char *name; /* "the sender", for messages */
	int netns_fd;     /* the namespace that it works in */
	/* there, before root is given up: its socket. 0 or -errno */
	int (*open)(void *arg, int *ret_fd);
	/* returns when control_fd is at its end */
	void (*work)(void *arg, int socket_fd, int control_fd);
	void *arg; /* the child has a copy of it */
};

/* Returns when its socket is open. 0 or -errno with a message. */
int bb_worker__start(const struct bb_child_place *place, const struct bb_worker_task *work,
		     struct bb_worker *ret_helper, struct bb_err *err);
void bb_worker__stop(struct bb_worker *h); /* a zeroed one does no harm */

#endif
