/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* Returns the path of the folder "events" of tracefs, which has all tracepoints. The path is
 * valid only while tracefs is mounted. */
const char *bb_tracepoint__folder(void);

/*
 * Finds the full name of a tracepoint, such as "sched/sched_switch". `name` is "sched_switch",
 * "sched/sched_switch", or "id 372" (some captures know only the number), and is untrusted. Returns
 * false, and leaves `ret_full` unchanged, if `name` fits no tracepoint or more than one, or if
 * tracefs is not mounted.
 */
bool bb_tracepoint__find(const char *name, char *ret_full, size_t size);

/* Reads the number in a name such as "id 372". Returns false for a name of another form. */
bool bb_tracepoint__number(const char *name, unsigned long long *ret_id);

#define BB_CGROUP2_REMEDY                                                                          \
	"sudo mount -t cgroup2 none /sys/fs/cgroup (to any empty folder if version 1 is there)"

/* Finds the folder where cgroup2 is mounted. Returns false if cgroup2 is not mounted. */
bool bb_cgroup2__find(char *ret_path, size_t size);
