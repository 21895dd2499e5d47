/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* Returns the folder "events" of tracefs, which has all tracepoints while tracefs is mounted. */
const char *bb_tracepoint__folder(void);

/* Finds the full name of a tracepoint, such as "sched/sched_switch". The untrusted `name` is
 * "sched_switch", "sched/sched_switch", or "id 372". Returns false, and leaves `ret_full`
 * unchanged, unless exactly one tracepoint fits `name`. */
bool bb_tracepoint__find(const char *name, char *ret_full, size_t size);

/* Reads the number in a name like "id 372". Returns false for any other name. */
bool bb_tracepoint__number(const char *name, unsigned long long *ret_id);

#define BB_CGROUP2_REMEDY                                                                          \
	"sudo mount -t cgroup2 none /sys/fs/cgroup (to any empty folder if version 1 is there)"

/* Finds the folder where cgroup2 is mounted. Returns false without one. */
bool bb_cgroup2__find(char *ret_path, size_t size);
