/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BASE_CHILD_H
#define BB_BASE_CHILD_H

#include "base/std.h"

/* How far a child process that reads untrusted data is confined. */
enum bb_confinement {
	BB_UNCONFINED,
	/*
	 * The child can compute, and use its open descriptors, and nothing else. Root becomes
	 * nobody without capabilities. Seccomp answers all but a few system calls with EPERM (if
	 * the kernel has it). A program that it starts cannot get more rights.
	 */
	BB_CONFINED,
	/*
	 * In this child libbpf loads an untrusted object as if the kernel accepted all of it. The
	 * child may open files for reading if anybody may read them, such as the kernel's BTF.
	 * bpf() does nothing: each call returns 0, which stands for a descriptor. Other calls
	 * return -EPERM.
	 */
	BB_CONFINED_TRIAL,
};

#define BB_STD_NULL (-1) /* in std[]: /dev/null */
#define BB_STD_LINK (-2) /* in std[]: the child's end of the link */

/* Rights of a child process, and what ends it. A zeroed struct: the child is like us, and the
 * kernel kills it when we end. Members take effect in their order here. */
struct bb_child_rules {
	bool own_namespaces; /* it is the first process in a PID namespace, and has its own mounts
			      */
	pid_t pid;           /* its process id (needs root, Linux 5.5); 0: any */
	enum {
		BB_LINK_NONE,
		BB_LINK_FROM_CHILD, /* a pipe for the child to write to */
		BB_LINK_TO_CHILD,   /* a pipe for the child to read; it ends when we end */
		BB_LINK_SOCKET,     /* a socket of packets (SOCK_SEQPACKET) */
	} link;
	enum {
		BB_SIGNALS_KEPT,
		BB_SIGNALS_DEFAULT,
		BB_SIGNALS_IGNORED,
		BB_SIGNALS_OF_FAULTS, /* default handlers, but requests to end (SIGINT ...) are
					 ignored */
	} signals;
	const char *name; /* its name in ps(1); NULL: our name */
	bool own_session, own_group;
	bool no_core; /* it leaves no core file */
	/* Called in the child with our rights. Returns 0 or -errno. NULL: nothing is called. */
	int (*before)(void *arg);
	/*
	 * The child executes another program, with the limit of open files that we were given. Its
	 * environment has our PATH, LANG and TERM, HOME, and the variables named in `env` (ends in
	 * NULL; NULL: none) if they are set; so no secrets, and nothing for git and make. HOME is
	 * that of `uid` if we are root and `uid` is another user, else ours.
	 */
	bool is_program;
	const char *const *env;
	int std[3]; /* our descriptors for its stdin, stdout and stderr; 0: unchanged */
	/* It keeps keep[n_keep], std[] and the link, and closes all others. keep[] is read after
	 * before(), and sorted. */
	bool closes_others;
	int *keep;
	size_t n_keep;
	uid_t uid; /* as in bb_become_user(); 0: unchanged */
	gid_t gid;
	bool no_new_privs; /* no program that it starts gets more rights, for example by sudo */
	bool outlives;     /* it does not die when we do */
	/* It can only compute. It keeps `keep` and the link, but not std[]. */
	enum bb_confinement confinement;
};

struct bb_child {
	pid_t pid; /* 0: no child */
	int fd;    /* our end of the link; -1: none */
	int report_fd;
};

/*
 * Starts a child, and returns when the rules hold for it. The child calls run() with its end of the
 * link (-1: none). run() returns the exit code; for a program it returns -errno, if executing
 * failed. Returns 0 or -errno. After an error no child is left and `*ret_child` is empty; its pid
 * is -1 if no process could be made.
 */
int bb_child__start(const struct bb_child_rules *r, int (*run)(void *arg, int link_fd), void *arg,
		    struct bb_child *ret_child);

/* For a program: waits until it is executed. Returns 0, or -errno from run(); the caller must
 * still wait for the child. */
int bb_child__executed(struct bb_child *c);

/* Raises the limit of open files of this process. Each load of an object opens every map: an
 * object of 170 programs and 100 maps needs ten times the usual limit. */
void bb_open_files__allow_more(void);

/* Limits how much more memory a child may map. Called in the child before it is confined. */
void bb_confine_memory(uint64_t more_bytes);

/* Kills the child and its process group, waits for it, and closes our descriptors of it. Does
 * nothing without a pid. */
void bb_child__stop(struct bb_child *c);

/* For a child with BB_LINK_TO_CHILD: sleeps until we end or send a byte. Returns the byte. */
char bb_child__sleep(int link_fd);

/* Waits for the end of a child, across signals. Returns its status as from waitpid(), or -1 if
 * there is no such child. */
int bb_wait_for(pid_t child);

/* Describes the end of a program from its waitpid() status: "ended with exit code 3", "was
 * killed by signal 9 (Killed)". */
struct bb_how_ended {
	char text[80];
} bb_how_ended(int status);

/* Sends or receives a number and a descriptor (-1: none) over a socket, without waiting for
 * room. Returns 0 or -errno; -EPIPE if the other end is closed. */
int bb_descriptor__send(int socket_fd, int number, int fd);
int bb_descriptor__receive(int socket_fd, int *ret_number, int *ret_fd);

/* Opens a file as open(2) does, close-on-exec. If we are root, a child opens it with that user's
 * rights and hands the descriptor over. Returns a descriptor or -errno. */
int bb_open_as(uid_t uid, gid_t gid, const char *path, int flags);

#endif
