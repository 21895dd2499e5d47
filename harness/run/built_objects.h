/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_RUN_BUILT_OBJECTS_H
#define BB_RUN_BUILT_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "run/repo.h"

/* The BPF objects that the builds of two revisions have made, copied out of the tree, which
 * they outlive. */
enum bb_revision { BB_BASE, BB_HEAD, BB_N_REVISIONS };

struct bb_built_object {
	char *path;                 /* in the tree */
	char *file[BB_N_REVISIONS]; /* where it is now; NULL: this revision has none */
};

struct bb_built_objects {
	struct bb_built_object *v;
	size_t n;
	size_t bytes; /* of all that were copied */
};

/*
 * Keep those of the revision that has just been built: paths[n] in its tree, as far as they are
 * there, or with none given all regular files called *.bpf.o. 0, or -errno with a message.
 */
int bb_built_objects__keep(struct bb_built_objects *o, const struct bb_repo *repo,
			   enum bb_revision revision, const char *const *paths, size_t n,
			   struct bb_err *err);

/* One that is named alone: of no revision yet. NULL when out of memory. */
struct bb_built_object *bb_built_objects__name(struct bb_built_objects *o, const char *path);

/* One that is kept already, in `file`. */
int bb_built_objects__add(struct bb_built_objects *o, enum bb_revision revision, const char *path,
			  const char *file, struct bb_err *err);

/* Head is base: its objects are those of base, all of which are kept. */
int bb_built_objects__take_base(struct bb_built_objects *o, struct bb_err *err);

/* Are both the same to the last byte? 0, or -errno with a message. */
int bb_built_object__is_same(const struct bb_built_object *o, bool *ret_same, struct bb_err *err);

/* The object that a scenario calls `name`: of that path, or of that file name alone. NULL: none, or
 * several. */
const struct bb_built_object *bb_built_objects__find(const struct bb_built_objects *o,
						     const char *name);

void bb_built_objects__done(struct bb_built_objects *o);

#endif
