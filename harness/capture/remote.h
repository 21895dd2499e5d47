/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CAPTURE_REMOTE_H
#define BB_CAPTURE_REMOTE_H

#include "base/std.h"

/* Another process, stopped in a system call of its thread `tid`. */
struct bb_remote {
	pid_t tid, tgid; /* tgid 0: bb_remote__process() */
	int pidfd;
};

/* 0 or -errno. */
int bb_remote__open(pid_t tid, struct bb_remote *ret_remote);
void bb_remote__close(struct bb_remote *r);

/* The process that the thread is of; <0: it has gone. */
pid_t bb_remote__process(struct bb_remote *r);

/* May we copy its descriptors and memory? -EPERM, -ENOSYS, or 0 for all else. */
int bb_remote__try(const struct bb_remote *r);

/* Its memory; -EFAULT where there is not all of it. */
int bb_remote__read(const struct bb_remote *r, uint64_t at, void *dest, size_t size);
/* A text of less than `size` bytes; cut where it is longer. */
int bb_remote__read_text(const struct bb_remote *r, uint64_t at, char *dest, size_t size);
/* The same of n records of `from_size` bytes each, of which we know to_size (the rest is zero where
 * theirs are shorter); *ret_records is NULL for none. free() it. */
int bb_remote__copy(const struct bb_remote *r, uint64_t at, size_t n, size_t from_size,
		    size_t to_size, void **ret_records);

/* A copy of its descriptor, close-on-exec, or -errno. */
int bb_remote__fd(const struct bb_remote *r, int fd);

#endif
