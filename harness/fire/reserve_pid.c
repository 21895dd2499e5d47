/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fire/reserve_pid.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/child.h"

#define FIRST_PID_NAMESPACE 0xEFFFFFFCU /* its inode, include/linux/proc_ns.h */

static int end_at_once(void *arg, int link_fd)
{
	(void)arg;
	(void)link_fd;
	return 0;
}

int bb_reserve_pid(pid_t *ret_pid, struct bb_err *err)
{
	static const struct bb_child_rules rules = {0};
	struct bb_child c;
	struct stat st;
	int rc;

	if (stat("/proc/self/ns/pid", &st) || st.st_ino != FIRST_PID_NAMESPACE)
		return bb_fail(err, -ENOTSUP,
			       "{pid: self}: bpfbench runs in a PID namespace, and does not know "
			       "which pid programs see there");
	rc = bb_child__start(&rules, end_at_once, NULL, &c);
	if (rc)
		return bb_fail(err, rc, "fork: %s", strerror(-rc));
	*ret_pid = c.pid;
	bb_wait_for(c.pid);
	return 0;
}
