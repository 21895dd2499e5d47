/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PROFILE_DEMANGLE_H
#define BB_PROFILE_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The name of a function as its source has it, of that which C++ or Rust compilers make of it (by
 * libiberty): without parameters, and without the hash of Rust. False: it is none, or is malformed,
 * or too long, or would take more than `size` bytes with its NUL. Names are somebody else's: some
 * few bytes can stand for a name without end, of which no more than this is made.
 */
bool bb_demangle(const char *name, char *ret_text, size_t size);

#endif
