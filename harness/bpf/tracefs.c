/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/tracefs.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#define PLACE "/sys/kernel/tracing"

int bb_tracefs__provide(struct bb_err *err)
{
	int rc;

	/* the two places where libbpf looks */
	if (!access(PLACE "/events", F_OK) || !access("/sys/kernel/debug/tracing/events", F_OK))
		return 0;
	/* What is mounted in a slave does not come back to the machine's own mounts. In a chroot
	 * "/" need not be a mount; /sys is one wherever there is a sysfs. */
	if (!unshare(CLONE_NEWNS) && !mount(NULL, "/sys", NULL, MS_SLAVE, NULL) &&
	    !mount("tracefs", PLACE, "tracefs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL))
		return 0;
	rc = -errno;
	return bb_fail(err, rc,
		       "tracefs is not mounted and cannot be mounted for bpfbench alone (%s); "
		       "mount "
		       "it with: sudo mount -t tracefs tracefs " PLACE,
		       strerror(-rc));
}
