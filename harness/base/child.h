/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BASE_CHILD_H
#define BB_BASE_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

/* The rights of a child process of ours, and the reasons for its end. */
struct bb_child_rules {
	enum { BB_SIGNALS_KEPT, BB_SIGNALS_DEFAULT, BB_SIGNALS_IGNORED } signals; /* all of them */
	uid_t uid; /* as of bb_become_user(); 0: it stays who it is */
	gid_t gid;
	bool no_new_privs; /* no program that it starts gets more rights, by sudo, say */
	pid_t parent;      /* when that one ends, the kernel kills it; 0: it may outlive us */
};

/* In the child, once fork() has made it. 0 or -errno: then it is to end. */
int bb_child__settle(const struct bb_child_rules *r);

/* To the other end of a socket: a number, and along with it a descriptor; -1: none. It waits for
 * no room. 0 or -errno; -EPIPE: nothing is said any more. */
int bb_descriptor__send(int socket_fd, int number, int fd);
int bb_descriptor__receive(int socket_fd, int *ret_number, int *ret_fd);

#endif
