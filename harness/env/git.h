/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_ENV_GIT_H
#define BB_ENV_GIT_H

#include <stddef.h>

#define BB_GIT_COMMIT_SIZE                                                                         \
	65 /* 64 hexadecimal digits (SHA-256 repositories; 40 for SHA-1) and the NUL */

/* Whether `text` is a full commit name: 40 or 64 hexadecimal digits. */
int bb_git_is_commit(const char *text);

/*
 * The commit checked out in the work tree that `dir` lies in, read from .git by hand: no git is
 * needed, and nothing of a foreign repository's configuration is obeyed. Knows linked work trees
 * and submodules (.git as a file) and packed refs, not reftable. 0; -ENOENT when `dir` is in no
 * repository or nothing was committed yet; -EINVAL when .git holds something else; other -errno.
 */
int bb_git_commit__read(const char *dir, char ret_commit[BB_GIT_COMMIT_SIZE]);

#endif
