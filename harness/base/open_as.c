/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/open_as.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/fsuid.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/child.h"
#include "base/process.h"
#include "base/user.h"

static int open_here(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int bb_open_as(uid_t uid, gid_t gid, const char *path, int flags)
{
	int fds[2], rc, said, fd;
	pid_t pid;

	if (geteuid() != 0 || (uid_t)setfsuid((uid_t)-1) == uid)
		return open_here(path, flags);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds))
		return -errno;
	pid = fork();
	if (pid == 0) {
		rc = bb_become_user(uid, gid);
		fd = rc ? rc : open_here(path, flags);
		_exit(bb_descriptor__send(fds[1], fd < 0 ? fd : 0, fd) != 0);
	}
	rc = pid < 0 ? -errno : 0;
	close(fds[1]);
	if (!rc) {
		rc = bb_descriptor__receive(fds[0], &said, &fd);
		bb_wait_for(pid);
	}
	close(fds[0]);
	return rc ? rc : said ? said : fd < 0 ? -EPIPE : fd;
}
