/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_DRIVERS_ARGUMENTS_H
#define BB_DRIVERS_ARGUMENTS_H

#include "drivers/trigger_fire.h"
#include "drivers/test_prog.h"

/*
 * For a program that is fired by a call or a test run of ours (BB_AT_OWN_FUNCTION, BB_AT_OWN_RUN):
 * tries each set of arguments (fire/live_objects.h) on a clone that counts, and keeps in
 * subject->fire.point the first of those with which it executes the most of its instructions.
 * Another program of the session for the same function has its set already, and they share it: a
 * comparison has the same arguments on both sides. Where nothing can be counted, the arguments stay
 * as they are.
 */
void bb_arguments__choose(struct bb_fire_state *s, struct bb_test_prog *subject);

#endif
