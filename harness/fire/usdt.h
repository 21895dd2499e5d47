/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_FIRE_USDT_H
#define BB_FIRE_USDT_H

#include "base/err.h"
#include "fire/user_elf.h"

/*
 * A static probe in a file (sys/sdt.h), as SEC("usdt/FILE:PROVIDER:NAME") names it. FILE is as in
 * fire/user_function.h.
 */
struct bb_usdt {
	char path[4096];
	char provider[128], name[128];
};

/* The path alone; errors as of bb_user_file__find(). */
int bb_usdt__find_file(const char *target, struct bb_usdt *ret_usdt, struct bb_err *err);

/* And the places of its notes in the section .note.stapsdt, in their order; free() them. Errors as
 * of bb_user_elf__find(), too. */
int bb_usdt__find(const char *target, struct bb_usdt *ret_usdt, struct bb_user_places **ret_places,
		  struct bb_err *err);

#endif
