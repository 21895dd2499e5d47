/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/debug_files.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

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

static bool is_hexadecimal(const char *text)
{
	size_t len = strlen(text);

	return len > 2 && strspn(text, "0123456789abcdef") == len;
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
		if (!is_hexadecimal(name))
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

/* Room for one descriptor beside a message. */
union control {
	struct cmsghdr head;
	char bytes[CMSG_SPACE(sizeof(int))];
};

int bb_debug_file__answer(int socket, int fd)
{
	union control control = {{0}};
	char found = fd >= 0;
	struct iovec data = {.iov_base = &found, .iov_len = sizeof(found)};
	struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};

	if (found) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	}
	return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

/* The descriptor that comes with an answer. */
static int receive(int socket)
{
	union control control = {{0}};
	char found = 0;
	struct iovec data = {.iov_base = &found, .iov_len = sizeof(found)};
	struct msghdr message = {.msg_iov = &data,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};
	int fd;

	if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != sizeof(found))
		return -EIO;
	if (!found || message.msg_controllen < CMSG_LEN(sizeof(fd)) ||
	    control.head.cmsg_type != SCM_RIGHTS)
		return -ENOENT;
	memcpy(&fd, CMSG_DATA(&control.head), sizeof(fd));
	return fd;
}

int bb_debug_file__ask(int socket, enum bb_debug_kind kind, const char *name)
{
	struct bb_debug_request request = {.kind = kind};
	struct iovec data = {.iov_base = &request, .iov_len = sizeof(request)};
	const struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};

	if (strlen(name) >= sizeof(request.name))
		return -ENAMETOOLONG;
	strcpy(request.name, name);
	if (sendmsg(socket, &message, MSG_NOSIGNAL) < 0)
		return -errno;
	return kind == BB_DEBUG_NEXT ? 0 : receive(socket);
}
