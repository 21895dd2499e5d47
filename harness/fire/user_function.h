/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <libelf.h>

#include "base/std.h"

/* Functions in a file, as SEC("uprobe/FILE:FUNCTION+OFFSET") names them, or a static probe
 * (sys/sdt.h), as SEC("usdt/FILE:PROVIDER:NAME") does. FILE is a path, or the name of a library
 * ("libc.so.6") or of a program on $PATH. FUNCTION is a name, a pattern ("mem*") or an address. */
struct bb_user_target {
	char path[4096];
	char function[200]; /* "": the target is the address `offset`, or a static probe */
	char provider[128], probe[128];
	/* offset from the beginning of the function or, if `function` is "", of the file */
	uint64_t offset;
};

#define BB_MOST_ADDRESSES 4096u

struct bb_user_addresses {
	uint32_t n;                          /* number of addresses, at least 1 */
	uint64_t offsets[BB_MOST_ADDRESSES]; /* offsets in the file */
	/* For static probes only. counters: offset of the semaphore that enables the probe; 0: it
	 * has no semaphore. cookies: the number by which libbpf finds the arguments of the probe.
	 */
	uint64_t counters[BB_MOST_ADDRESSES], cookies[BB_MOST_ADDRESSES];
};

/* Kind of a function's parameter or result. */
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
	/* number of parameters, at most BB_MOST_PARAMETERS; the list ends before a struct passed by
	 * value */
	uint32_t n;
	enum bb_user_value parameters[BB_MOST_PARAMETERS], result;
};

/* True if the name of a function is a pattern ("mem*"). */
bool bb_is_pattern(const char *function);

/* Searches the untrusted file for the function or, if `function` is "", for the static probe. The
 * file must be a regular file. A confined child process reads it (base/child.h). The caller must
 * free() *ret_addresses. Errors, with a message: -ESRCH if the file lacks this function or probe,
 * -ENODATA if the file is stripped, or an error of bb_confined__run(). */
int bb_user_elf__find(const struct bb_user_target *t, struct bb_user_addresses **ret_addresses,
		      struct bb_err *err);

/* The parts of the search that run in the child process; public for fuzzers. Return 0 or -errno. */
int bb_user_elf__search(Elf *elf, const struct bb_user_target *t,
			struct bb_user_addresses *ret_addresses, struct bb_err *err);
int bb_user_elf__search_prototype(Elf *elf, const char *function,
				  struct bb_user_prototype *ret_prototype);

/* Check a reply (struct bb_user_addresses, struct bb_user_prototype), because a malicious file may
 * have taken over the child. Return 0 or -EBADMSG. */
int bb_user_addresses__check(const void *reply);
int bb_user_prototype__check(const void *reply);

/* Parses `text` and finds the file. Returns 0 or, with a message: -ENOTSUP if `text` names no
 * function or probe, -ENOENT if there is no such file, -EINVAL if FUNCTION is malformed. */
int bb_user_target__parse(const char *text, bool is_probe, struct bb_user_target *ret_target,
			  struct bb_err *err);

/*
 * Parses `text` and finds the addresses: one for a function, one or more for a pattern or static
 * probe, each once. The caller must free() *ret_addresses. Errors, with a message: -ENOENT if there
 * is no such file, function or probe, or if the file is damaged; -ENOTSUP if the file is stripped;
 * -EINTR, -ETIME; or an error for which bb_is_shortage() is true.
 */
int bb_user_target__find(const char *text, bool is_probe, struct bb_user_target *ret_target,
			 struct bb_user_addresses **ret_addresses, struct bb_err *err);

/* Finds the prototype of the function of user space that `text` names; zeros if it is unknown. */
void bb_user_target__prototype(const char *text, struct bb_user_prototype *ret_prototype);

/* A function that does nothing but return `ret`. Programs for functions are attached to it
 * (BB_AT_OWN_FUNCTION) and see `a` to `f` as arguments. */
uint64_t bb_own_function(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f,
			 uint64_t ret);

/* Finds the file and the address of bb_own_function(). The caller must free() *ret_addresses.
 * Returns 0, or -errno with a message. */
int bb_own_function__find(char *ret_path, size_t size, struct bb_user_addresses **ret_addresses,
			  struct bb_err *err);
