/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* Work on untrusted data in a child process that can only compute (BB_CONFINED below). If no such
 * child can be made, the work is not done. */
struct bb_confined {
	/* words for messages: the path of the data, their kind ("BPF object"), the library that
	 * reads them ("libbpf"), its work ("open"), and a remedy ("; build it with ...", or "") */
	const char *path, *kind, *library, *verb, *remedy;
	/* Runs in the child. Returns 0, or -errno with a message, and fills `*reply`, which is
	 * zeroed before. Malicious data may control the result, the message and the reply. */
	int (*work)(void *arg, void *reply, struct bb_err *err);
	void *arg;
	int fd;        /* the only descriptor that the child keeps open; -1: none */
	bool is_trial; /* the child has BB_CONFINED_TRIAL, and does not keep `fd` */
	/* receives the reply if work returned 0; NULL: not wanted */
	void *ret_reply;
	size_t reply_bytes;
};

/*
 * Runs work() in a child and returns its result. Other errors, with a message: -EINTR if a signal
 * asks us to stop; -ETIME at the end of the budget; -EINVAL if the child crashed or took longer
 * than 10 s; -errno if the child cannot be made or confined.
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
	 * child may open files for reading if anybody may read them, such as the kernel's BTF.
	 * bpf() does nothing: each call returns 0, which stands for a descriptor. Other calls
	 * return -EPERM.
	 */
	BB_CONFINED_TRIAL,
	/* As BB_CONFINED, but the child also accepts connections at its open sockets. */
	BB_CONFINED_SERVER,
};

#define BB_STD_NULL (-1) /* value in std[]: /dev/null */
#define BB_STD_LINK (-2) /* value in std[]: the child's end of the link */

/*
 * Rights of a child process, and what ends it. With a zeroed struct, the child has our rights, and
 * the kernel kills it when we end. The members take effect in the order in which they stand here.
 */
struct bb_child_rules {
	bool own_namespaces; /* the child is the first process in a PID namespace, and has its own
				mounts */
	pid_t pid;           /* process id that the child gets (needs root and Linux 5.5); 0: any */
	enum {
		BB_LINK_NONE,
		BB_LINK_FROM_CHILD, /* a pipe that the child writes to */
		BB_LINK_TO_CHILD,   /* a pipe that the child reads; when we end, the child's read()
				       returns 0 */
		BB_LINK_SOCKET,     /* a socket of packets (SOCK_SEQPACKET) */
	} link;
	enum {
		BB_SIGNALS_KEPT,
		BB_SIGNALS_DEFAULT,
		BB_SIGNALS_IGNORED,
		BB_SIGNALS_OF_FAULTS, /* default handlers, but requests to end (SIGINT ...) are
					 ignored */
	} signals;
	const char *name; /* name of the child in ps(1); NULL: our name */
	bool own_session, own_group;
	bool no_core; /* the child leaves no core file */
	/* Called in the child with our rights. Returns 0 or -errno. NULL: no function is called. */
	int (*before)(void *arg);
	/*
	 * The child executes another program. Its limit of open files is the one that we were
	 * started with. Its environment has our PATH, LANG and TERM, HOME, and those variables
	 * named in `env` that are set. So the program gets no secrets, and no variables for git and
	 * make. `env` ends in NULL; `env` NULL: no further variables. HOME is that of `uid` if we
	 * are root and `uid` is another user, else ours.
	 */
	bool is_program;
	const char *const *env;
	int std[3]; /* our descriptors that become stdin, stdout and stderr of the child; 0:
		       unchanged */
	/* The child keeps keep[n_keep], stdin, stdout, stderr and the link open, and closes all
	 * other descriptors. keep[] is read after before() was called. */
	bool closes_others;
	int *keep;
	size_t n_keep;
	uid_t uid; /* user that the child becomes, see bb_become_user(); 0: unchanged */
	gid_t gid;
	bool no_new_privs; /* no program that it starts gets more rights, for example by sudo */
	bool outlives;     /* the child goes on when we end */
	/* With confinement, the child keeps only keep[n_keep] and the link open, not std[]. */
	enum bb_confinement confinement;
};

struct bb_child {
	pid_t pid; /* process id; 0: there is no child */
	int fd;    /* our end of the link; -1: none */
	int report_fd;
};

/*
 * Starts a child, and returns when the rules hold for it. The child calls run() with its end of the
 * link (-1: there is no link). run() returns the exit code of the child. If `is_program` is set,
 * run() returns only if executing failed, with -errno.
 *
 * Returns 0 or -errno. After an error no child is left, and `*ret_child` has no descriptors; its
 * pid is then 0, or -1 if no process could be made.
 */
int bb_child__start(const struct bb_child_rules *r, int (*run)(void *arg, int link_fd), void *arg,
		    struct bb_child *ret_child);

/* Waits until a child with `is_program` has executed its program. Returns 0, or the -errno that
 * run() returned. The caller must wait for the child in both cases. */
int bb_child__executed(struct bb_child *c);

/* Raises the limit of open files of this process. bpfbench holds a descriptor for every map of
 * every loaded object: an object of 170 programs and 100 maps needs ten times the usual limit. */
void bb_open_files__allow_more(void);

/* Limits how much more memory this process may map. A child calls it before it is confined. */
void bb_confine_memory(uint64_t more_bytes);

/* Kills the child and its process group, waits for the child, and closes our descriptors of it.
 * Does nothing if there is no child. */
void bb_child__stop(struct bb_child *c);

/* Sleeps, in a child with BB_LINK_TO_CHILD, until the parent ends or sends a byte. Returns the
 * byte; 0 if the parent ended. */
char bb_child__sleep(int link_fd);

/* Waits for the end of a child, across signals. Returns its status as from waitpid(), or -1 if
 * there is no such child. */
int bb_wait_for(pid_t child);

/* Waits at most `seconds` until a child has ended, and does not reap it. Returns 0; -ETIME if it
 * still runs; -EINTR if a signal asked us to stop; or -errno. */
int bb_child__wait(pid_t child, double seconds);

/* Returns the CPU time that a process has used, s; NAN if unknown. */
double bb_process_cpu_s(pid_t pid);

/* Returns the CPU time in user and kernel mode, s. */
double bb_rusage_cpu_s(const struct rusage *usage);

/* Describes the end of a program from its waitpid() status: "ended with exit code 3", "was
 * killed by signal 9 (Killed)". */
struct bb_how_ended {
	char text[80];
} bb_how_ended(int status);

/*
 * Send and receive a number together with a descriptor (-1: no descriptor) over a socket. Sending
 * does not wait for room in the socket. Both return 0 or -errno; -EPIPE if the other end is closed.
 */
int bb_descriptor__send(int socket_fd, int number, int fd);
int bb_descriptor__receive(int socket_fd, int *ret_number, int *ret_fd);

/*
 * Opens a file as open(2) does, close-on-exec, as the user `uid`. If we are root and open files as
 * another user, a child with the rights of `uid` opens the file and hands the descriptor over.
 * Returns a descriptor or -errno.
 */
int bb_open_as(uid_t uid, gid_t gid, const char *path, int flags);
