/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/debug_files.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child.h"
#include "base/io.h"

#define SYSTEM "/usr/lib/debug"
#define DWZ "/.dwz/"

static int open_if_trusted(const char *path, uid_t owner)
{
	struct stat st;
	int fd = bb_open_regular(path, 0, &st);

	if (fd >= 0 && st.st_uid && st.st_uid != owner) {
		close(fd);
		return -EPERM;
	}
	return fd;
}

static int open_link(const char *path, const char *name, uid_t owner)
{
	static const char *const where[] = {"%.*s%s", "%.*s.debug/%s", SYSTEM "%.*s%s"};
	const char *slash = strrchr(path, '/');
	int dir_len = slash ? (int)(slash - path) + 1 : 0, fd = -ENOENT;
	char candidate[PATH_MAX];

	if (!dir_len || strchr(name, '/'))
		return -EINVAL;
	for (size_t i = 0; fd < 0 && i < sizeof(where) / sizeof(where[0]); i++)
		if (snprintf(candidate, sizeof(candidate), where[i], dir_len, path, name) <
		    (int)sizeof(candidate))
			fd = open_if_trusted(candidate, owner);
	return fd;
}

int bb_debug_file__open(const struct bb_debug_request *request, const char *path, int of_fd)
{
	const char *name = request->name, *dwz;
	char candidate[PATH_MAX];
	struct stat st;

	if (!memchr(name, '\0', sizeof(request->name)) || !*name || fstat(of_fd, &st))
		return -EINVAL;
	switch (request->kind) {
	case BB_DEBUG_BUILD_ID:
		if (strlen(name) <= 2 || name[strspn(name, "0123456789abcdef")])
			return -EINVAL;
		snprintf(candidate, sizeof(candidate), SYSTEM "/.build-id/%.2s/%s.debug", name,
			 name + 2);
		return open_if_trusted(candidate, st.st_uid);
	case BB_DEBUG_LINK: return open_link(path, name, st.st_uid);
	case BB_DEBUG_ALT:
		dwz = strstr(name, DWZ);
		if (!dwz || strstr(dwz, ".."))
			return -EINVAL;
		snprintf(candidate, sizeof(candidate), SYSTEM "%s", dwz);
		return open_if_trusted(candidate, 0);
	default: return -EINVAL;
	}
}

int bb_debug_file__ask(int socket, enum bb_debug_kind kind, const char *name)
{
	struct bb_debug_request request = {.kind = kind};
	struct iovec data = {.iov_base = &request, .iov_len = sizeof(request)};
	const struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};
	int nothing, fd;

	if (strlen(name) >= sizeof(request.name))
		return -ENAMETOOLONG;
	strcpy(request.name, name);
	if (sendmsg(socket, &message, MSG_NOSIGNAL) < 0)
		return -errno;
	if (kind == BB_DEBUG_NEXT)
		return 0;
	if (bb_descriptor__receive(socket, &nothing, &fd))
		return -EIO;
	return fd < 0 ? -ENOENT : fd;
}
