/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/own.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/caller.h"

#define MAX_LINKS 40 /* as the kernel's MAXSYMLINKS */

/* How files and folders are made, and how many links there were so far. */
struct walk {
	mode_t mode;
	bool makes_dirs;
	unsigned int n_links;
};

static int walk_path(struct walk *w, int dir_fd, const char *path, int flags);

/* `name` is a symbolic link, or was one. */
static int follow(struct walk *w, int dir_fd, const char *name, int flags)
{
	int fd = openat(dir_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC), rc = fd < 0 ? -errno : 0;
	char target[PATH_MAX];
	struct stat st;
	ssize_t n = 0;
	uid_t uid;
	gid_t gid;

	bb_caller(&uid, &gid);
	if (!rc && fstat(fd, &st))
		rc = -errno;
	if (!rc && !S_ISLNK(st.st_mode))
		rc = -ENOTDIR;
	else if (!rc && ((st.st_uid != uid && st.st_uid != 0) || ++w->n_links > MAX_LINKS))
		rc = -ELOOP;
	if (!rc) {
		n = readlinkat(fd, "", target, sizeof(target) - 1);
		rc = n < 0 ? -errno : 0;
	}
	if (fd >= 0)
		close(fd);
	if (rc)
		return rc;
	target[n] = '\0';
	return walk_path(w, dir_fd, target, flags);
}

static int step(struct walk *w, int dir_fd, const char *name, int flags)
{
	int not_made = w->makes_dirs && mkdirat(dir_fd, name, 0755) ? errno : 0;
	int fd = openat(dir_fd, name, flags | O_NOFOLLOW | O_CLOEXEC, w->mode);

	if (fd >= 0)
		return fd;
	if (errno == ENOENT && not_made && not_made != EEXIST)
		return -not_made;
	/* ENOTDIR: O_DIRECTORY of a link */
	return errno == ELOOP || errno == ENOTDIR ? follow(w, dir_fd, name, flags) : -errno;
}

/* The last part is opened with `flags`. */
static int walk_path(struct walk *w, int dir_fd, const char *path, int flags)
{
	int at = openat(dir_fd, *path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	const char *part = path + strspn(path, "/");
	char name[NAME_MAX + 1];

	if (at < 0)
		return -errno;
	if (!*part && *path) /* "/" */
		part = ".";
	do {
		size_t len = strcspn(part, "/");
		const char *next = part + len + strspn(part + len, "/");
		int fd = len ? -ENAMETOOLONG : -ENOENT;

		if (len && len < sizeof(name)) {
			memcpy(name, part, len);
			name[len] = '\0';
			fd = step(w, at, name, *next ? O_PATH | O_DIRECTORY : flags);
		}
		close(at);
		at = fd;
		part = next;
	} while (at >= 0 && *part);
	return at;
}

int bb_own__openat(int dir_fd, const char *path, int flags, mode_t mode)
{
	struct walk w = {.mode = mode};

	return walk_path(&w, dir_fd, path, flags);
}

int bb_own__make_dirs(int dir_fd, const char *path)
{
	struct walk w = {.makes_dirs = true};

	return walk_path(&w, dir_fd, path, O_RDONLY | O_DIRECTORY);
}

const char *bb_own__strerror(int error)
{
	return error == ELOOP ? "a symbolic link that is not the caller's leads there, and is not "
				"followed"
			      : strerror(error);
}
