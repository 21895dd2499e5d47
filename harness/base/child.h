/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* A task that reads untrusted data in a confined child process (BB_CONFINED below). If the child
 * cannot be made or confined, the task does not run. */
struct bb_confined {
	/* for messages: "prog.o", "BPF object", "libbpf", "open", "; build it with -g" */
	const char *path, *kind, *library, *verb, *remedy;
	/* Runs in the child and fills `*reply`, which is zeroed before. Returns 0, or -errno with a
	 * message. Malicious data may control the result, the message and the reply. */
	int (*work)(void *arg, void *reply, struct bb_err *err);
	void *arg;
	int fd; /* the only descriptor that the child keeps open; -1 if it keeps none */
	/* True for BB_CONFINED_TRIAL, which closes `fd`, instead of BB_CONFINED. */
	bool is_trial;
	/* receives the reply if work() returned 0; NULL if no reply is needed */
	void *ret_reply;
	size_t reply_bytes;
};

/* Runs c->work() in a confined child process and returns its result. Other errors, with a message:
 * -EINTR after a stop signal; -ETIME when the deadline has passed (base/deadline.h); -ENOMEM if the
 * child got no more memory; -EINVAL if the child crashed or took longer than 10 s; -errno if the
 * child cannot be made or confined. */
int bb_confined__run(const struct bb_confined *c, struct bb_err *err);

enum bb_confinement {
	BB_UNCONFINED,
	/* The child can only compute and use its open descriptors. Root becomes the user nobody
	 * without capabilities. Seccomp, if the kernel has it, answers most system calls with
	 * EPERM. A program that the child starts cannot get more rights. */
	BB_CONFINED,
	/* In this child libbpf loads an untrusted object as if the kernel accepted all of it.
	 * Commands of bpf() that load an object do nothing and return 0, which libbpf takes for a
	 * descriptor. Other commands of bpf() fail with EPERM. The child may open files that
	 * anybody may read, such as the kernel's BTF. */
	BB_CONFINED_TRIAL,
	/* Like BB_CONFINED, but the child may also accept connections at its open sockets. */
	BB_CONFINED_SERVER,
};

#define BB_STD_NULL (-1) /* in bb_child_rules.std[]: the child gets /dev/null */
/* in bb_child_rules.std[]: the child gets its own end of `link` */
#define BB_STD_LINK (-2)

/* Rights of a child process, and what ends it. With a zeroed struct, the child has its parent's
 * rights, and the kernel kills the child when the parent ends. The members take effect in the order
 * in which they stand here. */
struct bb_child_rules {
	/* True if the child is the first process of a PID namespace and has its own mounts. */
	bool own_namespaces;
	/* process id of the child (needs root and Linux 5.5); 0 if the kernel chooses it */
	pid_t pid;
	/* The link is a pipe or socket between the child and its parent. */
	enum {
		BB_LINK_NONE,
		BB_LINK_FROM_CHILD,
		/* the child's read() returns 0 when the parent has ended */
		BB_LINK_TO_CHILD,
		BB_LINK_SOCKET, /* a socket of packets (SOCK_SEQPACKET) */
	} link;
	enum {
		BB_SIGNALS_KEPT,
		BB_SIGNALS_DEFAULT,
		BB_SIGNALS_IGNORED,
		/* default effects, but SIGINT, SIGTERM, SIGHUP and SIGXFSZ are ignored */
		BB_SIGNALS_OF_FAULTS,
	} signals;
	const char *name; /* name of the child in ps(1); NULL if it keeps our name */
	bool own_session, own_group;
	bool no_core;
	/* Called in the child with the parent's rights. Returns 0 or -errno. May be NULL. */
	int (*before)(void *arg);
	/* The child may map at most this much more memory than it has mapped; 0 means no limit. */
	uint64_t more_bytes;
	/* True if the child executes another program. The program gets the limit of open files with
	 * which bpfbench was started. Of our environment it gets only PATH, LANG, TERM, HOME and
	 * the variables named in `env`, so it gets no secrets. `env` ends in NULL, or is NULL. If
	 * root starts the program as another user, HOME is the home folder of that user. */
	bool is_program;
	const char *const *env;
	/* our descriptors for stdin, stdout and stderr of the child; 0 means unchanged */
	int std[3];
	/* True if the child closes all descriptors except keep[n_keep], stdin, stdout, stderr and
	 * the link. before() may still change keep[]. */
	bool closes_others;
	int *keep;
	size_t n_keep;
	uid_t uid; /* user that the child becomes (bb_become_user()); 0 if it stays ours */
	gid_t gid;
	/* True if a program that the child starts cannot get more rights, for example by sudo. */
	bool no_new_privs;
	bool outlives;
	/* A confined child keeps only keep[n_keep] and the link open, not std[]. */
	enum bb_confinement confinement;
};

