/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/record.h"

/* Figures of a program's source lines. The drives `exact` and `lines` measure them, a report stores
 * them, and report/records.c explains the members. */

struct bb_counted_line {
	char *file, *text;
	uint32_t line, n_insns;
	uint64_t executions, instructions;
};

struct bb_counted_call {
	/* "map_lookup_elem"; "helper 999" or "kfunc 1234" if libbpf or the kernel's BTF has no name
	 * for it */
	char *name;
	uint64_t calls;
};

/* A struct bb_timed has the results of the drive `lines` for one case: the time that each source
 * line of a run takes, and each call in a line. A struct bb_numbers of times has one time per load,
 * ns. A time is NAN if it was not measured in that load. */
struct bb_timed_call {
	uint32_t line;
	char *call; /* "parse()" */
};

struct bb_timed_row {
	char *file, *text, *call; /* text: the source code of `line` */
	struct bb_timed_call *from;
	size_t n_from;
	bool enters;
	/* the first and the last line of the row; they differ only for a loop or for code that was
	 * not divided into lines */
	uint32_t line, last_line;
	uint32_t insn;
	bool is_loop;
	uint64_t turns;
	/* first_ns has only the part of the row that comes first on the path. In a loop, this is
	 * the first iteration. */
	struct bb_numbers ns, first_ns;
};

struct bb_timed {
	char *name, *scenario, *variant, *drive, *param;
	uint32_t param_value;
	uint32_t cuts, points, refused;
	char *thinned_why, *refused_why;
	uint64_t passed, measured, runs, other_ways;
	double check_ns;
	bool leaves, counts_instructions;
	uint32_t processes;
	uint64_t sweeps, disturbed;
	/* hidden_ns is the time of the exit path. The rows contain this time. The time of the
	 * program does not, because the CPU executes the program's own exit at the same time as
	 * earlier instructions. It is 0 if `leaves`, or if rest_ns contains the difference between
	 * rows and program. */
	struct bb_numbers program_ns, empty_ns, hidden_ns, rest_ns;
	struct bb_timed_row *rows; /* in the order in which a run first reaches them */
	size_t n_rows;
};

/* Sets row->from, the calls that lead to the row, from a text such as "97 f();45 g()". */
void bb_timed_row__set_from(struct bb_timed_row *row, const char *text);
/* Compares the calls that lead to two rows, but only the first n calls of each row. The result is
 * like that of strcmp(). */
int bb_timed_row__compare_from(const struct bb_timed_row *a, const struct bb_timed_row *b,
			       size_t n);

bool bb_timed__is_cold(const struct bb_timed *t); /* caches were emptied before each run */
