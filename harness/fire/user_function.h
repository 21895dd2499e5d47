/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_FIRE_USER_FUNCTION_H
#define BB_FIRE_USER_FUNCTION_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "fire/user_elf.h"

/*
 * A function in a file, as SEC("uprobe/FILE:FUNCTION+OFFSET") names it: FILE is a path, or the name
 * of a library ("libc.so.6") or of a program on $PATH.
 */
struct bb_user_function {
	char path[4096];
	char name[200]; /* "" where the place is an address */
	uint64_t file_offset;
};

/* The path of a file by name: a path, a library, a program. -ENOENT with a message. */
int bb_user_file__find(const char *name, char *ret_path, size_t size, struct bb_err *err);

/* With a message: -ENOENT: no such file; -ENODATA: it is stripped; -ESRCH: the file has functions,
 * but not that one. */
int bb_user_function__find(const char *target, struct bb_user_function *ret_function,
			   struct bb_err *err);

/* The places of all whose names match "FILE:mem*", each once; or of the one that is named. `f` has
 * the path then. free() what is returned. Errors likewise. */
int bb_user_function__find_all(const char *target, struct bb_user_function *f,
			       struct bb_user_places **ret_places, struct bb_err *err);

/* The same of a function of ours, from its address. */
int bb_user_function__of_ours(const void *address, struct bb_user_function *ret_function,
			      struct bb_err *err);

#endif
