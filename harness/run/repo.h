/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_RUN_REPO_H
#define BB_RUN_REPO_H

#include "base/err.h"
#include "base/std.h"
#include "env/fingerprint.h"

/*
 * A git repository and a scratch folder in which its revisions are built, one at a time and all at
 * the same path: then unchanged source compiles to the same bytes. By git itself, without hooks.
 *
 * Git and the builds run as the caller (base/caller.h); where that is root, as the owner of the
 * folder. Nothing that they start survives them (base/process.h). The objects that they made are
 * copied to a folder of ours, where the user cannot change them.
 */
struct bb_repo {
	char top[PATH_MAX];     /* of the work tree */
	char scratch[PATH_MAX]; /* the user's, in $TMPDIR or /tmp */
	char tree[PATH_MAX];    /* in it: where a revision is checked out */
	char kept[PATH_MAX];    /* ours, in /run or /tmp; the caller may read in it */
	uid_t uid;              /* of whose git and builds these are */
	gid_t gid;
	/* removes scratch, kept and the work tree's entry in the repository when we are gone, */
	pid_t keeper;
	int keeper_fd; /* which closes this: even after a SIGKILL */
};

/* The repository that `dir` lies in. -ENOENT when there is none, -EINTR, other -errno. */
int bb_repo__open(const char *dir, struct bb_repo *ret_repo, struct bb_err *err);

/* Remove both folders. 0, or -errno with a message when something of it is left. A zeroed
 * repo is fine. */
int bb_repo__close(struct bb_repo *repo, struct bb_err *err);

/* A revision's commit. -ENOENT when git knows no such revision; the message says so if the clone is
 * shallow. */
int bb_repo__resolve(const struct bb_repo *repo, const char *rev,
		     char ret_commit[BB_GIT_COMMIT_SIZE], struct bb_err *err);

/* The last commit that both have. -ENOENT when git knows none. */
int bb_repo__merge_base(const struct bb_repo *repo, const char *a, const char *b,
			char ret_commit[BB_GIT_COMMIT_SIZE], struct bb_err *err);

/* Is there something in the work tree that is not committed? Ignored files do not count. */
int bb_repo__is_dirty(const struct bb_repo *repo, bool *ret_dirty, struct bb_err *err);

/* Check a commit out into `tree`, if `with_changes` with the uncommitted changes of the work tree;
 * and remove it. */
int bb_repo__check_out(const struct bb_repo *repo, const char *commit, bool with_changes,
		       struct bb_err *err);
int bb_repo__remove_tree(const struct bb_repo *repo, struct bb_err *err);

/*
 * Copy a file of `tree` to `kept`, as `name`: a regular one that the user may read, no symbolic
 * link, of `max` bytes at the most, *ret_bytes. -ENOENT without a message when it is not there.
 */
int bb_repo__keep(const struct bb_repo *repo, const char *path, const char *name, size_t max,
		  size_t *ret_bytes, struct bb_err *err);

#endif
