/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_FIRE_REACH_H
#define BB_FIRE_REACH_H

#include <stdbool.h>

#include "base/err.h"
#include "bpf/target.h"
#include "fire/attach_point.h"

/*
 * Does the program do more than look: does it call a helper that sends signals, writes into other
 * processes or changes what a function returns? Kernel functions (kfuncs) and programs that it
 * calls by a tail call are not looked at. A program whose code cannot be read is taken for one that
 * does.
 */
bool bb_reach__acts(const struct bb_target *target);

/*
 * May the loaded program be attached at `point`? A program that acts, or whose result the kernel
 * obeys (LSM, fmod_ret), is kept off hooks that every process of the machine passes. -ENOTSUP with
 * the reason.
 */
int bb_reach__check(const struct bb_attach_point *point, const struct bb_target *target,
		    struct bb_err *err);

#endif
