/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_FIRE_USER_FUNCTION_H
#define BB_FIRE_USER_FUNCTION_H

#include <stdint.h>

#include "base/err.h"
#include "fire/user_elf.h"

/*
 * Functions in a file, as SEC("uprobe/FILE:FUNCTION+OFFSET") names them, or a static probe
 * (sys/sdt.h), as SEC("usdt/FILE:PROVIDER:NAME") does. FILE is a path, or the name of a library
 * ("libc.so.6") or of a program on $PATH; FUNCTION a name, a pattern ("mem*") or an address.
 */
struct bb_user_target {
	char path[4096];
	char function[200]; /* "": the address `offset`, or a static probe */
	char provider[128], probe[128];
	uint64_t offset; /* behind the beginning of the function */
};

/* Finds the file, too. With a message: -ENOTSUP: `text` names no function or probe of a file;
 * -ENOENT: there is no such file; -EINVAL. */
int bb_user_target__parse(const char *text, bool is_probe, struct bb_user_target *ret_target,
			  struct bb_err *err);

/*
 * And where it is in the file: one place of a function, each place of a pattern or static probe
 * once. free() what is returned. With a message: -ENOENT: no such file, function or probe, or the
 * file cannot be read; -ENOTSUP: it cannot be known (the file is stripped); -ENOMEM, -EINTR,
 * -ETIME; others: bb_is_shortage().
 */
int bb_user_target__find(const char *text, bool is_probe, struct bb_user_target *ret_target,
			 struct bb_user_places **ret_places, struct bb_err *err);

/* The prototype of the function in user space that `text` names; zeros where it is not known. */
void bb_user_target__prototype(const char *text, struct bb_user_prototype *ret_prototype);

/*
 * A function that does nothing, to put programs of functions on (BB_AT_OWN_FUNCTION): they find
 * these six values where the arguments of a function are, and `ret` where its result is.
 */
uint64_t bb_own_function(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f,
			 uint64_t ret);

/* The place of that function; free() it. */
int bb_own_function__find(char *ret_path, size_t size, struct bb_user_places **ret_places,
			  struct bb_err *err);

#endif