struct bb_child {
	pid_t pid; /* 0 if there is no child */
	int fd;    /* our end of the link; -1 if there is no link */
	/* pipe that reports a failed exec() of a child with `is_program`; -1 if closed */
	int report_fd;
};

/*
 * Starts a child process, and returns when all rules are in force in the child. The child then
 * calls run() with its end of the link, or -1 if there is no link. The result of run() is the
 * child's exit code. With `is_program`, run() executes the program, and returns -errno if that
 * fails.
 *
 * Returns 0 or -errno. After an error no child is left, and `*ret_child` has no descriptors. Its
 * pid is then -1 if no process could be made, else 0.
 */
int bb_child__start(const struct bb_child_rules *r, int (*run)(void *arg, int link_fd), void *arg,
		    struct bb_child *ret_child);

/* Waits until a child with `is_program` has called exec(). Returns 0, or the -errno that run()
 * returned. In either case the caller must still wait for the end of the child. */
int bb_child__executed(struct bb_child *c);

/* Raises this process's limit of open files. bpfbench holds a descriptor for every map of every
 * loaded object, and an object of 170 programs and 100 maps needs ten times the usual limit. */
void bb_open_files__allow_more(void);

/* Kills the child and its process group, waits for the child, and closes the descriptors in `*c`.
 * Does nothing if there is no child. */
void bb_child__stop(struct bb_child *c);

/* In a child with BB_LINK_TO_CHILD: sleeps until the parent sends a byte or ends. Returns the byte,
 * or 0 if the parent has ended. */
char bb_child__sleep(int link_fd);

/* Waits until a child has ended, even if signals arrive meanwhile, and reaps it. Returns its status
 * as waitpid(2) gives it, or -1 if there is no such child. */
int bb_wait_for(pid_t child);

/* Waits at most `seconds` until a child has ended, without reaping it. Returns 0; -ETIME if the
 * child still runs; -EINTR after a stop signal; or -errno. */
int bb_child__wait(pid_t child, double seconds);

/* Returns the CPU time that a process has used, s; NAN if unknown. */
double bb_process_cpu_s(pid_t pid);

double bb_rusage_cpu_s(const struct rusage *usage);

/* Describes a waitpid() status: "ended with exit code 3", "was killed by signal 9 (Killed)". */
struct bb_how_ended {
	char text[80];
} bb_how_ended(int status);

/* Send and receive a number and a descriptor (-1 for no descriptor) over a Unix socket. If the
 * socket is full, sending returns -EAGAIN and does not wait. The functions return 0 or -errno, and
 * -EPIPE if the other end of the socket is closed. */
int bb_descriptor__send(int socket_fd, int number, int fd);
int bb_descriptor__receive(int socket_fd, int *ret_number, int *ret_fd);

/* Opens a file with open(2) and O_CLOEXEC as the user `uid`. If root calls this for another user, a
 * child process becomes `uid`, opens the file and sends us the descriptor. Returns a descriptor or
 * -errno. */
int bb_open_as(uid_t uid, gid_t gid, const char *path, int flags);
