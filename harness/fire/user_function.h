/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <libelf.h>

#include "base/std.h"

/* Functions in a file, as in SEC("uprobe/FILE:FUNCTION+OFFSET"), or a static probe (sys/sdt.h), as
 * in SEC("usdt/FILE:PROVIDER:NAME"). FILE is a path, a library ("libc.so.6") or a program on $PATH.
 * FUNCTION is a name, a pattern ("mem*") or an address. */
struct bb_user_target {
	char path[4096];
	char function[200]; /* "" if the target is an address or a static probe */
	char provider[128], probe[128];
	/* offset in the function or, if `function` is "", in the file */
	uint64_t offset;
};

#define BB_MOST_ADDRESSES 4096u

struct bb_user_addresses {
	uint32_t n;
	uint64_t offsets[BB_MOST_ADDRESSES]; /* offsets in the file */
	/* For static probes only. counters: offset of the semaphore that enables the probe, or 0.
	 * cookies: the number by which libbpf finds the probe's arguments. */
	uint64_t counters[BB_MOST_ADDRESSES], cookies[BB_MOST_ADDRESSES];
};

/* Kinds of parameters and results. */
enum bb_user_value {
	BB_VALUE_NONE,
	BB_VALUE_INTEGER,
	BB_VALUE_TEXT,    /* a pointer to char */
	BB_VALUE_POINTER, /* a pointer to any other type */
	BB_VALUE_FLOAT,   /* passed in a floating-point register */
	BB_N_USER_VALUES,
};

#define BB_MOST_PARAMETERS 8u

struct bb_user_prototype {
	bool is_known;
	/* the list ends before a struct that is passed by value */
	uint32_t n;
	enum bb_user_value parameters[BB_MOST_PARAMETERS], result;
};

/* True if the name is a pattern such as "mem*". */
bool bb_is_pattern(const char *function);

/* A confined child process (base/child.h) searches the untrusted file. The caller must free()
 * *ret_addresses. Returns 0, -ESRCH if the file lacks the function or probe, -ENODATA if it is
 * stripped, or an error of bb_confined__run(), with a message. */
int bb_user_elf__find(const struct bb_user_target *t, struct bb_user_addresses **ret_addresses,
		      struct bb_err *err);

/* The parts of the search that run in the child, public for fuzzers. Return 0 or -errno. */
int bb_user_elf__search(Elf *elf, const struct bb_user_target *t,
			struct bb_user_addresses *ret_addresses, struct bb_err *err);
int bb_user_elf__search_prototype(Elf *elf, const char *function,
				  struct bb_user_prototype *ret_prototype);

/* Check a reply, because a malicious file may have taken over the child. Return 0 or -EBADMSG. */
int bb_user_addresses__check(const void *reply);
int bb_user_prototype__check(const void *reply);

/* Parses `text` and finds the file. Returns 0, -ENOTSUP if `text` names no function or probe,
 * -ENOENT if there is no such file, or -EINVAL if FUNCTION is malformed. */
int bb_user_target__parse(const char *text, bool is_probe, struct bb_user_target *ret_target,
			  struct bb_err *err);

/* Parses `text` and finds the addresses: one for a function, one or more for a pattern or static
 * probe. The caller must free() *ret_addresses. Returns 0, -ENOENT if there is no such thing or the
 * file is damaged, -ENOTSUP if it is stripped, -EINTR, -ETIME, or a shortage (bb_is_shortage()). */
int bb_user_target__find(const char *text, bool is_probe, struct bb_user_target *ret_target,
			 struct bb_user_addresses **ret_addresses, struct bb_err *err);

/* Finds the prototype of a function of user space. Zeroes it if it is unknown. */
void bb_user_target__prototype(const char *text, struct bb_user_prototype *ret_prototype);

/* Returns `ret`. Programs for functions are attached here, and see `a` to `f` as arguments. */
uint64_t bb_own_function(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f,
			 uint64_t ret);

/* Finds bb_own_function() in our own file. The caller must free() *ret_addresses. Returns 0 or
 * -errno. */
int bb_own_function__find(char *ret_path, size_t size, struct bb_user_addresses **ret_addresses,
			  struct bb_err *err);
