/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CAPTURE_FOLLOW_H
#define BB_CAPTURE_FOLLOW_H

#include "base/err.h"
#include "base/std.h"

/*
 * A command that runs on while others look at the programs that it loaded: which of the kernel's
 * are they? Its calls are looked at by a thread of ours, so that the command waits for nobody else.
 */
struct bb_follow;

/* Start argv[] and the variables env[] (each ends in NULL). Errors: bb_watched__start(). */
int bb_follow__start(const char *const *argv, const char *const *env, struct bb_follow **ret_follow,
		     struct bb_err *err);

/* Did the command load the program of this id? Of one that it has not attached yet, by name, type
 * and maps. */
bool bb_follow__loaded(struct bb_follow *f, uint32_t id);

/* How many programs it has asked the kernel to load, and the seconds since its last call that
 * loaded or attached one. */
size_t bb_follow__n_loads(struct bb_follow *f, double *ret_quiet_s);

/* Has the command ended by itself? Then *ret_status, as of waitpid(). */
bool bb_follow__ended(struct bb_follow *f, int *ret_status);

/* End the command by SIGINT, or harder. False: something of it does not end, and is left alone.
 * Takes NULL. */
bool bb_follow__end(struct bb_follow *f);

#endif
