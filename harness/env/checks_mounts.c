/* SPDX-License-Identifier: GPL-2.0-or-later */
/* File systems of the kernel that a machine mounts below /sys, or does not: chroots and containers.
 */
#include "env/checks_internal.h"

#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cgroup2.h"
#include "env/sysfile.h"

static bool is_mounted(const char *path, long magic)
{
	struct statfs fs;

	return !statfs(path, &fs) && fs.f_type == magic;
}

/* Whether the kernel has it: a line "nodev<TAB>NAME" of /proc/filesystems. */
static bool kernel_has(const char *name)
{
	char list[8192], line[64];

	snprintf(line, sizeof(line), "\t%s\n", name);
	if (bb_sysfile__read("", "/proc/filesystems", list, sizeof(list) - 1))
		return true; /* it cannot be known */
	strcat(list, "\n");
	return strstr(list, line);
}

/* Neither root nor a mount changes a kernel that lacks it. True when that was the answer. */
static bool set_lacking(struct bb_check_result *ret_result, const char *name, const char *without)
{
	if (kernel_has(name))
		return false;
	bb_check_set(ret_result, BB_CHECK_SKIP, NULL, "this kernel has no %s: %s", name, without);
	return true;
}

void bb_check_tracefs(struct bb_check_result *ret_result)
{
	static const char without[] = "programs on tracepoints cannot be attached";

	if (is_mounted("/sys/kernel/tracing", TRACEFS_MAGIC) ||
	    is_mounted("/sys/kernel/debug/tracing", TRACEFS_MAGIC))
		bb_check_set(ret_result, BB_CHECK_OK, NULL, "mounted");
	else if (set_lacking(ret_result, "tracefs", without))
		return;
	else if (bb_has_cap(CAP_SYS_ADMIN))
		bb_check_set(ret_result, BB_CHECK_OK, NULL,
			     "not mounted: bpfbench mounts it for itself where it attaches");
	else
		bb_check_set(ret_result, BB_CHECK_SKIP, bb_privilege_remedy(),
			     "not mounted, and only root can mount it: %s", without);
}

void bb_check_bpffs(struct bb_check_result *ret_result)
{
	static const char without[] = "nothing can be pinned, so `pinned:` finds nothing";

	if (is_mounted("/sys/fs/bpf", BPF_FS_MAGIC))
		bb_check_set(ret_result, BB_CHECK_OK, NULL, "mounted");
	else if (!set_lacking(ret_result, "bpf", without))
		bb_check_set(ret_result, BB_CHECK_SKIP, "sudo mount -t bpf bpf /sys/fs/bpf",
			     "not mounted: %s", without);
}

void bb_check_cgroup2(struct bb_check_result *ret_result)
{
	static const char without[] = "programs of cgroups cannot be attached";

	char path[100];

	if (bb_cgroup2__find(path, sizeof(path)))
		bb_check_set(ret_result, BB_CHECK_OK, NULL, "mounted at %s", path);
	else if (!set_lacking(ret_result, "cgroup2", without))
		bb_check_set(ret_result, BB_CHECK_SKIP, BB_CGROUP2_REMEDY, "not mounted: %s",
			     without);
}

void bb_check_securityfs(struct bb_check_result *ret_result)
{
	static const char without[] = "the lines lockdown and prog_lsm are incomplete";

	if (is_mounted("/sys/kernel/security", SECURITYFS_MAGIC))
		bb_check_set(ret_result, BB_CHECK_OK, NULL, "mounted");
	else if (!set_lacking(ret_result, "securityfs", without))
		bb_check_set(ret_result, BB_CHECK_SKIP,
			     "sudo mount -t securityfs securityfs /sys/kernel/security",
			     "not mounted: %s", without);
}
