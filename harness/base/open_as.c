/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/open_as.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/process.h"
#include "base/user.h"

union descriptor {
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

static int open_here(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* `said` is an fd, which goes along, or -errno. */
static void send_descriptor(int socket_fd, int said)
{
	struct iovec data = {.iov_base = &said, .iov_len = sizeof(said)};
	union descriptor control = {.bytes = {0}};
	struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};

	if (said >= 0) {
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
		*CMSG_FIRSTHDR(&message) = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)),
							    .cmsg_level = SOL_SOCKET,
							    .cmsg_type = SCM_RIGHTS};
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&message)), &said, sizeof(said));
	}
	_exit(sendmsg(socket_fd, &message, MSG_NOSIGNAL) < 0);
}

static int receive_descriptor(int socket_fd)
{
	int said = -EPIPE, fd;
	struct iovec data = {.iov_base = &said, .iov_len = sizeof(said)};
	union descriptor control;
	struct msghdr message = {.msg_iov = &data,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes)};
	const struct cmsghdr *head;
	ssize_t n;

	do
		n = recvmsg(socket_fd, &message, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	head = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	if (n != sizeof(said) || said < 0)
		return n < 0 ? -errno : said < 0 ? said : -EPIPE;
	if (!head || head->cmsg_type != SCM_RIGHTS)
		return -EPIPE;
	memcpy(&fd, CMSG_DATA(head), sizeof(fd));
	return fd;
}

int bb_open_as(uid_t uid, gid_t gid, const char *path, int flags)
{
	int fds[2], rc;
	pid_t pid;

	if (geteuid() != 0 || (uid_t)setfsuid((uid_t)-1) == uid)
		return open_here(path, flags);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds))
		return -errno;
	pid = fork();
	if (pid == 0) {
		rc = bb_become_user(uid, gid);
		send_descriptor(fds[1], rc ? rc : open_here(path, flags));
	}
	rc = pid < 0 ? -errno : 0;
	close(fds[1]);
	if (!rc) {
		rc = receive_descriptor(fds[0]);
		bb_wait_for(pid);
	}
	close(fds[0]);
	return rc;
}
