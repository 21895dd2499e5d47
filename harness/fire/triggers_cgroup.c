/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Triggers of what cgroups decide about besides sockets. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "fire/trigger.h"

#define SYSCTL "/proc/sys/kernel/ostype"

static int open_sysctl(struct bb_firing *f)
{
	f->fd[0] = open(SYSCTL, O_RDONLY | O_CLOEXEC);
	return f->fd[0] < 0 ? -errno : 0;
}

static int fire_sysctl(struct bb_firing *f)
{
	return pread(f->fd[0], f->page, 64, 0) < 0 ? -errno : 0;
}

static int fire_device(struct bb_firing *f)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)f;
	return fd < 0 || close(fd) ? -errno : 0;
}

const struct bb_trigger bb_triggers_cgroup[] = {
	{.name = "sysctl",
	 .doc = "read " SYSCTL,
	 .words = "sysctl proc_sys",
	 .open = open_sysctl,
	 .fire = fire_sysctl},
	{.name = "device",
	 .doc = "open /dev/null and close it",
	 .words = "dev device chrdev_open",
	 .fire = fire_device},
	{0},
};
