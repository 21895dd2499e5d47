/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PROFILE_SYMBOLIZE_CHILD_H
#define BB_PROFILE_SYMBOLIZE_CHILD_H

#include "profile/symbolize.h"

/*
 * The process that reads other people's files. It gives all its rights up first (base/confine.h),
 * then answers for one file after the other into `out_fd`: for each place that it knows, struct
 * bb_symbol_answer for each function there, followed by its strings; after the last of a file, one
 * with `place` BB_END_OF_FILE. In native byte order.
 */
#define BB_END_OF_FILE UINT32_MAX
#define BB_MAX_SYMBOL_NAME 4096u

struct bb_symbol_answer {
	uint32_t place, line;
	uint64_t start, distance;
	uint16_t function_len, file_len; /* file_len 0: not known */
	uint32_t is_inlined;
};

struct bb_symbolize_work {
	const struct bb_dsos *dsos;
	const struct bb_code_place *places;
	size_t n;
	enum bb_elf_depth *depths; /* for each dso */
};

/* The end of the places in the same file as places[from]. */
size_t bb_symbolize_work__end_of_file(const struct bb_symbolize_work *w, size_t from);

/* After fork(): the places from `from` on. Debug files are asked for over `socket`. */
void bb_symbolize_child__run(const struct bb_symbolize_work *w, size_t from, int out_fd, int socket,
			     pid_t parent) __attribute__((noreturn));

#endif
