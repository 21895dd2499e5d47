/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/child.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/user.h"

union descriptor {
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

/* Who ignores SIGCHLD cannot wait for children. */
static void set_signals(void (*handler)(int))
{
	for (int s = 1; s < NSIG; s++)
		if (s != SIGCHLD)
			signal(s, handler);
}

int bb_child__settle(const struct bb_child_rules *r)
{
	int rc;

	if (r->signals != BB_SIGNALS_KEPT)
		set_signals(r->signals == BB_SIGNALS_IGNORED ? SIG_IGN : SIG_DFL);
	rc = bb_become_user(r->uid, r->gid);
	/* After setuid, which clears the first. */
	if (!rc && ((r->parent && prctl(PR_SET_PDEATHSIG, SIGKILL)) ||
		    (r->no_new_privs && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))))
		rc = -errno;
	/* If it was gone before, nobody will tell us. */
	return !rc && r->parent && getppid() != r->parent ? -ESRCH : rc;
}

int bb_descriptor__send(int socket_fd, int number, int fd)
{
	struct iovec data = {.iov_base = &number, .iov_len = sizeof(number)};
	union descriptor control = {.bytes = {0}};
	struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};
	ssize_t n;

	if (fd >= 0) {
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
		*CMSG_FIRSTHDR(&message) = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)),
							    .cmsg_level = SOL_SOCKET,
							    .cmsg_type = SCM_RIGHTS};
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&message)), &fd, sizeof(fd));
	}
	do
		n = sendmsg(socket_fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

int bb_descriptor__receive(int socket_fd, int *ret_number, int *ret_fd)
{
	struct iovec data = {.iov_base = ret_number, .iov_len = sizeof(*ret_number)};
	union descriptor control;
	struct msghdr message = {.msg_iov = &data,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes)};
	const struct cmsghdr *head;
	ssize_t n;

	*ret_fd = -1;
	do
		n = recvmsg(socket_fd, &message, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	head = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	if (head && head->cmsg_type == SCM_RIGHTS)
		memcpy(ret_fd, CMSG_DATA(head), sizeof(*ret_fd));
	return n < 0 ? -errno : n == sizeof(*ret_number) ? 0 : -EPIPE;
}
