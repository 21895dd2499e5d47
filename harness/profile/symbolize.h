/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "profile/spaces.h"
#include "profile/elf_symbols.h"

/* A location of code in a mapped file. */
struct bb_code_location {
	uint32_t dso;
	uint32_t id;     /* any number that the caller chooses */
	uint64_t offset; /* offset in the file */
};

/* Called for each function at the location of index `location`, outermost first. The strings are
 * valid during the call. A return value other than 0 ends the look-up. */
typedef int (*bb_location_found)(void *arg, uint32_t location, const struct bb_elf_frame *frame);

struct bb_symbolize_result {
	/* number of files that libdw failed on or needed too long for */
	uint32_t n_damaged;
	char damaged[256]; /* names of these files, as many as fit */
};

#define BB_SYMBOLIZE_SECONDS 120u /* time limit for one file, with its debug information */

/*
 * Looks up locations[n], which are sorted by dso. Each file is untrusted, so a child process
 * without rights reads it, with limits of memory and time (`file_seconds`). If the child fails,
 * another one tries without debug information. Nothing is found in a file if that fails too, or if
 * the file has no symbols. Returns 0, or -errno with a message; -EINTR if a signal asks us to stop.
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
