/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "env/git.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "env/sysfile.h"

int bb_git_is_commit(const char *text)
{
	size_t len = strspn(text, "0123456789abcdefABCDEF");

	return !text[len] && (len == 40 || len == 64);
}

/* "base/name", or name alone when it is absolute. */
static int join_path(const char *base, const char *name, char ret_path[PATH_MAX])
{
	bool is_absolute = name[0] == '/';
	int n = snprintf(ret_path, PATH_MAX, "%s%s%s", is_absolute ? "" : base,
			 is_absolute ? "" : "/", name);

	return n < 0 || n >= PATH_MAX ? -ENAMETOOLONG : 0;
}

/* The repository of `dir` or of the nearest directory above it that has one: its .git, or where
 * that file says (linked work trees, submodules). */
static int find_git_dir(const char *dir, char ret_dir[PATH_MAX])
{
	static const char key[] = "gitdir: ";
	char tree[PATH_MAX], text[PATH_MAX];
	struct stat st;
	int err;

	if (!realpath(dir, tree))
		return -errno;
	for (;;) {
		char *slash;

		err = join_path(tree, ".git", ret_dir);
		if (!err && !stat(ret_dir, &st))
			break;
		err = err ? err : -errno;
		slash = strrchr(tree, '/');
		if ((err != -ENOENT && err != -ENOTDIR) || !slash)
			return err;
		*slash = '\0';
	}
	if (S_ISDIR(st.st_mode))
		return 0;
	err = bb_sysfile__read("", ret_dir, text, sizeof(text));
	if (err)
		return err;
	if (strncmp(text, key, sizeof(key) - 1))
		return -EINVAL;
	return join_path(tree, text + sizeof(key) - 1, ret_dir);
}

static int commit_in_file(const char *dir, const char *name, char ret_commit[BB_GIT_COMMIT_SIZE])
{
	/* one more, so that a longer line is seen as such */
	char path[PATH_MAX], text[BB_GIT_COMMIT_SIZE + 1];
	int err;

	err = join_path(dir, name, path);
	if (!err)
		err = bb_sysfile__read("", path, text, sizeof(text));
	if (err)
		return err;
	if (!bb_git_is_commit(text))
		return -EINVAL;
	memcpy(ret_commit, text, strlen(text) + 1);
	return 0;
}

/* Lines are "<commit> <ref>"; those that begin with # or ^ are of no interest. */
static int commit_in_packed_refs(const char *dir, const char *ref,
				 char ret_commit[BB_GIT_COMMIT_SIZE])
{
	char *line = NULL;
	size_t size = 0;
	FILE *f;
	int err = bb_sysfile__open(dir, "/packed-refs", &f, NULL);

	if (err)
		return err;
	err = -ENOENT;
	while (err && getline(&line, &size, f) > 0) {
		char *name = strchr(line, ' ');

		line[strcspn(line, "\n")] = '\0';
		if (!name)
			continue;
		*name++ = '\0';
		if (strcmp(name, ref) || !bb_git_is_commit(line))
			continue;
		memcpy(ret_commit, line, strlen(line) + 1);
		err = 0;
	}
	free(line);
	fclose(f);
	return err;
}

int bb_git_commit__read(const char *dir, char ret_commit[BB_GIT_COMMIT_SIZE])
{
	static const char key[] = "ref: ";
	char git_dir[PATH_MAX], common[PATH_MAX], text[PATH_MAX], head[PATH_MAX];
	const char *ref = head + sizeof(key) - 1;
	int err;

	err = find_git_dir(dir, git_dir);
	if (!err)
		err = bb_sysfile__read(git_dir, "/HEAD", head, sizeof(head));
	if (err)
		return err;
	if (strncmp(head, key, sizeof(key) - 1))
		return commit_in_file(git_dir, "HEAD", ret_commit);
	if (strncmp(ref, "refs/", 5) || strstr(ref, "..")) /* never out of the repository */
		return -EINVAL;
	/* Branches of a linked work tree live in the repository that it was linked from. */
	if (bb_sysfile__read(git_dir, "/commondir", text, sizeof(text)))
		memcpy(common, git_dir, sizeof(common));
	else
		err = join_path(git_dir, text, common);
	if (!err)
		err = commit_in_file(common, ref, ret_commit);
	if (err == -ENOENT)
		err = commit_in_packed_refs(common, ref, ret_commit);
	return err;
}
