/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_DRIVERS_BESIDE_H
#define BB_DRIVERS_BESIDE_H

#include <stdbool.h>
#include <stddef.h>

#include "drivers/test_prog.h"

#define BB_BESIDE_MOST 16u

/* May a program at the one point be attached while another at the other is measured? */
bool bb_beside__goes(const struct bb_attach_point *subject, const struct bb_attach_point *other);

/*
 * The programs to attach beside the subject: those of its object, of the session or its companions,
 * that have a hook and share a map with it, as the one at a call's entry stores for the one at its
 * return to find. One for each event, as objects hold several for kernels that differ. Returns how
 * many; ret_others[BB_BESIDE_MOST] may be NULL.
 */
size_t bb_beside__find(const struct bb_test_prog *subject, const struct bb_test_prog **ret_others);

#endif
