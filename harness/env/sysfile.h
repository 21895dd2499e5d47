/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_ENV_SYSFILE_H
#define BB_ENV_SYSFILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

/*
 * Small text files below /proc and /sys. `root` is put before every path: "" is the real machine, a
 * directory with the same layout is a test's.
 */

/* "root" + "path" into `ret_path`. 0 or -ENAMETOOLONG. */
int bb_sysfile__path(const char *root, const char *path, char *ret_path, size_t size);

/* The file below root, to read. 0 or -errno with a message. */
int bb_sysfile__open(const char *root, const char *path, FILE **ret_file, struct bb_err *err);

/*
 * The whole file without the white space at its end, cut to size - 1 bytes when longer (size >= 1).
 * 0 or -errno; ret_text is meaningful only on success.
 */
int bb_sysfile__read(const char *root, const char *path, char *ret_text, size_t size);

/* A file that holds one number. 0, or -errno (-EINVAL when it holds something else). */
int bb_sysfile__read_u64(const char *root, const char *path, uint64_t *ret_value);

/* How many CPUs a list like "0-3,5" names; an empty list names none. 0, or -EINVAL when it is no
 * such list. */
int bb_cpulist_count(const char *list, uint32_t *ret_n);

#endif
