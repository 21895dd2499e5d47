/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_FIRE_USDT_H
#define BB_FIRE_USDT_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/*
 * A static probe in a file (sys/sdt.h), as SEC("usdt/FILE:PROVIDER:NAME") names it: the places of
 * its notes in the section .note.stapsdt. FILE is as in fire/user_function.h.
 */
struct bb_usdt {
	char path[4096];
	char provider[128], name[128];
	/* [n], n >= 1, in the order of the notes: offsets in the file, those of the counter that
	 * turns the probe on (0: it has none), and the number that libbpf gives to the probe's
	 * arguments, by which the program finds them */
	uint64_t *offsets, *counters, *cookies;
	uint32_t n;
};

/* The path alone; errors as of bb_user_file__find(). */
int bb_usdt__find_file(const char *target, struct bb_usdt *ret_usdt, struct bb_err *err);

/* -ENOENT: no such file; -ESRCH: it has no such probe, with the nearest one. */
int bb_usdt__find(const char *target, struct bb_usdt *ret_usdt, struct bb_err *err);
void bb_usdt__done(struct bb_usdt *u); /* a zeroed one does no harm */

#endif
