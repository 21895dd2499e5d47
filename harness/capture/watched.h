/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <linux/seccomp.h>

#include "capture/take.h"

/*
 * A command whose system calls we watch by seccomp user notification. If it makes a call that
 * loads, attaches or runs a BPF program, the call waits for our answer. Its other system calls are
 * not slowed down. Its child processes, and the programs that they execute, are watched, too. If we
 * are killed, a guard process answers in our place, so that the command goes on.
 */
struct bb_listener {
	int fd;
	pid_t command; /* our child, and the leader of its process group */
	pid_t guard;   /* our child */
	/* Our end of a pipe on which the guard sleeps. When this end is closed, the guard begins to
	 * answer calls. When we write a byte, the guard ends. */
	int guard_alive;
	/* id of the call that we are handling, in memory that we share with the guard */
	uint64_t *answering;
};

/* A command that is watched while it loads BPF programs, from its start to its end. */
struct bb_watched {
	struct bb_listener listener;
	pid_t before[64]; /* the n_before child processes that we had before the command started */
	size_t n_before;
	pid_t beside; /* pid of a second command (--until); 0 means none, or it has ended */
	/* true: the command has ended; `status` is then its status as from waitpid() */
	bool ended;
	int status;
	/* Called for each watched call, before it continues. Returns true if it has answered the
	 * call itself; otherwise the call continues as usual. NULL if nothing is to be called. */
	bool (*load)(void *arg, int listener_fd, const struct seccomp_notif *call);
	void *load_arg;
};

/*
 * Starts argv[] (ends in NULL; argv[0] is looked up in $PATH) as our own user, in folder `dir`
 * (NULL means the current folder). Its environment is clean, but keeps the variables named in `env`
 * (base/child.h). Its stdin is empty, and its stdout is our stderr. With `adopts`, orphaned child
 * processes of the command become our children, so that bb_watched__end() finds them. Returns 0, or
 * -errno with a message: -ENOENT, -EACCES and so on if the command cannot be executed.
 */
int bb_watched__start(const char *const *argv, const char *dir, const char *const *env, bool adopts,
		      struct bb_watched *ret_watched, struct bb_err *err);

/* Handles the watched calls that wait already, or that arrive within timeout_ms: records each one
 * in `take`, which may be NULL, and then lets it continue. `*ret_calls` is true if there was a
 * call. Returns 0; -EPIPE if no process is left that could make a call; or another -errno. */
int bb_watched__serve(struct bb_watched *c, int timeout_ms, struct bb_take *take, bool *ret_calls);

/* Sets `ended` and `status` if the command has ended, and `beside` if the second command has ended.
 * Does not wait. */
void bb_watched__look(struct bb_watched *c);

/* Ends the command by SIGINT, then SIGTERM, then SIGKILL. Returns false if one of its processes is
 * left. */
bool bb_watched__end(struct bb_watched *c);

/* Stops watching the command. With `leaves`, the command runs on, and the guard answers its
 * calls. */
void bb_watched__close(struct bb_watched *c, bool leaves);
