/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BASE_KERNEL_FS_H
#define BB_BASE_KERNEL_FS_H

#include "base/std.h"

/* The folder of all tracepoints, where a tracefs is mounted. */
const char *bb_tracepoint__folder(void);

/*
 * The tracepoint "sched/sched_switch" of `name`: "sched_switch", "sched/sched_switch", or its
 * number, "id 372", which is all that some captures know. `name` may be anybody's. false: there is
 * none, or several, or no tracefs is mounted, and ret_full stays.
 */
bool bb_tracepoint__find(const char *name, char *ret_full, size_t size);

/* The number in "id 372"; false: it is a name. */
bool bb_tracepoint__number(const char *name, unsigned long long *ret_id);

#define BB_CGROUP2_REMEDY                                                                          \
	"sudo mount -t cgroup2 none /sys/fs/cgroup (to any empty folder if version 1 is there)"

/* The folder where the cgroup2 file system is mounted. False: nowhere. */
bool bb_cgroup2__find(char *ret_path, size_t size);

#endif
