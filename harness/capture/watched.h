/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CAPTURE_WATCHED_H
#define BB_CAPTURE_WATCHED_H

#include "capture/listener.h"
#include "capture/take.h"

/* A command that is watched while it loads BPF programs, from its start to its end. */
struct bb_watched {
	struct bb_listener listener;
	pid_t before[64]; /* children that we had before, n_before of them */
	size_t n_before;
	pid_t beside; /* another command of ours that goes with it; 0: none, or it has ended */
	bool ended;   /* status is how, as of waitpid() */
	int status;
};

/* Start argv[] (ends in NULL) in `dir` (NULL: here), with
 * `env` as of bb_listener__start(). `adopts`: what it leaves behind becomes a
 * child of ours, so that bb_watched__end() finds it. Errors:
 * bb_listener__start(). */
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
