/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "judge/source_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/io.h"

#define MAX_BYTES (16u << 20)

static bool is_source_name(const char *path)
{
	static const char *const suffixes[] = {".c",  ".h",   ".cc",  ".cpp", ".cxx",
					       ".hh", ".hpp", ".inc", ".rs"};
	const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');

	for (size_t i = 0; dot && i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		if (!strcmp(dot, suffixes[i]))
			return true;
	return false;
}

/* Some part of it, other than "." and "..", begins with a dot. */
static bool has_hidden_part(const char *path)
{
	while (*path) {
		size_t len = strcspn(path, "/");

		if (*path == '.' && len != 1 && !(len == 2 && path[1] == '.'))
			return true;
		path += len + strspn(path + len, "/");
	}
	return false;
}

/* The current folder; *ret_len of it are its git work tree, all of it where there is none. */
static int find_tree(char here[PATH_MAX], size_t *ret_len)
{
	size_t len;

	if (!getcwd(here, PATH_MAX) || *here != '/')
		return -ENOENT;
	*ret_len = strlen(here);
	for (len = *ret_len; len; len = (size_t)((char *)memrchr(here, '/', len) - here)) {
		char git[PATH_MAX + 8];

		snprintf(git, sizeof(git), "%.*s/.git", (int)len, here);
		if (!faccessat(AT_FDCWD, git, F_OK, AT_EACCESS | AT_SYMLINK_NOFOLLOW)) {
			*ret_len = len;
			break;
		}
	}
	return 0;
}

/* `path` as seen from the top of the tree. */
static int place_in_tree(const char *here, size_t tree_len, const char *path, char *ret_place,
			 size_t size)
{
	int n;

	if (*path != '/')
		n = snprintf(ret_place, size, ".%s/%s", here + tree_len, path);
	else if (!strncmp(path, here, tree_len) && path[tree_len] == '/')
		n = snprintf(ret_place, size, ".%s", path + tree_len);
	else
		return -EXDEV;
	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

static int open_beneath(const char *tree, const char *place)
{
	struct open_how how = {
		.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
	};
	int tree_fd = open(tree, O_PATH | O_DIRECTORY | O_CLOEXEC), fd;

	if (tree_fd < 0)
		return -errno;
	fd = (int)syscall(SYS_openat2, tree_fd, place, &how, sizeof(how));
	fd = fd < 0 ? -errno : fd;
	close(tree_fd);
	return fd == -ELOOP ? -EXDEV : fd;
}

int bb_source_file__read(const char *path, char **ret_text)
{
	char here[PATH_MAX], place[2 * PATH_MAX];
	size_t tree_len, len;
	int rc = find_tree(here, &tree_len), fd;

	if (!rc)
		rc = place_in_tree(here, tree_len, path, place, sizeof(place));
	if (!rc && (!is_source_name(place) || has_hidden_part(place)))
		rc = -EXDEV;
	if (rc)
		return rc;
	here[tree_len] = '\0';
	fd = open_beneath(*here ? here : "/", place);
	return fd < 0 ? fd : bb_read_and_close(fd, path, MAX_BYTES, ret_text, &len, NULL);
}
