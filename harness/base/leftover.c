/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/leftover.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LEAST_AGE_S 60 /* its maker may not have locked it yet */

/* Folders in a folder, which we do not make, stay, and so does it then. */
static void remove_one(int dir_fd, const char *name, const struct stat *like)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	const struct dirent *e;
	DIR *dir = NULL;
	struct stat st;

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && st.st_uid == like->st_uid && st.st_ino != like->st_ino &&
	    (st.st_mode & S_IFMT) == (like->st_mode & S_IFMT) &&
	    time(NULL) - st.st_mtime >= LEAST_AGE_S && !flock(fd, LOCK_EX | LOCK_NB)) {
		if (S_ISDIR(st.st_mode))
			dir = fdopendir(dup(fd));
		while (dir && (e = readdir(dir)))
			if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
				unlinkat(fd, e->d_name, 0);
		if (dir)
			closedir(dir);
		unlinkat(dir_fd, name, S_ISDIR(st.st_mode) ? AT_REMOVEDIR : 0);
	}
	close(fd);
}

void bb_leftover__lock_and_remove_others(int dir_fd, const char *name, size_t n_random, int fd)
{
	size_t prefix = strlen(name) - n_random;
	const struct dirent *e;
	struct stat like;
	int again;
	DIR *dir;

	flock(fd, LOCK_EX | LOCK_NB);
	if (fstat(fd, &like))
		return;
	again = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = again < 0 ? NULL : fdopendir(again);
	if (!dir && again >= 0)
		close(again);
	while (dir && (e = readdir(dir)))
		if (strlen(e->d_name) == strlen(name) && !strncmp(e->d_name, name, prefix))
			remove_one(dir_fd, e->d_name, &like);
	if (dir)
		closedir(dir);
}
