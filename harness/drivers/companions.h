/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "drivers/test_prog.h"

/* Loads the companions of `prog`: programs of its object that share maps with it and are attached
 * beside it, as the object's own loader does, but are not measured. They use the maps of `prog`.
 * `prog` must be loaded and its trigger found. Leaves out programs that cannot be loaded and,
 * without `allow_system_wide`, programs that act on other processes. Loads companions again only if
 * the current load of `prog` has other maps. bb_test_prog__close() closes them. */
void bb_companions__open(struct bb_test_prog *prog, bool allow_system_wide);
void bb_companions__close(struct bb_test_prog *prog);

/* Loads another program of the object of `prog`, with the maps of `prog`, which must be loaded.
 * Returns 0 or -errno; the caller frees the target by bb_target__free(). */
int bb_companion__load(const struct bb_test_prog *prog, const char *program,
		       struct bb_target **ret_target, struct bb_err *err);

#define BB_BESIDE_MOST 16u

/* Finds the programs to attach beside `prog`: measured programs or companions of its object that
 * have a hook and share a map with `prog`. For example, the program at a function's entry stores a
 * value for the program at its return. Takes only one program for each event, because an object may
 * hold several for different kernels. Returns their number. */
size_t bb_beside__find(const struct bb_test_prog *prog,
		       const struct bb_test_prog *ret_others[BB_BESIDE_MOST]);
