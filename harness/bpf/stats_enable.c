/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/stats_enable.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/caller.h"

#define SYSCTL "/proc/sys/kernel/bpf_stats_enabled"

static int sysctl_write(const char *value)
{
	int fd = bb_root__open(SYSCTL, O_WRONLY);
	ssize_t n;
	int rc;

	if (fd < 0)
		return fd;
	n = write(fd, value, strlen(value));
	rc = n < 0 ? -errno : 0;
	close(fd);
	return rc;
}

static int sysctl_read(char *buf, size_t size)
{
	int fd = bb_root__open(SYSCTL, O_RDONLY);
	ssize_t n;
	int rc;

	if (fd < 0)
		return fd;
	n = read(fd, buf, size - 1);
	rc = n < 0 ? -errno : 0;
	close(fd);
	if (!rc)
		buf[n] = '\0';
	return rc;
}

int bb_stats_enable__on(struct bb_stats_enable *ret_enable, struct bb_err *err)
{
	struct bb_stats_enable e = {.fd = bpf_enable_stats(BPF_STATS_RUN_TIME)};
	int rc = e.fd < 0 ? -errno : 0;

	if (rc == -EPERM)
		return bb_fail(err, rc,
			       "enabling bpf_stats needs CAP_SYS_ADMIN; run as root, with sudo");
	if (rc) { /* a kernel before 5.8: EINVAL */
		rc = sysctl_read(e.previous, sizeof(e.previous));
		if (!rc)
			rc = sysctl_write("1");
		if (rc)
			return bb_fail(err, rc,
				       "cannot enable bpf_stats: no BPF_ENABLE_STATS, and %s: %s; "
				       "bpfbench needs Linux 5.1 or later and root",
				       SYSCTL, strerror(-rc));
	}
	*ret_enable = e;
	return 0;
}

void bb_stats_enable__off(struct bb_stats_enable *e)
{
	if (!e)
		return;
	if (e->fd >= 0)
		close(e->fd);
	else if (e->previous[0])
		sysctl_write(e->previous);
	*e = (struct bb_stats_enable){.fd = -1};
}
