/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fire/place.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cgroup2.h"
#include "base/caller.h"
#include "base/child.h"
#include "base/child.h"
#include "bpf/netns.h"

/* --- the network namespace --- */

static int loopback_up(void)
{
	struct ifreq ifr = {.ifr_name = "lo", .ifr_flags = IFF_UP};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc;

	if (fd < 0)
		return -errno;
	rc = ioctl(fd, SIOCSIFFLAGS, &ifr) ? -errno : 0;
	close(fd);
	return rc;
}

/* Without one, triggers of the network use the machine's loopback device. */
static int open_netns(struct bb_fire_place *p)
{
	struct bb_err err = {0};
	int home_fd, rc = bb_netns__open(&p->netns_fd, &err);

	if (!rc)
		rc = bb_netns__enter(p->netns_fd, &home_fd, &err);
	if (!rc) {
		rc = loopback_up();
		if (rc)
			bb_fail(&err, rc, "its loopback device: %s", strerror(-rc));
		rc = bb_netns__leave(home_fd, rc, &err);
	}
	if (rc && p->netns_fd >= 0) {
		close(p->netns_fd);
		p->netns_fd = -1;
	}
	if (rc)
		snprintf(p->why_no_netns, sizeof(p->why_no_netns), "%.190s", err.msg);
	return rc == -ENOMEM ? rc : 0;
}

/* --- the cgroup --- */

/* It waits until we are gone, and removes what we then leave. */
static int keep(void *arg, int alive)
{
	const struct bb_fire_place *p = arg;
	char inner[300];

	bb_child__sleep(alive);
	snprintf(inner, sizeof(inner), "%s/c", p->cgroup); /* of a trigger that was ended midway */
	bb_root__begin();
	for (int i = 0; i < 100 && (rmdir(inner), rmdir(p->cgroup)) && errno == EBUSY; i++)
		usleep(20000); /* until the processes in it have gone */
	return 0;
}

static int start_keeper(struct bb_fire_place *p)
{
	static const struct bb_child_rules rules = {
		.link = BB_LINK_TO_CHILD,
		.signals = BB_SIGNALS_IGNORED,
		.name = "bpfbench-keeper",
		.own_session = true,
		.std = {BB_STD_NULL, BB_STD_NULL, BB_STD_NULL},
		.closes_others = true,
		.outlives = true,
	};
	struct bb_child c;
	int rc = bb_child__start(&rules, keep, p, &c);

	p->keeper = rc ? 0 : c.pid;
	p->keeper_fd = c.fd;
	return rc;
}

static int make_cgroup(struct bb_fire_place *p)
{
	static unsigned int made;
	char parent[200];
	struct stat st;
	int rc = 0;

	if (!bb_cgroup2__find(parent, sizeof(parent)))
		return -ENODEV;
	snprintf(p->cgroup, sizeof(p->cgroup), "%s/bpfbench-%d-%u", parent, (int)getpid(), made++);
	rc = start_keeper(p);
	if (rc)
		return rc;
	bb_root__begin();
	if (mkdir(p->cgroup, 0755))
		rc = -errno;
	p->cgroup_fd = rc ? -1 : open(p->cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (!rc && (p->cgroup_fd < 0 || fstat(p->cgroup_fd, &st)))
		rc = -errno;
	bb_root__end();
	p->cgroup_id = rc ? 0 : st.st_ino; /* of cgroup2, they are the same on 64 bits */
	return rc;
}

static int open_cgroup(struct bb_fire_place *p)
{
	int rc = make_cgroup(p);

	if (rc)
		snprintf(p->why_no_cgroup, sizeof(p->why_no_cgroup), "%s",
			 rc == -ENODEV ? "no cgroup2 file system is mounted; " BB_CGROUP2_REMEDY
				       : strerror(-rc));
	return rc == -ENOMEM ? rc : 0;
}

int bb_fire_place__open(int cpu, int other_cpu, struct bb_fire_place *ret_place, struct bb_err *err)
{
	struct bb_fire_place p = {.cpu = cpu,
				  .other_cpu = other_cpu == cpu ? -1 : other_cpu,
				  .netns_fd = -1,
				  .cgroup_fd = -1,
				  .keeper_fd = -1};
	int rc = open_netns(&p);

	if (!rc)
		rc = open_cgroup(&p);
	if (rc) {
		bb_fire_place__close(&p);
		return bb_fail_nomem(err);
	}
	*ret_place = p;
	return 0;
}

void bb_fire_place__close(struct bb_fire_place *p)
{
	if (!p)
		return;
	if (p->netns_fd >= 0)
		close(p->netns_fd);
	if (p->cgroup_fd >= 0)
		close(p->cgroup_fd);
	if (p->keeper > 0) {
		close(p->keeper_fd);
		bb_wait_for(p->keeper);
	}
	*p = (struct bb_fire_place){.netns_fd = -1, .cgroup_fd = -1, .keeper_fd = -1};
}

static struct bb_fire_place the_place;
static size_t n_users;

int bb_fire_place__share(int cpu, int other_cpu, const struct bb_fire_user *user,
			 struct bb_fire_place **ret_place, struct bb_err *err)
{
	int rc = n_users ? 0 : bb_fire_place__open(cpu, other_cpu, &the_place, err);

	if (rc)
		return rc;
	if (!n_users++)
		the_place.user = *user;
	*ret_place = &the_place;
	return 0;
}

void bb_fire_place__unshare(struct bb_fire_place *p)
{
	if (p && !--n_users)
		bb_fire_place__close(p);
}

const struct bb_fire_place *bb_fire_place__shared(void)
{
	return n_users ? &the_place : NULL;
}

/* --- in the child --- */

/* A file system without a name, in memory: it goes with its last user. */
static int own_folder(void)
{
	int fs = (int)syscall(SYS_fsopen, "tmpfs", 1U /* FSOPEN_CLOEXEC */), fd;

	if (fs < 0 || syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		return -errno;
	fd = (int)syscall(SYS_fsmount, fs, 1U /* FSMOUNT_CLOEXEC */,
			  MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	if (fd < 0 || fchdir(fd))
		return -errno;
	close(fd);
	close(fs);
	return 0;
}

static int join_cgroup(const struct bb_fire_place *p)
{
	int fd = p->cgroup_fd < 0 ? -1 : openat(p->cgroup_fd, "cgroup.procs", O_WRONLY | O_CLOEXEC);
	int rc = 0;

	if (p->cgroup_fd < 0)
		return 0;
	if (fd < 0 || write(fd, "0", 1) != 1)
		rc = -errno;
	if (fd >= 0)
		close(fd);
	return rc;
}

int bb_fire_place__enter(const struct bb_fire_place *p)
{
	int rc = join_cgroup(p);

	if (!rc && p->netns_fd >= 0 && setns(p->netns_fd, CLONE_NEWNET))
		rc = -errno;
	return rc ? rc : own_folder();
}
