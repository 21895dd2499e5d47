/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/*
 * An error for the user: a negative errno, and one message that says the fault, where it is, and
 * what to do. Functions that can fail take a bb_err as their last parameter, and return 0 or its
 * `code`. Only cli/ and main.c print the message.
 */
struct bb_err {
	int code; /* 0, or -errno */
	char msg[4096];
};

/* Fills `err`, which may be NULL. %m in `fmt` is the text of `code`. Returns `code`. */
int bb_fail(struct bb_err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* True if the process or machine is out of descriptors or memory. Such a failure says nothing
 * about the kernel's abilities or the object. */
bool bb_is_shortage(int code);

/* Sets the message "out of memory". Returns -ENOMEM. */
int bb_fail_nomem(struct bb_err *err);
