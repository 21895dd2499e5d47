/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/tracefs.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#define PLACE "/sys/kernel/tracing"

/* The two places where libbpf looks. */
static bool is_mounted(void)
{
	return !access(PLACE "/events", F_OK) || !access("/sys/kernel/debug/tracing/events", F_OK);
}

/* What is mounted in a slave does not come back to the machine's own mounts. In a chroot "/" need
 * not be a mount; /sys is one wherever there is a sysfs. */
static int mount_in_our_own(void)
{
	if (unshare(CLONE_NEWNS) || mount(NULL, "/sys", NULL, MS_SLAVE, NULL))
		return -errno;
	if (mount("tracefs", PLACE, "tracefs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL))
		return -errno;
	return 0;
}

int bb_tracefs__provide(struct bb_err *err)
{
	int rc;

	if (is_mounted())
		return 0;
	rc = mount_in_our_own();
	if (rc)
		return bb_fail(err, rc,
			       "tracefs is not mounted and cannot be mounted for bpfbench alone "
			       "(%s); mount it with: sudo mount -t tracefs tracefs " PLACE,
			       strerror(-rc));
	return 0;
}
