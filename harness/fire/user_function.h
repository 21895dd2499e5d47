/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_FIRE_USER_FUNCTION_H
#define BB_FIRE_USER_FUNCTION_H

#include <libelf.h>

#include "base/err.h"
#include "base/std.h"

/*
 * Where functions and static probes are in a program or library of other people: a regular file,
 * that a confined child reads (base/confined.h).
 */
struct bb_user_query {
	const char *path;
	const char *function; /* a name or a pattern ("mem*"); NULL: a probe is meant */
	const char *provider, *probe;
};

#define BB_MOST_ADDRESSES 4096u

struct bb_user_addresses {
	uint32_t n;                          /* >= 1 */
	uint64_t offsets[BB_MOST_ADDRESSES]; /* in the file */
	/* of probes: the offset of the counter that turns it on (0: it has none), and the number
	 * that libbpf gives to its arguments, by which the program finds them */
	uint64_t counters[BB_MOST_ADDRESSES], cookies[BB_MOST_ADDRESSES];
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
int bb_user_elf__find(const struct bb_user_query *q, struct bb_user_addresses **ret_addresses,
		      struct bb_err *err);

/* For fuzzers: the child's parts. */
int bb_user_elf__search(Elf *elf, const struct bb_user_query *q,
			struct bb_user_addresses *ret_addresses, struct bb_err *err);
int bb_user_elf__search_prototype(Elf *elf, const char *function,
				  struct bb_user_prototype *ret_prototype);

/* And ours, of a struct bb_user_addresses and a bb_user_prototype: the reply of a child that was
 * taken over may be anything. -EBADMSG. */
int bb_user_addresses__check(const void *reply);
int bb_user_prototype__check(const void *reply);

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
			 struct bb_user_addresses **ret_addresses, struct bb_err *err);

/* The prototype of the function in user space that `text` names; zeros where it is not known. */
void bb_user_target__prototype(const char *text, struct bb_user_prototype *ret_prototype);

/*
 * A function that does nothing, to put programs of functions on (BB_AT_OWN_FUNCTION): they find
 * these six values where the arguments of a function are, and `ret` where its result is.
 */
uint64_t bb_own_function(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f,
			 uint64_t ret);

/* The place of that function; free() it. */
int bb_own_function__find(char *ret_path, size_t size, struct bb_user_addresses **ret_addresses,
			  struct bb_err *err);

#endif
