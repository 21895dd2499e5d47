/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* A task that reads untrusted data. It runs in a child process that can only compute (BB_CONFINED
 * below). If the child cannot be made or confined, the task does not run. */
struct bb_confined {
	/* words for error messages: path of the data; kind of data ("BPF object"); library that
	 * reads the data ("libbpf"); what the library does with the data ("open"); what the user
	 * can do ("; build it with ...", or "") */
	const char *path, *kind, *library, *verb, *remedy;
	/* Runs in the child. Returns 0, or -errno with a message, and fills `*reply`, which is
	 * zeroed before the call. Malicious data may control the result, the message and the
	 * reply. */
	int (*work)(void *arg, void *reply, struct bb_err *err);
	void *arg;
	int fd; /* the only descriptor that the child keeps open; -1: it keeps none open */
	/* true: the child is confined as BB_CONFINED_TRIAL says, and `fd` is closed in it */
	bool is_trial;
	/* ret_reply[reply_bytes] receives the reply if work() returned 0; NULL: no reply is
	 * needed */
	void *ret_reply;
	size_t reply_bytes;
};

/*
 * Runs c->work() in a confined child process and returns the result of work(). Other errors, with a
 * message: -EINTR if a signal asks us to stop; -ETIME when the deadline has passed
 * (base/deadline.h); -ENOMEM if the child got no more memory; -EINVAL if the child crashed or took
 * longer than 10 s; -errno if the child cannot be made or confined.
 */
int bb_confined__run(const struct bb_confined *c, struct bb_err *err);

/* How far a child process that reads untrusted data is confined. */
enum bb_confinement {
	BB_UNCONFINED,
	/* The child can compute, and use its open descriptors, and nothing else. Root becomes
	 * nobody without capabilities. Seccomp, if the kernel has it, answers all but a few system
	 * calls with EPERM. A program that the child starts cannot get more rights. */
	BB_CONFINED,
	/*
	 * In this child libbpf loads an untrusted object as if the kernel accepted all of it. The
	 * child may open files for reading if anybody may read them, such as the kernel's BTF. The
	 * commands of bpf() by which libbpf loads an object do nothing and return 0, which libbpf
	 * takes for a descriptor. Other commands of bpf() fail with EPERM.
	 */
	BB_CONFINED_TRIAL,
	/* Like BB_CONFINED, but the child also accepts connections at its open sockets. */
	BB_CONFINED_SERVER,
};

#define BB_STD_NULL (-1) /* in bb_child_rules.std[]: the child gets /dev/null */
/* in bb_child_rules.std[]: the child gets its own end of the pipe or socket `link` */
#define BB_STD_LINK (-2)

/*
 * Rights of a child process, and what ends it. With a zeroed struct, the child has the rights of
 * its parent, and the kernel kills the child when the parent ends. The members take effect in the
 * order in which they stand here.
 */
struct bb_child_rules {
	/* true: the child is the first process of a PID namespace, with its own mounts */
	bool own_namespaces;
	/* process id that the child gets (needs root and Linux 5.5); 0: the kernel chooses one */
	pid_t pid;
	/* the link, a pipe or socket between the child and its parent */
	enum {
		BB_LINK_NONE,
		BB_LINK_FROM_CHILD, /* a pipe that the child writes to */
		BB_LINK_TO_CHILD, /* a pipe that the child reads; when the parent ends, the child's
				     read() returns 0 */
		BB_LINK_SOCKET,   /* a socket of packets (SOCK_SEQPACKET) */
	} link;
	/* what signals do in the child */
	enum {
		BB_SIGNALS_KEPT, /* the same as in the parent */
		BB_SIGNALS_DEFAULT,
		BB_SIGNALS_IGNORED,
		/* signals have their default effect, but requests to end (SIGINT ...) are
		 * ignored */
		BB_SIGNALS_OF_FAULTS,
	} signals;
	const char *name; /* name of the child in ps(1); NULL: our name */
	bool own_session, own_group;
	bool no_core; /* true: the child leaves no core file */
	/* Called in the child while the child still has the parent's rights. Returns 0 or -errno.
	 * NULL: no function is called. */
	int (*before)(void *arg);
	/*
	 * True if the child executes another program. That program gets the limit of open files
	 * with which bpfbench was started. Of our environment it gets PATH, LANG, TERM, HOME and
	 * the variables named in `env`. So it gets no secrets, and no variables that change what
	 * git and make do. The list `env` ends in NULL; if `env` itself is NULL, it names no
	 * variables. If we are root and `uid` is another user, HOME is the home folder of `uid`.
	 */
	bool is_program;
	const char *const *env;
	int std[3]; /* our descriptors that become stdin, stdout and stderr of the child; 0:
		       unchanged */
	/* True if the child closes all descriptors except keep[n_keep], stdin, stdout, stderr
	 * and the link. before() may still change keep[], because it runs before the child
	 * closes them. */
	bool closes_others;
	int *keep;
	size_t n_keep;
	uid_t uid; /* user that the child becomes, see bb_become_user(); 0: unchanged */
	gid_t gid;
	/* true: a program that the child starts cannot get more rights, for example by sudo */
	bool no_new_privs;
	bool outlives; /* true: the child goes on when the parent ends */
	/* How far the child is confined. A confined child keeps only keep[n_keep] and the link
	 * open, not std[]. */
	enum bb_confinement confinement;
};

