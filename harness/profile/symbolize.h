/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PROFILE_SYMBOLIZE_H
#define BB_PROFILE_SYMBOLIZE_H

#include "base/err.h"
#include "base/std.h"
#include "profile/spaces.h"
#include "profile/elf_symbols.h"

/* A location in a mapped file. */
struct bb_code_location {
	uint32_t dso;
	uint32_t id;     /* chosen by the caller */
	uint64_t offset; /* in the file */
};

/* Called for each function at a location, outermost first. Strings are valid during the call. A
 * return value other than 0 ends the look-up. */
typedef int (*bb_location_found)(void *arg, uint32_t location, const struct bb_elf_frame *frame);

struct bb_symbolize_result {
	/* files that libdw failed on or needed too long for */
	uint32_t n_damaged;
	char damaged[256]; /* some of their names */
};

#define BB_SYMBOLIZE_SECONDS 120u /* per file, with its debug information */

/*
 * Looks up locations[n], which are sorted by dso. Each file is untrusted, so a child process
 * without rights reads it, with limits of memory and time (file_seconds). If the child fails, it is
 * tried again without debug information, and then given up. Locations in files without symbols are
 * not found. Returns 0, -EINTR if a signal asks us to stop, or -errno, with a message.
 */
int bb_symbolize(const struct bb_dsos *dsos, const struct bb_code_location *locations, size_t n,
		 uint32_t file_seconds, bb_location_found found, void *arg,
		 struct bb_symbolize_result *ret_result, struct bb_err *err);

/*
 * Demangles a C++ or Rust name by libiberty, without parameters and without Rust's hash. Returns
 * false if `name` is not mangled, is malformed or too long, or if the result needs more than `size`
 * bytes with its NUL. Names are untrusted and a few bytes can stand for an endless name, so output
 * stops at `size` bytes.
 */
bool bb_demangle(const char *name, char *ret_text, size_t size);

#endif
