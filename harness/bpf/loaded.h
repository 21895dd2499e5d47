/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BPF_LOADED_H
#define BB_BPF_LOADED_H

#include "base/err.h"
#include "base/std.h"

/*
 * The programs that are in the kernel, whichever process loaded them. A descriptor of one keeps it
 * alive: its owner's unload waits for our close, so nobody here holds one for longer than a
 * measurement needs.
 */
#define BB_LOADED_NAME 128

struct bb_loaded {
	uint32_t id;
	uint32_t type; /* BPF_PROG_TYPE_* */
	/* of its function, whole where it has BTF, else its first 15 bytes; may be empty */
	char name[BB_LOADED_NAME];
};

/*
 * The id that follows `id` (0: the first); -ENOENT behind the last, without a message. -EPERM
 * without CAP_SYS_ADMIN.
 */
int bb_loaded__next(uint32_t id, uint32_t *ret_id, struct bb_err *err);

/* A descriptor, close-on-exec. -ENOENT: there is no such program (any more), said so; -EINVAL: the
 * pin is of something else. */
int bb_loaded__open(uint32_t id, int *ret_fd, struct bb_err *err);
int bb_loaded__open_pinned(const char *path, int *ret_fd, struct bb_err *err);

/* Read the name, type and tag of an open one. 0 or -errno with a message. */
int bb_loaded__read(int fd, struct bb_loaded *ret_loaded, struct bb_err *err);

#endif
