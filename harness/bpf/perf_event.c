/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/perf_event.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int bb_perf_event__open(struct perf_event_attr *attr, pid_t pid, int cpu, int prog_fd, int *ret_fd,
			struct bb_err *err)
{
	int fd, rc;

	attr->size = sizeof(*attr);
	attr->disabled = 1;
	fd = (int)syscall(__NR_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	rc = fd < 0 ? -errno : 0;
	if (rc == -EACCES || rc == -EPERM)
		return bb_fail(err, rc,
			       "perf_event_open: %s; CAP_PERFMON is missing: run as root, with "
			       "sudo",
			       strerror(-rc));
	if (rc == -ENOSYS || rc == -ENOENT || rc == -EOPNOTSUPP)
		return bb_fail(err, -ENOTSUP,
			       "this kernel has no such perf event (perf_event_open: %s)",
			       strerror(-rc));
	if (rc)
		return bb_fail(err, rc, "perf_event_open: %s", strerror(-rc));
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, prog_fd)) {
		rc = -errno;
		close(fd);
		return bb_fail(err, rc,
			       "cannot attach the program to a perf event: %s; its section must be "
			       "SEC(\"perf_event\"); other types are driven by `trigger: test-run`",
			       strerror(-rc));
	}
	*ret_fd = fd;
	return 0;
}

int bb_perf_event__enable(int fd)
{
	return ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) ? -errno : 0;
}

int bb_perf_event__disable(int fd)
{
	return ioctl(fd, PERF_EVENT_IOC_DISABLE, 0) ? -errno : 0;
}
