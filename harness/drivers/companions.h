/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_DRIVERS_COMPANIONS_H
#define BB_DRIVERS_COMPANIONS_H

#include "base/std.h"
#include "drivers/test_prog.h"

/*
 * The programs of the program's object that the session does not measure (it measures one program
 * of it, or compares two), loaded on the program's maps, to be attached beside it as the tool does
 *. The program is loaded, and its trigger is found. Who cannot be loaded, or
 * acts on other processes and may not, is missing. They are closed with the program.
 */
void bb_companions__open(struct bb_test_prog *prog, bool allow_system_wide);
/* The same again, if the loaded program has other maps by now: it has borrowed them. */
void bb_companions__refresh(struct bb_test_prog *prog, bool allow_system_wide);
void bb_companions__close(struct bb_test_prog *prog);

#define BB_BESIDE_MOST 16u

/*
 * The programs to attach beside the program: those of its object, of the session or its companions,
 * that have a hook and share a map with it, as the one at a call's entry stores for the one at its
 * return to find. One for each event, as objects hold several for kernels that differ. Returns how
 * many; ret_others[BB_BESIDE_MOST] may be NULL.
 */
size_t bb_beside__find(const struct bb_test_prog *prog, const struct bb_test_prog **ret_others);

#endif
