/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* A command that runs while its programs are measured. It tells which programs of the kernel the
 * command loaded. A thread of ours handles its calls, so that the command does not wait for the
 * measurement. */
struct bb_follow;

/* Starts argv[] and keeps the variables named in env[]; both end in NULL. Errors as
 * bb_watched__start(). */
int bb_follow__start(const char *const *argv, const char *const *env, struct bb_follow **ret_follow,
		     struct bb_err *err);

/* True if the command loaded the program with this id. A program that it has not attached yet is
 * recognized by name, type and maps. */
bool bb_follow__loaded(struct bb_follow *f, uint32_t id);

/* Returns the number of loads that the command asked for. `*ret_quiet_s` receives the seconds since
 * its last call that loaded or attached a program. */
size_t bb_follow__n_loads(struct bb_follow *f, double *ret_quiet_s);

/* True if the command has ended by itself; then `*ret_status` is that of waitpid(). */
bool bb_follow__ended(struct bb_follow *f, int *ret_status);

/* Ends the command by SIGINT, SIGTERM or SIGKILL. Returns false if a process of it does not end;
 * that process is left alone. Accepts NULL. */
bool bb_follow__end(struct bb_follow *f);
