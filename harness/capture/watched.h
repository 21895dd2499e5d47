/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <linux/seccomp.h>

#include "base/processes.h"
#include "capture/take.h"

/* A command whose system calls we watch by seccomp user notification. A watched call loads,
 * attaches or runs a BPF program, and waits for our answer. Child processes are watched, too. If we
 * are killed, a guard process answers in our place, so that the command goes on. */
struct bb_listener {
	int fd;
	pid_t command; /* our child, which leads its process group */
	pid_t guard;   /* our child */
	/* Our end of a pipe that the guard reads. When it is closed, the guard begins to answer
	 * calls. When we write a byte, the guard ends. */
	int guard_alive;
	/* id of the call that we are handling; the guard shares this memory */
	uint64_t *answering;
};

struct bb_watched {
	struct bb_listener listener;
	struct bb_processes keep; /* those that we had before the command started, and the guard */
	pid_t beside; /* pid of the command of --until; 0 if there is none or it has ended */
	/* true if the command has ended; `status` is then as from waitpid() */
	bool ended;
	int status;
	/* Called for each watched call before it continues. Returns true if it has answered the
	 * call. May be NULL. */
	bool (*load)(void *arg, int listener_fd, const struct seccomp_notif *call);
	void *load_arg;
};

/* Starts argv[], which ends in NULL, in folder `dir`. NULL means our folder. The command's
 * environment is clean, but keeps the variables named in `env` (base/child.h). Its stdin is empty,
 * and its stdout is our stderr. With `silent`, its stdout and stderr are /dev/null. With `adopts`,
 * its orphaned child processes become our children, so that bb_watched__end() finds them. Returns
 * 0, or -errno with a message. */
int bb_watched__start(const char *const *argv, const char *dir, const char *const *env, bool silent,
		      bool adopts, struct bb_watched *ret_watched, struct bb_err *err);

/* Handles the watched calls that arrive within timeout_ms: records each in `take` (if not NULL),
 * and lets it continue. `*ret_calls` tells whether there was one. Returns 0, -EPIPE if no process
 * is left that could make a call, or another -errno. */
int bb_watched__serve(struct bb_watched *c, int timeout_ms, struct bb_take *take, bool *ret_calls);

/* Updates `ended`, `status` and `beside`, and does not wait. */
void bb_watched__look(struct bb_watched *c);

/* Ends the command by SIGINT, SIGTERM or SIGKILL. Returns false if one of its processes is left. */
bool bb_watched__end(struct bb_watched *c);

/* With `leaves`, the command runs on, and the guard answers its calls. */
void bb_watched__close(struct bb_watched *c, bool leaves);
