/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_RUN_TREE_BUILD_H
#define BB_RUN_TREE_BUILD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "run/built_objects.h"
#include "run/repo.h"

/* The build of a revision, at the top of the tree in which it is checked out (run/repo.h). */
struct bb_tree_build {
	const char *command;        /* for sh -c; NULL: make, if there is a makefile */
	const char *const *targets; /* of make, ends in NULL; NULL: its default goal */
	const char *const *env;     /* as of base/environment.h */
};

bool bb_tree_has_makefile(const struct bb_repo *repo);

/*
 * The object files that make knows how to make, or that exist and are named in the makefile: paths
 * as make calls them, without a file yet. Names that have other characters than letters, digits and
 * "_./+-" are left out, and those of makes that make starts. None where make is not GNU make.
 * Nothing is made, but as of `make -n`. 0 or -errno with a message; _done() them.
 */
int bb_tree_find_targets(const struct bb_repo *repo, const char *const *env,
			 struct bb_built_objects *ret_targets, struct bb_err *err);

/* The command in words: "make build/prog.bpf.o". NULL when out of memory; free() it. */
char *bb_tree_build__text(const struct bb_tree_build *b);

/*
 * Run it. `what` is the revision, for messages. -EBADE when the command fails: the message ends
 * with the end of its output. *ret_whole: nothing of it can have survived (base/process.c).
 */
int bb_tree_build__run(const struct bb_tree_build *b, const struct bb_repo *repo, const char *what,
		       bool *ret_whole, struct bb_err *err);

#endif
