/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_RUN_GATE_BUILD_H
#define BB_RUN_GATE_BUILD_H

#include "run/gate_jobs.h"

/*
 * Build both revisions, for run/gate.h, and keep the objects that they made. Without a command of
 * the caller's, make makes no more than the objects of the scenario or of --object, where it knows
 * all of these; else its default goal. One commit is built once.
 */
int bb_gate_build__both(struct bb_gate_run *run, struct bb_err *err);

#endif
