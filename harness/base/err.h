/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BASE_ERR_H
#define BB_BASE_ERR_H

#include "base/std.h"

/*
 * An error on its way to the user: a negative errno and one message that names the fault, the place
 * and the remedy. Functions that can fail take one as their last parameter and return 0 or the same
 * -errno. Only cli/ and main.c print it.
 */
struct bb_err {
	int code; /* 0, or -errno */
	char msg[4096];
};

/* Fill `err` (which may be NULL) and return `code`, so that `return bb_fail(err, -EINVAL, ...)`
 * reads well. */
int bb_fail(struct bb_err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Has the process or the machine run out of descriptors or memory? Then a failure says nothing of
 * the kernel's abilities, nor of the object. */
bool bb_is_shortage(int code);

/* The message "out of memory", the same everywhere. Returns -ENOMEM. */
int bb_fail_nomem(struct bb_err *err);

#endif
