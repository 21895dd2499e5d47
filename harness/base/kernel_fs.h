/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BASE_KERNEL_FS_H
#define BB_BASE_KERNEL_FS_H

#include "base/std.h"

/* Returns the folder of all tracepoints in a mounted tracefs. */
const char *bb_tracepoint__folder(void);

/*
 * Finds the full name of a tracepoint, "sched/sched_switch", from "sched_switch",
 * "sched/sched_switch", or "id 372" (some captures know only the number). `name` is untrusted.
 * Returns false if there is none or several, or no tracefs is mounted; ret_full is unchanged then.
 */
bool bb_tracepoint__find(const char *name, char *ret_full, size_t size);

/* Returns the number in "id 372"; false if it is a name. */
bool bb_tracepoint__number(const char *name, unsigned long long *ret_id);

#define BB_CGROUP2_REMEDY                                                                          \
	"sudo mount -t cgroup2 none /sys/fs/cgroup (to any empty folder if version 1 is there)"

/* Returns the mount point of cgroup2; false if it is not mounted. */
bool bb_cgroup2__find(char *ret_path, size_t size);

#endif
