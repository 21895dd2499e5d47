/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own.h"

static int read_all(int fd, char *data, size_t size, size_t *ret_len)
{
	size_t len = 0;

	while (len < size) {
		ssize_t n = read(fd, data + len, size - len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		len += (size_t)n;
	}
	*ret_len = len;
	return 0;
}

int bb_read_and_close(int fd, const char *path, size_t max, char **ret_data, size_t *ret_len,
		      struct bb_err *err)
{
	char *data = NULL;
	struct stat st;
	size_t len = 0;
	int rc;

	if (fd < 0)
		return bb_fail(err, fd, "%s: %s", path, bb_own__strerror(-fd));
	rc = fstat(fd, &st) ? -errno : 0;
	if (!rc && S_ISDIR(st.st_mode))
		rc = -EISDIR;
	else if (!rc && !S_ISREG(st.st_mode))
		rc = -EINVAL;
	else if (!rc && (size_t)st.st_size > max)
		rc = -EFBIG;
	if (!rc) {
		data = malloc((size_t)st.st_size + 1);
		rc = data ? read_all(fd, data, (size_t)st.st_size, &len) : -ENOMEM;
	}
	close(fd);
	if (rc) {
		free(data);
		return bb_fail(err, rc, "%s: %s", path,
			       rc == -EINVAL ? "not a regular file" : strerror(-rc));
	}
	data[len] = '\0';
	*ret_data = data;
	*ret_len = len;
	return 0;
}

int bb_read_file(const char *path, size_t max, char **ret_data, size_t *ret_len, struct bb_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	return bb_read_and_close(fd < 0 ? -errno : fd, path, max, ret_data, ret_len, err);
}

int bb_read_own_file(const char *path, size_t max, char **ret_data, size_t *ret_len,
		     struct bb_err *err)
{
	return bb_read_and_close(bb_own__openat(AT_FDCWD, path, O_RDONLY | O_NONBLOCK, 0), path,
				 max, ret_data, ret_len, err);
}

int bb_read_proc(const char *path, size_t max, char **ret_data, size_t *ret_len, struct bb_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	size_t size = 0, len = 0;
	char *data = NULL;
	int rc = fd < 0 ? -errno : 0;

	while (!rc && len == size) { /* full: there may be more */
		size_t more = size ? size * 2 : 65536;
		char *bigger = size > max ? NULL : realloc(data, more + 1);
		size_t n = 0;

		if (!bigger) {
			rc = size > max ? -EFBIG : -ENOMEM;
			break;
		}
		data = bigger;
		rc = read_all(fd, data + len, more - len, &n);
		size = more;
		len += n;
	}
	if (fd >= 0)
		close(fd);
	if (rc) {
		free(data);
		return bb_fail(err, rc, "%s: %s", path, strerror(-rc));
	}
	data[len] = '\0';
	*ret_data = data;
	*ret_len = len;
	return 0;
}

int bb_write_all(int fd, const void *data, size_t len)
{
	for (const char *at = data, *end = at + len; at < end;) {
		ssize_t n = write(fd, at, (size_t)(end - at));

		if (n < 0 && errno != EINTR)
			return -errno;
		at += n < 0 ? 0 : n;
	}
	return 0;
}

int bb_open_regular(const char *path, int flags, struct stat *ret_st)
{
	int place = open(path, O_PATH | O_CLOEXEC | flags), rc = place < 0 ? -errno : 0, fd;
	char again[64];

	if (!rc && fstat(place, ret_st))
		rc = -errno;
	if (!rc && !S_ISREG(ret_st->st_mode))
		rc = -EINVAL;
	if (!rc) {
		snprintf(again, sizeof(again), "/proc/self/fd/%d", place);
		fd = open(again, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		rc = fd < 0 ? -errno : fd;
	}
	if (place >= 0)
		close(place);
	return rc;
}

void bb_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

char *bb_program_dir(void)
{
	static char dir[PATH_MAX];

	if (!*dir) {
		ssize_t n = readlink("/proc/self/exe", dir, sizeof(dir) - 1);
		char *slash;

		if (n < 0)
			return NULL;
		dir[n] = '\0';
		slash = strrchr(dir, '/');
		if (slash)
			*slash = '\0';
	}
	return strdup(dir);
}
