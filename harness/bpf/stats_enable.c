/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/stats_enable.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/caller.h"

#define SYSCTL "/proc/sys/kernel/bpf_stats_enabled"

/* Read its text into old[size], unless that is NULL, and then write `value`. */
static int swap_sysctl(char *old, size_t size, const char *value)
{
	int fd = bb_root__open(SYSCTL, O_RDWR), rc;
	ssize_t n;

	if (fd < 0)
		return fd;
	n = old ? pread(fd, old, size - 1, 0) : 0;
	if (old && n >= 0)
		old[n] = '\0';
	rc = n < 0 || pwrite(fd, value, strlen(value), 0) < 0 ? -errno : 0;
	close(fd);
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
		rc = swap_sysctl(e.previous, sizeof(e.previous), "1");
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
		swap_sysctl(NULL, 0, e->previous);
	*e = (struct bb_stats_enable){.fd = -1};
}
