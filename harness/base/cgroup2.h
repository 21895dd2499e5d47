/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BASE_CGROUP2_H
#define BB_BASE_CGROUP2_H

#include <stdbool.h>
#include <stddef.h>

#define BB_CGROUP2_REMEDY                                                                          \
	"sudo mount -t cgroup2 none /sys/fs/cgroup (to any empty folder if version 1 is there)"

/* The folder where the cgroup2 file system is mounted. False: nowhere. */
bool bb_cgroup2__find(char *ret_path, size_t size);

#endif
