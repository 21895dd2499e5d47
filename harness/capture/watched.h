/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CAPTURE_WATCHED_H
#define BB_CAPTURE_WATCHED_H

#include <linux/seccomp.h>

#include "base/err.h"
#include "base/std.h"
#include "capture/take.h"

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

/* A command that is watched while it loads BPF programs, from its start to its end. */
struct bb_watched {
	struct bb_listener listener;
	pid_t before[64]; /* children that we had before, n_before of them */
	size_t n_before;
	pid_t beside; /* another command of ours that goes with it; 0: none, or it has ended */
	bool ended;   /* status is how, as of waitpid() */
	int status;
};

/*
 * Start argv[] (ends in NULL; argv[0] is looked for in $PATH) as the user that we are, in `dir`
 * (NULL: here), in a clean environment with `env` (base/child.h); its stdin is empty, its stdout is
 * our stderr. `adopts`: what it leaves behind becomes a child of ours, so that bb_watched__end()
 * finds it. -ENOENT, -EACCES and so on where it cannot be executed.
 */
int bb_watched__start(const char *const *argv, const char *dir, const char *const *env, bool adopts,
		      struct bb_watched *ret_watched, struct bb_err *err);

/*
 * Answer the calls that wait, or come within timeout_ms; noted down in `take`, unless it is NULL.
 * *ret_calls: whether there was one. 0; -EPIPE: nobody is left to make one; -ENOMEM.
 */
int bb_watched__serve(struct bb_watched *c, int timeout_ms, struct bb_take *take, bool *ret_calls);

/* Has it ended meanwhile, or the one beside it? */
void bb_watched__look(struct bb_watched *c);

/* End it as its user would, by SIGINT, or harder. False: something of it does not end. */
bool bb_watched__end(struct bb_watched *c);

/* It is no longer watched. `leaves`: the guard answers its calls from now on. */
void bb_watched__close(struct bb_watched *c, bool leaves);

#endif
