/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "run/gate.h"

/*
 * A git repository, and a scratch folder for building its revisions. They are built one after the
 * other at the same path, so that unchanged source compiles to the same bytes. Uses git without
 * hooks.
 *
 * Git and the builds run as the caller (base/caller.h); if the caller is root, they run as the
 * owner of the repository. When they end, all their processes end (base/process.h). The objects are
 * copied to a folder that the user cannot change.
 */
struct bb_repo {
	char top[PATH_MAX];     /* top folder of the work tree */
	char scratch[PATH_MAX]; /* belongs to the user; in $TMPDIR or /tmp */
	char tree[PATH_MAX];    /* folder in `scratch` where a revision is checked out */
	/* folder in /run or /tmp, of root or, without root's rights, of the caller, who reads it */
	char kept[PATH_MAX];
	uid_t uid; /* user who runs git and the builds */
	gid_t gid;
	/* outlives bpfbench, and then removes `scratch`, `kept` and git's entry for `tree` */
	pid_t keeper;
	/* pipe to the keeper. The kernel closes it when bpfbench ends, even by SIGKILL; this tells
	 * the keeper to remove the files */
	int keeper_fd;
};

/* Finds the repository around `dir`. Returns -ENOENT if there is none, -EINTR, or -errno. */
int bb_repo__open(const char *dir, struct bb_repo *ret_repo, struct bb_err *err);

/* Removes `scratch` and `kept`. The repo may be zeroed: then there is nothing to remove. Returns 0,
 * or -errno with a message if something is left. */
int bb_repo__close(struct bb_repo *repo, struct bb_err *err);

/* Finds the commit of a revision. Returns -ENOENT if git does not know it; the message says if the
 * repository is a shallow clone. */
int bb_repo__resolve(const struct bb_repo *repo, const char *rev,
		     char ret_commit[BB_GIT_COMMIT_SIZE], struct bb_err *err);

/* Finds the last commit that `a` and `b` have in common. Returns -ENOENT if there is none. */
int bb_repo__merge_base(const struct bb_repo *repo, const char *a, const char *b,
			char ret_commit[BB_GIT_COMMIT_SIZE], struct bb_err *err);

/* Sets *ret_dirty to true if the work tree has uncommitted changes, else to false. Ignored files do
 * not count. */
int bb_repo__is_dirty(const struct bb_repo *repo, bool *ret_dirty, struct bb_err *err);

/* Checks a commit out into `tree`; bb_repo__remove_tree() removes it. With `with_changes`, adds
 * the uncommitted changes of the work tree. */
int bb_repo__check_out(const struct bb_repo *repo, const char *commit, bool with_changes,
		       struct bb_err *err);
int bb_repo__remove_tree(const struct bb_repo *repo, struct bb_err *err);

/* Copies a file from `tree` to `kept` under the name `name`. It must be a regular file, not a
 * symbolic link, of at most `max` bytes, that the user may read. Returns -ENOENT without a message
 * if it does not exist. */
int bb_repo__keep(const struct bb_repo *repo, const char *path, const char *name, size_t max,
		  size_t *ret_bytes, struct bb_err *err);

/* The two revisions that a gate compares. Both are built, and the BPF objects that the builds make
 * are kept. */
enum bb_revision { BB_BASE, BB_HEAD, BB_N_REVISIONS };
extern const char *const bb_revision_names[]; /* "base" and "head", by enum bb_revision */

/* An object that was copied out of the tree, because the tree is deleted later. */
struct bb_built_object {
	char *path;                 /* path in the revision's tree */
	char *file[BB_N_REVISIONS]; /* path of the copy; NULL: this revision has no such object */
};

struct bb_built_objects {
	struct bb_built_object *v;
	size_t n;
	size_t bytes; /* size of all copies together */
};

/* With a capture command, there is one object, with this path: the captures of base and head. */
#define BB_GATE_CAPTURE "capture"

struct bb_gate_builds {
	const struct bb_gate_opts *opts;
	struct bb_gate *gate; /* has the commits to build; receives the build commands */
	struct bb_repo repo;
	struct bb_built_objects objects;
	double spent_s; /* time that the captures took, s */
};

/*
 * Builds both revisions and keeps their objects; with a capture command, also captures the programs
 * it loads. Without a build command from the caller, make builds only the objects of the scenario
 * or of --object; if it does not know all of them, it builds its default goal. Equal commits are
 * built only once, except with a capture command.
 */
int bb_gate_builds__make(struct bb_gate_builds *b, struct bb_err *err);

/* Sets *ret_same to true if the copies of both revisions have the same bytes, otherwise to false.
 * Returns 0, or -errno with a message. */
int bb_built_object__is_same(const struct bb_built_object *o, bool *ret_same, struct bb_err *err);

/* Finds the object that a scenario calls `name`, by path or by file name. Returns NULL if there
 * is none or more than one. */
const struct bb_built_object *bb_built_objects__find(const struct bb_built_objects *o,
						     const char *name);

void bb_built_objects__done(struct bb_built_objects *o);
