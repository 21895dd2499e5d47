/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "drivers/test_prog.h"

/*
 * The key `prepare` of a variant: other programs of the object that run before each series, by
 * BPF_PROG_TEST_RUN. They bring the maps into the state that the measured program finds in
 * production. They share its maps, but not its global variables.
 */

/* Loads the programs of `prepare` if they are not loaded, or if the measured program has got other
 * maps since. The measured program must be loaded. Call it before the contents of the maps are
 * written. Returns 0; -EINVAL for a program that shares no map, or an input that its type does not
 * take; or another -errno. Does nothing without the key. */
int bb_prepare__open(struct bb_test_prog *prog, struct bb_err *err);

/* Runs the programs in their order. Returns 0, -EINTR or another -errno. */
int bb_prepare__run(const struct bb_test_prog *prog, struct bb_err *err);

void bb_prepare__close(struct bb_test_prog *prog);
