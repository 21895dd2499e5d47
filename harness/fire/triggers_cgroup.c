/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Triggers of what cgroups decide about besides sockets. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
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

static int open_own_cgroup(struct bb_firing *f)
{
	return f->cgroup_fd < 0 ? -ENODEV : 0;
}

static int fire_cgroup(struct bb_firing *f)
{
	return mkdirat(f->cgroup_fd, "c", 0700) || unlinkat(f->cgroup_fd, "c", AT_REMOVEDIR)
		       ? -errno
		       : 0;
}

static void close_cgroup(struct bb_firing *f)
{
	unlinkat(f->cgroup_fd, "c", AT_REMOVEDIR);
}

static int open_cgroup_stat(struct bb_firing *f)
{
	f->fd[0] = openat(f->cgroup_fd, "cpu.stat", O_RDONLY | O_CLOEXEC);
	return f->fd[0] < 0 ? -errno : 0;
}

static int fire_cgroup_stat(struct bb_firing *f)
{
	return pread(f->fd[0], f->page, f->page_bytes, 0) < 0 ? -errno : 0;
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
	{.name = "cgroup",
	 .doc = "make a cgroup in bpfbench's own and remove it",
	 .words = "cgroup_mkdir cgroup_rmdir cgroup_release cgroup",
	 .open = open_own_cgroup,
	 .fire = fire_cgroup,
	 .close = close_cgroup},
	{.name = "cgroup-stat",
	 .doc = "read the CPU time of bpfbench's own cgroup",
	 .words = "cgroup_rstat_locked cgroup_rstat_unlock cgroup_rstat rstat",
	 .open = open_cgroup_stat,
	 .fire = fire_cgroup_stat},
	{0},
};
