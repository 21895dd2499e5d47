/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/netns.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

static int own_netns(int *ret_fd, struct bb_err *err)
{
	int fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC), rc;

	if (fd < 0) {
		rc = -errno;
		return bb_fail(err, rc == -ENOENT ? -ENOTSUP : rc,
			       "/proc/thread-self/ns/net: %s; without network namespaces there is "
			       "no place to attach a network program",
			       strerror(-rc));
	}
	*ret_fd = fd;
	return 0;
}

/* That this fails cannot be explained to a user; everything after it would be wrong. */
int bb_netns__leave(int home_fd, int rc, struct bb_err *err)
{
	if (setns(home_fd, CLONE_NEWNET)) {
		rc = -errno;
		bb_fail(err, rc, "cannot return to our own network namespace: %s", strerror(-rc));
	}
	close(home_fd);
	return rc;
}

int bb_netns__enter(int netns_fd, int *ret_home_fd, struct bb_err *err)
{
	int home_fd = -1, rc = own_netns(&home_fd, err);

	if (rc)
		return rc;
	if (setns(netns_fd, CLONE_NEWNET)) {
		rc = -errno;
		close(home_fd);
		return bb_fail(err, rc, "cannot enter the network namespace for programs: %s",
			       strerror(-rc));
	}
	*ret_home_fd = home_fd;
	return 0;
}

int bb_netns__open(int *ret_fd, struct bb_err *err)
{
	int home_fd = -1, fd = -1, rc = own_netns(&home_fd, err);

	if (rc)
		return rc;
	if (unshare(CLONE_NEWNET)) {
		rc = -errno;
		close(home_fd);
		return bb_fail(err, rc == -ENOMEM ? rc : -ENOTSUP,
			       "XDP is measured attached, in a network namespace of its own, and "
			       "none can be made (%s); it needs CAP_SYS_ADMIN and room in "
			       "user.max_net_namespaces",
			       strerror(-rc));
	}
	rc = own_netns(&fd, err);
	rc = bb_netns__leave(home_fd, rc, err);
	if (rc && fd >= 0)
		close(fd);
	if (!rc)
		*ret_fd = fd;
	return rc;
}