struct bb_child {
	pid_t pid; /* process id; 0: there is no child */
	int fd;    /* our end of the link; -1: there is no link */
	/* With `is_program`: pipe through which the child reports that it cannot execute its
	 * program. -1: the pipe is closed. */
	int report_fd;
};

/*
 * Starts a child process, and returns when all rules are in force in the child. The child then
 * calls run() with the child's end of the link (-1: there is no link). The result of run() is the
 * exit code of the child. If `is_program` is set, run() executes the program, and returns -errno if
 * that fails.
 *
 * Returns 0 or -errno. After an error no child is left, and `*ret_child` has no descriptors; its
 * pid is then 0, or -1 if no process could be made.
 */
int bb_child__start(const struct bb_child_rules *r, int (*run)(void *arg, int link_fd), void *arg,
		    struct bb_child *ret_child);

/* Waits until a child with `is_program` begins its program (exec()) or fails to. Returns 0, or the
 * -errno that run() returned. In both cases the caller must still wait for the end of the child. */
int bb_child__executed(struct bb_child *c);

/* Raises the limit of open files of this process. bpfbench holds a descriptor for every map of
 * every loaded object: an object of 170 programs and 100 maps needs ten times the usual limit. */
void bb_open_files__allow_more(void);

/* Limits the memory of this process: from now on it may map at most `more_bytes` in addition to
 * what it has mapped already. Call this before the process is confined. */
void bb_confine_memory(uint64_t more_bytes);

/* Kills the child and its process group, waits for the child, and closes the descriptors in `*c`.
 * Does nothing if there is no child. */
void bb_child__stop(struct bb_child *c);

/* In a child with BB_LINK_TO_CHILD: sleeps until the parent sends a byte or ends. Returns the byte,
 * or 0 if the parent has ended. */
char bb_child__sleep(int link_fd);

/* Waits until a child has ended, even if signals arrive meanwhile, and reaps the child. Returns
 * the status of the child as waitpid(2) gives it, or -1 if there is no such child. */
int bb_wait_for(pid_t child);

/* Waits at most `seconds` until a child has ended, without reaping it. Returns 0; -ETIME if the
 * child still runs; -EINTR if a signal asked us to stop; or -errno. */
int bb_child__wait(pid_t child, double seconds);

/* Returns the CPU time that a process has used, s; NAN if unknown. */
double bb_process_cpu_s(pid_t pid);

/* Returns the sum of the CPU times in user and kernel mode, s. */
double bb_rusage_cpu_s(const struct rusage *usage);

/* Describes the end of a program from its waitpid() status: "ended with exit code 3", "was
 * killed by signal 9 (Killed)". */
struct bb_how_ended {
	char text[80];
} bb_how_ended(int status);

/*
 * Send and receive a number and a descriptor (-1: no descriptor) over a Unix socket. Sending
 * returns -EAGAIN instead of waiting for room in the socket. Both functions return 0 or -errno;
 * -EPIPE if the other end of the socket is closed.
 */
int bb_descriptor__send(int socket_fd, int number, int fd);
int bb_descriptor__receive(int socket_fd, int *ret_number, int *ret_fd);

/*
 * Opens a file as open(2) does, close-on-exec, as the user `uid`. If we are root and do not open
 * files as `uid` already, a child process that has become `uid` opens the file and sends us the
 * descriptor. Returns a descriptor or -errno.
 */
int bb_open_as(uid_t uid, gid_t gid, const char *path, int flags);
