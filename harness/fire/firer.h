/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/child.h"
#include "fire/trigger.h"

/* The user that commands and libraries of a scenario run as, and their environment. */
struct bb_fire_user {
	uid_t uid; /* 0: commands run as root, libraries as nobody */
	gid_t gid;
	/* names of environment variables that commands and libraries keep beside the usual ones
	 * (base/child.h); NULL: only the usual ones */
	const char *const *env;
	/* folder of the program call_function; NULL: there is no such program */
	const char *helper_dir;
	char dir[4096]; /* working folder of commands; "": our working folder */
};

/* --- where triggers are fired --- */

/* A site: a network namespace and a cgroup that only bpfbench uses. The kernel removes the
 * namespace when its last descriptor is closed. A child process of ours, the keeper, removes the
 * cgroup when the site is closed or our process ends, even by SIGKILL. */
struct bb_fire_site {
	int other_cpu; /* a second CPU, for triggers that need one; -1 means none */
	int netns_fd;  /* -1: triggers use our own namespace, and `why_no_netns` has the reason */
	int cgroup_fd; /* -1: there is no cgroup, and `why_no_cgroup` has the reason */
	char cgroup[256]; /* path of the cgroup's folder */
	uint64_t cgroup_id;
	char why_no_netns[200], why_no_cgroup[200];
	struct bb_fire_user user; /* if zeroed, commands run as root, and none is call_function */
	struct bb_child keeper;   /* process that removes the cgroup, if any */
};

/* Returns the one site that all drives of this process share. Its cgroup is shared, too, because a
 * program that was told the id of the cgroup must always be fired in it. The first call opens the
 * site; the last bb_fire_site__unshare() closes it. */
struct bb_fire_site *bb_fire_site__share(int cpu, int other_cpu, const struct bb_fire_user *user);
void bb_fire_site__unshare(struct bb_fire_site *p);    /* does nothing if `p` is NULL */
const struct bb_fire_site *bb_fire_site__shared(void); /* returns NULL if the site is not open */

/* --- the process that calls a function of a shared library --- */

/* Starts a child process (workloads/call_function) that calls a function of a library once for each
 * request. It runs as the given user and cannot gain rights. Of our descriptors, it has only a
 * socket, whose other end the process that fires uses, too. The child gets the pid `pid`; 0 means
 * any pid. Returns when it has loaded the library: 0; -ENOTSUP with the reason if the function
 * cannot be called; or another -errno. */
int bb_call_child__start(const struct bb_fire_user *user, const char *library,
			 const struct bb_fired_by *by, pid_t pid, struct bb_child *ret_child,
			 struct bb_err *err);

/* Asks the process at the other end of the socket `fd` to call the function once, and waits for the
 * end of the call. Returns 0 or -errno. */
int bb_call_child__call(int fd);

/* Writes in words how the process ended; writes "" if it still runs. */
void bb_call_child__say_end(struct bb_child *c, char *ret_words, size_t size);

/* --- the process that fires --- */

/* A child process that opens triggers, fires them and reads the counters. A BPF program may kill
 * this child, block it or refuse its system calls. Our own process then goes on and reports what
 * happened to the child. The kernel kills the child when we end. */
#define BB_FIRER_NAME "bpfbench"

struct bb_fire_task;
/* The work of the child process. Returns 0 or -errno. `shared` is memory that the child shares with
 * the process that started it; it follows the struct bb_fire_task. */
typedef int bb_fire_work(void *arg, struct bb_fire_task *t, void *shared);

struct bb_fire_task {
	bb_fire_work *work;
	int rc; /* result of work() */
	/* work() increments it; if it does not change for 5 s, the child is stuck */
	uint64_t beats;
	/* the trigger that is used now, for messages; NULL means none */
	const struct bb_trigger *in_work;
	const struct bb_fire_site *site;
	int call_fd; /* socket to the process that calls a function; -1 means none */
};

struct bb_firer {
	struct bb_child child;
	struct bb_child call;      /* the process that calls a function of a library, if any */
	struct bb_fire_task *task; /* shared memory, at the same address in both processes */
	void *shared;              /* the caller's part of the shared memory */
	size_t bytes;
};

/* Starts the child for programs at `point`, and returns when the child has entered the site. work()
 * receives `arg`. The child is a fork: it has our memory and descriptors as they are now, without
 * later changes. Returns 0, or -errno with a message. */
int bb_firer__start(const struct bb_fire_site *site, const struct bb_attach_point *point, void *arg,
		    size_t shared_bytes, struct bb_firer *ret_firer, struct bb_err *err);
void bb_firer__stop(struct bb_firer *f); /* accepts a zeroed struct */

/* Returns the pid of the process in which programs at `point` probe functions; -1 means all
 * processes. */
pid_t bb_firer__probed(const struct bb_firer *f, const struct bb_attach_point *point);

/* Runs `work` in the child and waits until `work` has returned. Returns 0 or the -errno of `work`;
 * -EINTR or -ETIME (base/deadline.h); -ESRCH with a message if the child was killed, by others or
 * by us because it was stuck. */
int bb_firer__do(struct bb_firer *f, bb_fire_work *work, struct bb_err *err);

/*
 * Chooses the pid of a process that the caller starts later. Programs that filter by pid must be
 * told this pid before they are loaded. It is the pid of a child that has ended; it stays free for
 * a long time, because the kernel hands out pids in ascending order. Returns 0; -ENOTSUP in a PID
 * namespace, where BPF programs see other pids than we do; or another -errno.
 */
int bb_reserve_pid(pid_t *ret_pid, struct bb_err *err);

/* Open and close a trigger in the child. bb_firing__open() returns 0 or -errno; call
 * bb_firing__close() also after an error. */
int bb_firing__open(struct bb_firing *f, const struct bb_trigger *t,
		    const struct bb_attach_point *point, int prog_fd,
		    const struct bb_fire_task *task);
void bb_firing__close(struct bb_firing *f);
static inline int bb_firing__fire(struct bb_firing *f)
{
	return f->trigger->fire ? f->trigger->fire(f) : 0;
}
