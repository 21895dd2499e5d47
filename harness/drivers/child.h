/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_DRIVERS_CHILD_H
#define BB_DRIVERS_CHILD_H

#include "base/child.h"
#include "base/err.h"
#include "base/std.h"

/* The processes that cause events: their CPU, their user, and their end with ours. */
struct bb_child_place {
	int cpu;
	uid_t uid; /* the user that it runs as, if we are root */
	gid_t gid;
	/* names of the variables that a program keeps besides; NULL: none (base/child.h) */
	const char *const *env;
};

/* In a new child with a session of its own, before root is given up: ahead of others on that CPU. 0
 * or -errno. */
int bb_child_place__take(const struct bb_child_place *place);

/* A child that runs a function of ours. It keeps no descriptor of ours but the two that it is
 * given. Its `fd` is our end of a stream of packets between us. */
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
		     struct bb_child *ret_worker, struct bb_err *err);

#endif
