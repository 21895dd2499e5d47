/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_RUN_GATE_BUILD_H
#define BB_RUN_GATE_BUILD_H

#include "base/err.h"
#include "base/std.h"
#include "judge/gate.h"
#include "run/gate.h"
#include "run/repo.h"

/* The builds of a gate's two revisions, and the BPF objects that they made. For gate.c only. */
enum bb_revision { BB_BASE, BB_HEAD, BB_N_REVISIONS };
extern const char *const bb_revision_names[]; /* "base" and "head" */

/* Copied out of the tree, which it outlives. */
struct bb_built_object {
	char *path;                 /* in the tree */
	char *file[BB_N_REVISIONS]; /* where it is now; NULL: this revision has none */
};

struct bb_built_objects {
	struct bb_built_object *v;
	size_t n;
	size_t bytes; /* of all that were copied */
};

#define BB_GATE_CAPTURE "capture" /* the path of the object that a capture's programs are */

struct bb_gate_builds {
	const struct bb_gate_opts *opts;
	struct bb_gate *gate; /* has the commits; gets the commands */
	struct bb_repo repo;
	struct bb_built_objects objects;
	double spent_s; /* on captures */
};

/*
 * Build both revisions and keep the objects that they made, or with a command to capture the
 * programs that it loads. Without a build command of the caller's, make makes no more than the
 * objects of the scenario or of --object, where it knows all of these; else its default goal. One
 * commit is built once.
 */
int bb_gate_builds__make(struct bb_gate_builds *b, struct bb_err *err);

/* Are both the same to the last byte? 0, or -errno with a message. */
int bb_built_object__is_same(const struct bb_built_object *o, bool *ret_same, struct bb_err *err);

/* The object that a scenario calls `name`: of that path, or of that file name alone. NULL: none, or
 * several. */
const struct bb_built_object *bb_built_objects__find(const struct bb_built_objects *o,
						     const char *name);

void bb_built_objects__done(struct bb_built_objects *o);

#endif
