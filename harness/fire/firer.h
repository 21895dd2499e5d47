/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/child.h"
#include "fire/trigger.h"

/* The user and environment of the commands and libraries that a scenario names. */
struct bb_fire_user {
	uid_t uid; /* if 0, commands run as root, and libraries as nobody */
	gid_t gid;
	/* variables that commands and libraries keep besides PATH, LANG, TERM and HOME, or NULL */
	const char *const *env;
	/* folder of the program call_function, or NULL */
	const char *helper_dir;
	char dir[4096]; /* working folder of commands; "" means ours */
};

/* Where triggers are fired: in a network namespace and a cgroup that only bpfbench uses. The
 * keeper, a child process, removes the cgroup when the site is closed or our process ends, even by
 * SIGKILL. */
struct bb_fire_site {
	int other_cpu; /* a second CPU, for triggers that need one; -1 means none */
	int netns_fd; /* if -1, triggers use our own namespace, and `why_no_netns` has the reason */
	int cgroup_fd; /* if -1, there is no cgroup, and `why_no_cgroup` has the reason */
	char cgroup[256];
	uint64_t cgroup_id;
	char why_no_netns[200], why_no_cgroup[200];
	struct bb_fire_user user;
	struct bb_child keeper;
};

/* Returns the one site of this process. All programs share its cgroup, because a program that was
 * told the cgroup's id must always be fired in it. The last bb_fire_site__unshare() closes it. */
struct bb_fire_site *bb_fire_site__share(int cpu, int other_cpu, const struct bb_fire_user *user);
void bb_fire_site__unshare(struct bb_fire_site *p);    /* does nothing if `p` is NULL */
const struct bb_fire_site *bb_fire_site__shared(void); /* returns NULL if the site is not open */

/* Starts a process (workloads/call_function) that calls a function of a library once for each
 * request. It cannot gain rights. We give it only one descriptor, a socket over which the process
 * that fires sends requests. `pid` 0 means any pid. Returns 0 when the library is loaded, -ENOTSUP
 * if the function cannot be called, or another -errno. */
int bb_call_child__start(const struct bb_fire_user *user, const char *library,
			 const struct bb_fired_by *by, pid_t pid, struct bb_child *ret_child,
			 struct bb_err *err);

/* Writes how the process ended, or "" if it still runs. */
void bb_call_child__say_end(struct bb_child *c, char *ret_words, size_t size);

/* A child process that opens triggers, fires them and reads the counters. A BPF program may kill
 * it, block it or refuse its system calls, but our own process goes on. The kernel kills the child
 * when we end. */
#define BB_FIRER_NAME "bpfbench"

struct bb_fire_task;
/* The work of the child. `shared` is memory that it shares with its parent. Returns 0 or -errno. */
typedef int bb_fire_work(void *arg, struct bb_fire_task *t, void *shared);

struct bb_fire_task {
	bb_fire_work *work;
	int rc;
	/* work() increments `beats`. If it does not for 5 s, the child is stuck. */
	uint64_t beats;
	/* for messages: the trigger in use; NULL if there is none */
	const struct bb_trigger *in_work;
	const struct bb_fire_site *site;
	int call_fd; /* socket to the process that calls a function; -1 means none */
};

struct bb_firer {
	struct bb_child child;
	struct bb_child call;      /* the process that calls a function, if any */
	struct bb_fire_task *task; /* shared memory, at the same address in both processes */
	void *shared;              /* the caller's part of that memory */
	size_t bytes;
};

/* Starts the child for programs at `point`. The child is a fork, so it sees our memory and
 * descriptors as they are now. Returns 0, or -errno with a message. */
int bb_firer__start(const struct bb_fire_site *site, const struct bb_attach_point *point, void *arg,
		    size_t shared_bytes, struct bb_firer *ret_firer, struct bb_err *err);
void bb_firer__stop(struct bb_firer *f); /* accepts a zeroed struct */

/* Returns the pid of the process in which programs at `point` probe functions; -1 means all. */
pid_t bb_firer__probed(const struct bb_firer *f, const struct bb_attach_point *point);

/* Runs `work` in the child and returns its result, -EINTR or -ETIME (base/deadline.h), or -ESRCH
 * with a message if the child has ended or was stuck. */
int bb_firer__do(struct bb_firer *f, bb_fire_work *work, struct bb_err *err);

/* Chooses the pid of a process that the caller starts later, because programs that filter by pid
 * must know it before they are loaded. It is the pid of an ended child, which stays free for long,
 * because the kernel hands out pids in ascending order. Returns -ENOTSUP in a PID namespace, where
 * BPF programs see other pids. */
int bb_reserve_pid(pid_t *ret_pid, struct bb_err *err);

/* Call these in the child. Call bb_firing__close() even if bb_firing__open() failed. */
int bb_firing__open(struct bb_firing *f, const struct bb_trigger *t,
		    const struct bb_attach_point *point, int prog_fd,
		    const struct bb_fire_task *task);
void bb_firing__close(struct bb_firing *f);
static inline int bb_firing__fire(struct bb_firing *f)
{
	return f->trigger->fire ? f->trigger->fire(f) : 0;
}
