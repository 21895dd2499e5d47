/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_RUN_GATE_CAPTURE_H
#define BB_RUN_GATE_CAPTURE_H

#include "bpf/object_info.h"
#include "capture/capture.h"
#include "capture/supervise.h"
#include "run/built_objects.h"
#include "run/repo.h"

/* The programs that a command of a revision's build loads, for run/gate.h. */

#define BB_GATE_CAPTURE "capture" /* the path of the object that they are */

/* Run the command in the tree that was built, and keep the capture as an object of the revision.
 * *spent_s of the budget is spent; the time that this takes is added. Errors: those of
 * bb_capture_command(), with the revision named. */
int bb_gate_capture__keep(const struct bb_capture_opts *opts, const struct bb_repo *repo,
			  enum bb_revision revision, double *spent_s,
			  struct bb_built_objects *objects, struct bb_err *err);

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

#endif
