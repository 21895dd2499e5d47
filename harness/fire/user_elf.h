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

/* What a function takes or returns, as far as it matters to a caller. */
enum bb_user_value {
	BB_VALUE_NONE,
	BB_VALUE_INTEGER,
	BB_VALUE_TEXT,    /* a pointer to char */
	BB_VALUE_POINTER, /* to all else */
	BB_VALUE_FLOAT,   /* in a register of its own kind */
	BB_N_USER_VALUES,
};

#define BB_MOST_PARAMETERS 8u

struct bb_user_prototype {
	bool is_known;
	uint32_t n; /* <= BB_MOST_PARAMETERS; those behind a struct that is passed whole are left
		       out */
	enum bb_user_value parameters[BB_MOST_PARAMETERS], result;
};

bool bb_is_pattern(const char *function);

/* free() what is returned. With a message: -ESRCH: the file has functions or probes, but not that
 * one; -ENODATA: it is stripped (it says so); others, as of bb_confined__run(). */
int bb_user_elf__find(const struct bb_user_query *q, struct bb_user_places **ret_places,
		      struct bb_err *err);

/* The prototype of `function`, by the file's debugging information. -ENODATA: it has none;
 * -ESRCH: it does not have that function; others, as of bb_confined__run(). */
int bb_user_elf__find_prototype(const char *path, const char *function,
				struct bb_user_prototype *ret_prototype, struct bb_err *err);

/* For fuzzers: the child's parts. */
int bb_user_elf__search(Elf *elf, const struct bb_user_query *q, struct bb_user_places *ret_places,
			struct bb_err *err);
int bb_user_elf__search_prototype(Elf *elf, const char *function,
				  struct bb_user_prototype *ret_prototype);

/* And ours: the reply of a child that was taken over may be anything. -EBADMSG. */
int bb_user_places__check(const struct bb_user_places *p);
int bb_user_prototype__check(const struct bb_user_prototype *p);

#endif
