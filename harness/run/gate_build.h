/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "run/gate.h"
#include "run/repo.h"

/* The builds of a gate's two revisions, with the BPF objects they made. */
enum bb_revision { BB_BASE, BB_HEAD, BB_N_REVISIONS };
extern const char *const bb_revision_names[]; /* "base" and "head" */

/* An object copied out of the tree, which is deleted later. */
struct bb_built_object {
	char *path;                 /* path in the tree */
	char *file[BB_N_REVISIONS]; /* path of the copy; NULL: this revision has none */
};

struct bb_built_objects {
	struct bb_built_object *v;
	size_t n;
	size_t bytes; /* size of all copies together */
};

#define BB_GATE_CAPTURE "capture" /* stands for the path of a capture's object */

struct bb_gate_builds {
	const struct bb_gate_opts *opts;
	struct bb_gate *gate; /* source of the commits; receives the commands */
	struct bb_repo repo;
	struct bb_built_objects objects;
	double spent_s; /* time for captures, s */
};

/*
 * Builds both revisions and keeps their objects; with a capture command, also captures the programs
 * it loads. Without a build command from the caller, make builds only the objects of the scenario
 * or of --object if it knows them all, else its default goal. Equal commits are built once.
 */
int bb_gate_builds__make(struct bb_gate_builds *b, struct bb_err *err);

/* Tells whether both revisions' copies are equal byte by byte. Returns 0, or -errno with a
 * message. */
int bb_built_object__is_same(const struct bb_built_object *o, bool *ret_same, struct bb_err *err);

/* Finds the object that a scenario calls `name`, by path or by file name. Returns NULL if there
 * is none or more than one. */
const struct bb_built_object *bb_built_objects__find(const struct bb_built_objects *o,
						     const char *name);

void bb_built_objects__done(struct bb_built_objects *o);
