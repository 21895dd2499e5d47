/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_RUN_GATE_JOBS_H
#define BB_RUN_GATE_JOBS_H

#include <stddef.h>

#include "plan/plan.h"
#include "run/built_objects.h"
#include "run/gate.h"
#include "run/repo.h"

/* What gate.c finds and gate_measure.c measures: for these two only. */

/* A program to be compared: its scenario has the variants "base" and "head". */
struct bb_gate_job {
	size_t program; /* index in the gate */
	struct bb_scenario *scenario;
	struct bb_plan plan;
};

struct bb_gate_run {
	const struct bb_gate_opts *opts;
	struct bb_gate gate;
	struct bb_repo repo;
	struct bb_built_objects objects;
	struct bb_gate_job *jobs;
	size_t n_jobs;
	double spent_s; /* as of bb_gate_run__spent_s() */
};

/* "base" and "head", by enum bb_revision. */
extern const char *const bb_revision_names[];

/* The program is not compared, for this reason. 0 or -ENOMEM. */
int bb_gate_program__skip(struct bb_gate_program *p, enum bb_gate_state state, const char *why,
			  struct bb_err *err);

#endif
