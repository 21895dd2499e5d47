/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "env/git.h"

#include <errno.h>
#include <limits.h>
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
static int join(const char *base, const char *name, char *ret_path, size_t size)
{
	int n = name[0] == '/' ? snprintf(ret_path, size, "%s", name)
			       : snprintf(ret_path, size, "%s/%s", base, name);

	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

/* `tree`/.git is the repository itself, or a file that says where it is (linked work trees,
 * submodules). */
static int git_dir_of(const char *tree, char *ret_dir, size_t size)
{
	static const char key[] = "gitdir: ";
	char path[PATH_MAX], text[PATH_MAX];
	struct stat st;
	int err;

	err = join(tree, ".git", path, sizeof(path));
	if (err)
		return err;
	if (stat(path, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return join(tree, ".git", ret_dir, size);
	err = bb_sysfile__read("", path, text, sizeof(text));
	if (err)
		return err;
	if (strncmp(text, key, sizeof(key) - 1))
		return -EINVAL;
	return join(tree, text + sizeof(key) - 1, ret_dir, size);
}

/* The repository of `dir` or of the nearest directory above it that has one. */
static int find_git_dir(const char *dir, char *ret_dir, size_t size)
{
	char tree[PATH_MAX];

	if (!realpath(dir, tree))
		return -errno;
	for (;;) {
		int err = git_dir_of(tree, ret_dir, size);
		char *slash;

		if (err != -ENOENT && err != -ENOTDIR)
			return err;
		slash = strrchr(tree, '/');
		if (!slash || !tree[0])
			return -ENOENT;
		*slash = '\0';
	}
}

static int commit_in_file(const char *dir, const char *name, char ret_commit[BB_GIT_COMMIT_SIZE])
{
	/* one more, so that a longer line is seen as such */
	char path[PATH_MAX], text[BB_GIT_COMMIT_SIZE + 1];
	int err;

	err = join(dir, name, path, sizeof(path));
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
	char path[PATH_MAX], *line = NULL;
	size_t size = 0;
	int err = join(dir, "packed-refs", path, sizeof(path));
	FILE *f;

	if (err)
		return err;
	f = fopen(path, "re");
	if (!f)
		return -errno;
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

/* Branches of a linked work tree live in the repository that it was linked from. */
static int common_dir_of(const char *git_dir, char *ret_dir, size_t size)
{
	char path[PATH_MAX], text[PATH_MAX];
	int err = join(git_dir, "commondir", path, sizeof(path));

	if (err)
		return err;
	if (bb_sysfile__read("", path, text, sizeof(text)))
		return join("", git_dir, ret_dir, size);
	return join(git_dir, text, ret_dir, size);
}

int bb_git_commit__read(const char *dir, char ret_commit[BB_GIT_COMMIT_SIZE])
{
	static const char key[] = "ref: ";
	char git_dir[PATH_MAX], common[PATH_MAX], path[PATH_MAX], head[PATH_MAX];
	const char *ref = head + sizeof(key) - 1;
	int err;

	err = find_git_dir(dir, git_dir, sizeof(git_dir));
	if (!err)
		err = join(git_dir, "HEAD", path, sizeof(path));
	if (!err)
		err = bb_sysfile__read("", path, head, sizeof(head));
	if (err)
		return err;
	if (strncmp(head, key, sizeof(key) - 1))
		return commit_in_file(git_dir, "HEAD", ret_commit);
	if (strncmp(ref, "refs/", 5) || strstr(ref, "..")) /* never out of the repository */
		return -EINVAL;
	err = common_dir_of(git_dir, common, sizeof(common));
	if (!err)
		err = commit_in_file(common, ref, ret_commit);
	if (err == -ENOENT)
		err = commit_in_packed_refs(common, ref, ret_commit);
	return err;
}
