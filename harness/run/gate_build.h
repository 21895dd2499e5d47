/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "run/gate.h"

/* A git repository, and a folder in which its revisions are built at the same path, so that
 * unchanged source gives the same bytes. Git runs without hooks. Git and the builds run as the
 * caller or, if that is root, as the repository's owner (base/caller.h). When they end, all their
 * processes are ended. Objects are copied to a folder that the user cannot change. */
struct bb_repo {
	char top[PATH_MAX];
	char scratch[PATH_MAX]; /* folder of the user in $TMPDIR or /tmp */
	char tree[PATH_MAX];    /* folder in `scratch` for the checked-out revision */
	/* Folder in /run or /tmp for the copies of objects. It belongs to root or, without root's
	 * rights, to the caller. The caller can read it. */
	char kept[PATH_MAX];
	uid_t uid; /* user and group that run git and the builds */
	gid_t gid;
	/* outlives bpfbench, and then removes `scratch`, `kept` and git's entry for `tree` */
	pid_t keeper;
	/* pipe that the kernel closes when bpfbench ends, even by SIGKILL (the keeper waits for
	 * it) */
	int keeper_fd;
};

/* Finds the repository that contains `dir`. Returns -ENOENT if there is none, or -EINTR. */
int bb_repo__open(const char *dir, struct bb_repo *ret_repo, struct bb_err *err);

/* Removes the folders. Does nothing if `repo` is zeroed. Returns -errno if a file is left. */
int bb_repo__close(struct bb_repo *repo, struct bb_err *err);

/* Finds a revision's commit. Returns -ENOENT if unknown, with a hint if the clone is shallow. */
int bb_repo__resolve(const struct bb_repo *repo, const char *rev,
		     char ret_commit[BB_GIT_COMMIT_SIZE], struct bb_err *err);

/* Finds the last commit that `a` and `b` have in common. Returns -ENOENT if there is none. */
int bb_repo__merge_base(const struct bb_repo *repo, const char *a, const char *b,
			char ret_commit[BB_GIT_COMMIT_SIZE], struct bb_err *err);

/* Tells whether the work tree has uncommitted changes. Ignored files do not count. */
int bb_repo__is_dirty(const struct bb_repo *repo, bool *ret_dirty, struct bb_err *err);

/* Checks a commit out into `tree`. Adds the uncommitted changes of the work tree if `with_changes`
 * is true. Remove it with bb_repo__remove_tree(). */
int bb_repo__check_out(const struct bb_repo *repo, const char *commit, bool with_changes,
		       struct bb_err *err);
int bb_repo__remove_tree(const struct bb_repo *repo, struct bb_err *err);

/* Copies the file `path` of `tree` to `kept`, as `name`. It must be a regular file of at most `max`
 * bytes that the user may read. Returns -ENOENT without a message if it does not exist. */
int bb_repo__keep(const struct bb_repo *repo, const char *path, const char *name, size_t max,
		  size_t *ret_bytes, struct bb_err *err);

enum bb_revision { BB_BASE, BB_HEAD, BB_N_REVISIONS };
extern const char *const bb_revision_names[];

/* An object that a build made. It is copied, because the tree is deleted later. */
struct bb_built_object {
	char *path;
	char *file[BB_N_REVISIONS]; /* path of each copy; NULL if the revision lacks the object */
};

struct bb_built_objects {
	struct bb_built_object *v;
	size_t n;
	size_t bytes;
};

/* The captures of a capture command's programs count as one object with this path. */
#define BB_GATE_CAPTURE "capture"

struct bb_gate_builds {
	const struct bb_gate_opts *opts;
	/* gives the commits to build, and gets the commands that built them */
	struct bb_gate *gate;
	struct bb_repo repo;
	struct bb_built_objects objects;
	double spent_s; /* time of the captures, s */
};

/* Builds both revisions and keeps their objects. With a capture command, keeps the programs that it
 * loads instead. Without a build command, runs make for the objects of the scenario or of --object
 * only. If make does not know all of them, it builds its default goal. Equal commits are built only
 * once, except with a capture command. */
int bb_gate_builds__make(struct bb_gate_builds *b, struct bb_err *err);

/* Tells whether the copies of both revisions have the same bytes. */
int bb_built_object__is_same(const struct bb_built_object *o, bool *ret_same, struct bb_err *err);

/* Finds an object by its path or its file name. Returns NULL if there is none or more than one. */
const struct bb_built_object *bb_built_objects__find(const struct bb_built_objects *o,
						     const char *name);

void bb_built_objects__done(struct bb_built_objects *o);
