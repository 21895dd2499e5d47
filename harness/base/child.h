/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BASE_CHILD_H
#define BB_BASE_CHILD_H

#include "base/std.h"

/* For child processes that read other people's data. */
enum bb_confinement {
	BB_UNCONFINED,
	/*
	 * The child can only compute, and read and write its open descriptors: root becomes nobody,
	 * and no capability is left; seccomp answers all but a few system calls with EPERM (where
	 * the kernel has it). No program that it starts could get more rights.
	 */
	BB_CONFINED,
	/*
	 * A child in which libbpf loads somebody else's object as if the kernel took all of it. It
	 * may open files for reading (those that anybody may read: the kernel's BTF), and bpf()
	 * does nothing: every call of it returns 0, which stands for a descriptor; -EPERM else.
	 */
	BB_CONFINED_TRIAL,
};

#define BB_STD_NULL (-1) /* of std[]: /dev/null */
#define BB_STD_LINK (-2) /* of std[]: the child's end of the link */

/* The rights of a child process of ours, and the reasons for its end. Zeros: it is as we are, and
 * the kernel kills it when we end. The members are in the order in which they take effect. */
struct bb_child_rules {
	bool own_namespaces; /* it is the first process of a PID namespace, with its own mounts */
	pid_t pid;           /* the number that it gets (root, Linux 5.5); 0: any */
	enum {
		BB_LINK_NONE,
		BB_LINK_FROM_CHILD, /* a pipe that the child writes to */
		BB_LINK_TO_CHILD,   /* a pipe that it reads, which ends when we do */
		BB_LINK_SOCKET,     /* of packets (SOCK_SEQPACKET) */
	} link;
	enum {
		BB_SIGNALS_KEPT,
		BB_SIGNALS_DEFAULT,
		BB_SIGNALS_IGNORED,
		BB_SIGNALS_OF_FAULTS, /* the default; those that ask it to end are ignored */
	} signals;
	const char *name; /* as ps(1) shows it; NULL: ours */
	bool own_session, own_group;
	bool no_core; /* it leaves no core file */
	/* What else is to be done with our rights. 0 or -errno. NULL: nothing. */
	int (*before)(void *arg);
	/* It executes somebody's program, with as many open files as we were given. Its environment
	 * is PATH, LANG and TERM as we have them, HOME, and the variables named in `env` (ends in
	 * NULL; NULL: none) as far as they are set: no secrets, and nothing for git and make. HOME
	 * is that of `uid` where we are root and it is another user, else ours. */
	bool is_program;
	const char *const *env;
	int std[3]; /* its stdin, stdout and stderr: descriptors of ours; 0: the same */
	/* It keeps these, those of std[] and the link, and no other. keep[n_keep] is read after
	 * before(), and put in order. */
	bool closes_others;
	int *keep;
	size_t n_keep;
	uid_t uid; /* as of bb_become_user(); 0: it stays who it is */
	gid_t gid;
	bool no_new_privs; /* no program that it starts gets more rights, by sudo, say */
	bool outlives;     /* it does not end with us */
	/* It can only compute: it keeps `keep` and the link, and not even std[]. */
	enum bb_confinement confinement;
};

struct bb_child {
	pid_t pid; /* 0: none */
	int fd;    /* our end of the link; -1: none */
	int report_fd;
};

/*
 * Start a child, and return when the rules hold for it. run() is called in it with its end of the
 * link (-1: none). It returns the exit code; of a program, -errno: it could not be executed.
 * 0 or -errno: then no child is left, and *ret_child is empty; its pid is -1 where there could be
 * no process at all.
 */
int bb_child__start(const struct bb_child_rules *r, int (*run)(void *arg, int link_fd), void *arg,
		    struct bb_child *ret_child);

/* Of a program: wait until it is executed. 0, or -errno of run(): the child is still to be waited
 * for. */
int bb_child__executed(struct bb_child *c);

/*
 * How many files this process may have open. Each load of an object has a descriptor of every map:
 * an object of 170 programs and 100 maps needs ten times as many as the usual limits allow.
 */
void bb_open_files__allow_more(void);

/* Called in the child before it is confined: it limits how much more memory the child may map. */
void bb_confine_memory(uint64_t more_bytes);

/* Kill its group and it, wait, and close what is ours of it. One without a pid does no harm. */
void bb_child__stop(struct bb_child *c);

/* In a child with BB_LINK_TO_CHILD: sleep until we have gone, or a byte of ours, which it returns,
 * has come. */
char bb_child__sleep(int link_fd);

/* Wait until the child has ended, whatever signals come. Its status as of waitpid(); -1: there is
 * no such child. */
int bb_wait_for(pid_t child);

/* How a program ended, by its status as of waitpid(): "ended with exit code 3", "was killed by
 * signal 9 (Killed)". */
struct bb_how_ended {
	char text[80];
} bb_how_ended(int status);

/* To the other end of a socket: a number, and along with it a descriptor; -1: none. It waits for
 * no room. 0 or -errno; -EPIPE: nothing is said any more. */
int bb_descriptor__send(int socket_fd, int number, int fd);
int bb_descriptor__receive(int socket_fd, int *ret_number, int *ret_fd);

/* open(2), close-on-exec, with the rights of that user where we are root: in a child, which hands
 * the descriptor over. An fd or -errno. */
int bb_open_as(uid_t uid, gid_t gid, const char *path, int flags);

#endif
