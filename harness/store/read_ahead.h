/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_STORE_READ_AHEAD_H
#define BB_STORE_READ_AHEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <time.h>

#include "base/err.h"
#include "report/report.h"

/* Stored runs, read by as many threads as there are CPUs and handed out in the order of their
 * names: most of the time goes into parsing. At most a few dozen are in memory at once. */
struct bb_read_ahead;

struct bb_read_run {
	const char *name;
	struct stat st; /* zeroed: there is no such file */
	struct timespec read_at;
	struct bb_report *report; /* free it; NULL: not wanted, or err says why not */
	struct bb_err err;
};

/*
 * Begin to read DIR/NAME.json of n names. `wanted` is called by the threads, with name and st;
 * where it says no, the file is not read. Arguments are borrowed until bb_read_ahead__free(). NULL
 * without memory.
 */
struct bb_read_ahead *bb_read_ahead__new(const char *dir, char *const *names, size_t n,
					 bool (*wanted)(void *arg, const struct bb_read_run *run),
					 void *arg);

/* The next one: false after the last, and once a signal asked us to stop. */
bool bb_read_ahead__next(struct bb_read_ahead *a, struct bb_read_run *ret_run);

void bb_read_ahead__free(struct bb_read_ahead *a);

#endif
