/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "drivers/test_prog.h"

/*
 * Loads the companions of `prog`: the programs of the same object that the session does not
 * measure. (A session measures one program of an object, or compares two.) Companions use the maps
 * of `prog` and are attached beside it, as the object's own tool does. `prog` must be loaded and
 * its trigger found. Leaves out programs that cannot be loaded and, without `allow_system_wide`,
 * programs that act on other processes. bb_test_prog__close() closes them.
 */
void bb_companions__open(struct bb_test_prog *prog, bool allow_system_wide);
/* Loads the companions again if the program has got other maps since they were loaded, because
 * companions use the program's maps. */
void bb_companions__refresh(struct bb_test_prog *prog, bool allow_system_wide);
void bb_companions__close(struct bb_test_prog *prog);

/* Loads another program of the program's object, with the program's maps. The program must be
 * loaded. Returns 0 or -errno; bb_target__free() frees the target. */
int bb_companion__load(const struct bb_test_prog *prog, const char *program,
		       struct bb_target **ret_target, struct bb_err *err);

#define BB_BESIDE_MOST 16u

/*
 * Finds the programs to attach beside `prog`. They are programs of the same object, from the
 * session or the companions, that have a hook and share a map with `prog`. For example, the program
 * at a function's entry stores a value for the program at its return. Only one program is taken for
 * each event, because an object may hold several programs for one event, for different kernels.
 * Returns their number. ret_others[BB_BESIDE_MOST] may be NULL.
 */
size_t bb_beside__find(const struct bb_test_prog *prog, const struct bb_test_prog **ret_others);
