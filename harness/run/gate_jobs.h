/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_RUN_GATE_JOBS_H
#define BB_RUN_GATE_JOBS_H

#include <stddef.h>

#include "bpf/object_info.h"
#include "capture/capture.h"
#include "capture/supervise.h"
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

/* The programs that a command of a revision's build loads, for run/gate.h. */

#define BB_GATE_CAPTURE "capture" /* the path of the object that they are */

/*
 * The program of the other revision that `p` of `own` is to be compared with: that of its name, or
 * of captures the one that was attached in the same place, where neither has a namesake; of several
 * in one place, in their order. NULL: there is none.
 */
const struct bb_object_program *bb_gate_partner(const struct bb_object_info *own,
						const struct bb_object_program *p,
						const struct bb_object_info *other);

/* Are these programs of two captures the same? false, too, where they are objects. */
int bb_gate_capture__is_same(const struct bb_built_object *o, const char *base, const char *head,
			     bool *ret_same, struct bb_err *err);

/*
 * Build both revisions, for run/gate.h, and keep the objects that they made. Without a command of
 * the caller's, make makes no more than the objects of the scenario or of --object, where it knows
 * all of these; else its default goal. One commit is built once.
 */
int bb_gate_build__both(struct bb_gate_run *run, struct bb_err *err);

#endif
