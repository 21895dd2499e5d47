/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CAPTURE_LISTENER_H
#define BB_CAPTURE_LISTENER_H

#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/*
 * A command whose system calls that load, attach or run BPF programs wait for an answer of ours
 * (seccomp user notification); all others are not slowed down. Its children and the programs that
 * they execute are watched, too. A guard, a process of ours, answers if we are killed: the command
 * goes on.
 */
struct bb_listener {
	int fd;
	pid_t command;       /* our child, and the leader of its process group */
	pid_t guard;         /* our child */
	int guard_alive;     /* while it is open and nothing comes, the guard sleeps */
	uint64_t *answering; /* shared with the guard: the call that we look at */
};

/*
 * Start argv[] (ends in NULL; argv[0] is looked for in $PATH) as the user that we are, in `dir`
 * (NULL: here), in a clean environment with `env` (base/child.h); its stdin is empty, its
 * stdout is our stderr. -ENOENT, -EACCES and so on where it cannot be executed.
 */
int bb_listener__start(const char *const *argv, const char *dir, const char *const *env,
		       struct bb_listener *ret_listener, struct bb_err *err);

/* The next call that waits, after timeout_ms at the most. 1: there is one; 0: none; -EPIPE: nobody
 * is left to make one; -EINTR: a signal; other -errno. */
int bb_listener__next(struct bb_listener *l, int timeout_ms, struct seccomp_notif *ret_call);

/* Let it go on as if nobody had looked. -ENOENT: it was broken off by a signal meanwhile, and comes
 * again if it is to. */
int bb_listener__let_go(struct bb_listener *l, const struct seccomp_notif *call);

/* All that is left of the command is the guard's to answer (`leave`), or gone. */
void bb_listener__close(struct bb_listener *l, bool leave);

#endif
