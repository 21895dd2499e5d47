/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PROFILE_SYMBOLIZE_H
#define BB_PROFILE_SYMBOLIZE_H

#include "base/err.h"
#include "base/std.h"
#include "profile/spaces.h"
#include "profile/elf_symbols.h"

/* Places in mapped files, and the functions there. */
struct bb_code_place {
	uint32_t dso;
	uint32_t id;     /* the caller's */
	uint64_t offset; /* in the file */
};

/*
 * One function at a place was found: called for each, outermost first. Strings are valid during the
 * call. 0 or -errno, which ends the whole.
 */
typedef int (*bb_place_found)(void *arg, uint32_t place, const struct bb_elf_frame *frame);

struct bb_symbolize_result {
	/* files that could only be read in part, or not at all: libdw failed on them or took too
	 * long */
	uint32_t n_damaged;
	char damaged[256]; /* names of some */
};

#define BB_SYMBOLIZE_SECONDS 120u /* for one file, its debug information included */

/*
 * Look up places[n], which are in order of dso. Each file is read in a child process without
 * rights, with limits of memory and of time, file_seconds, because it comes from others: a file
 * that the child fails on is tried again without its debug information, then given up. Nothing is
 * found of places in files without symbols. 0, -EINTR when a signal asks to stop meanwhile, other
 * -errno, with a message.
 */
int bb_symbolize(const struct bb_dsos *dsos, const struct bb_code_place *places, size_t n,
		 uint32_t file_seconds, bb_place_found found, void *arg,
		 struct bb_symbolize_result *ret_result, struct bb_err *err);

/*
 * From the name that a C++ or Rust compiler gave a function to the one in its source (by
 * libiberty): without parameters, and without Rust's hash. False: `name` is not mangled, is
 * malformed or too long, or the result would take more than `size` bytes with its NUL. Names are
 * untrusted: a few bytes can stand for an endless name, so no more than `size` bytes are made.
 */
bool bb_demangle(const char *name, char *ret_text, size_t size);

#endif
