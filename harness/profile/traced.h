/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "profile/stacks.h"

/* Instructions of one function of the kernel that were executed on behalf of one line of the
 * program, or of one function that the program called. */
struct bb_traced_part {
	size_t of;     /* index of that line in bb_traced.lines, or of that function's name in
			  bb_traced.stacks.names */
	uint32_t name; /* index of the kernel's function in bb_traced.stacks.names */
	uint64_t n;
};

struct bb_traced_line {
	uint32_t number;  /* 0: no line is known */
	const char *text; /* source of the line; valid as long as the text of bb_traced__read() */
	/* machine instructions of the line itself, and of the functions that it called */
	uint64_t own, called;
};

/* One run of a program, instruction by instruction. */
struct bb_traced {
	/* name of the program, path of its object; valid as long as the text of
	 * bb_traced__read() */
	const char *name, *object;
	/* machine instructions by the guest's clock, and by the trace between the two readings of
	 * this clock; n 0: no run was traced, or it is too long */
	uint64_t ns, n;
	uint64_t around; /* instructions before and after the program, which calls and times it */
	struct bb_traced_line *lines; /* in the order of their first instructions */
	size_t n_lines;
	/* parts: of lines; calls: of called functions; sorted by `of`, then the largest first */
	struct bb_traced_part *parts, *calls;
	size_t n_parts, n_calls;
	struct bb_stacks stacks; /* folded: functions of the kernel, and lines of the program */
};

/*
 * Reads what a guest with marks wrote, `text` (bpf/marks.h), and what QEMU's plugin wrote
 * meanwhile, the file `trace_fd` (bpf/trace_record.h). Of each program it takes the latest run
 * whose instructions are as many as the clock says, else the latest run. Changes `text`. Returns 0
 * or -errno with a message. The caller frees all by bb_traced__free().
 */
int bb_traced__read(char *text, int trace_fd, struct bb_traced **ret_traced, size_t *ret_n,
		    struct bb_err *err);
void bb_traced__free(struct bb_traced *traced, size_t n);
