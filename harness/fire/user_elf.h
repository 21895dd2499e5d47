/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_FIRE_USER_ELF_H
#define BB_FIRE_USER_ELF_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/*
 * Where functions and static probes are in a program or library of other people: a regular file,
 * that a confined child reads (base/confined.h).
 */
struct bb_user_query {
	const char *path;
	const char *function; /* a name or a pattern ("mem*"); NULL: a probe is meant */
	const char *provider, *probe;
};

#define BB_MOST_PLACES 4096u

struct bb_user_places {
	uint32_t n;                       /* >= 1 */
	uint64_t offsets[BB_MOST_PLACES]; /* in the file */
	/* of probes: the offset of the counter that turns it on (0: it has none), and the number
	 * that libbpf gives to its arguments, by which the program finds them */
	uint64_t counters[BB_MOST_PLACES], cookies[BB_MOST_PLACES];
};

bool bb_user_query__is_pattern(const struct bb_user_query *q);

/* free() what is returned. With a message: -ESRCH: the file has functions or probes, but not that
 * one; -ENODATA: it is stripped (it says so); others, as of bb_confined__run(). */
int bb_user_elf__find(const struct bb_user_query *q, struct bb_user_places **ret_places,
		      struct bb_err *err);

/* The child's part, for fuzzers. */
int bb_user_elf__search(Elf *elf, const struct bb_user_query *q, struct bb_user_places *ret_places,
			struct bb_err *err);

/* Ours: the child's word for it that was taken over may be anything. -EBADMSG. */
int bb_user_places__check(const struct bb_user_places *p);

#endif
