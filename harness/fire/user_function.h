/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_FIRE_USER_FUNCTION_H
#define BB_FIRE_USER_FUNCTION_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/*
 * A function in a file, as SEC("uprobe/FILE:FUNCTION+OFFSET") names it: FILE is a path, or the name
 * of a library ("libc.so.6") or of a program on $PATH.
 */
struct bb_user_function {
	char path[4096];
	char name[200]; /* "" where the place is an address */
	uint64_t file_offset;
};

/* -ENOENT with a message: no such file, or no such function in it (a stripped file: it says so). */
int bb_user_function__find(const char *target, struct bb_user_function *ret_function,
			   struct bb_err *err);

/* The same of a function of ours, from its address. */
int bb_user_function__of_ours(const void *address, struct bb_user_function *ret_function,
			      struct bb_err *err);

#endif
