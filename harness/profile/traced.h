/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "profile/cache_model.h"
#include "profile/stacks.h"

/* Machine instructions of one function of the kernel, executed on behalf of one line of the program
 * (bb_traced.parts) or of one function that the program called (bb_traced.calls). */
struct bb_traced_part {
	/* index of that line in bb_traced.lines, or of the called function's name in
	 * bb_traced.stacks.names */
	size_t of;
	uint32_t name; /* index of the kernel's function in bb_traced.stacks.names */
	uint64_t n;    /* number of executed instructions */
};

struct bb_traced_line {
	uint32_t number;      /* line number; 0: unknown */
	const char *text;     /* source of the line; points into the text of bb_traced__read() */
	uint64_t own, called; /* executed instructions of the line, and of functions it called */
};

/* One run of a program, instruction by instruction. */
struct bb_traced {
	/* name of the program and path of its object; both point into the text of
	 * bb_traced__read() */
	const char *name, *object;
	/* ns: machine instructions of the run, as the guest's clock counted them. n: machine
	 * instructions that the trace has between the two readings of this clock; 0 if the trace
	 * has no whole run, for example because a run is too long. */
	uint64_t ns, n;
	/* accesses to these instructions and to their data, by cache level. They come from a model
	 * of caches, which n_warm earlier runs of the program have filled. */
	struct bb_cache_counts cache;
	size_t n_warm;
	uint64_t around;              /* instructions that call and time the program */
	struct bb_traced_line *lines; /* lines[n_lines], in the order of their first instructions */
	size_t n_lines;
	/* parts[n_parts] are for lines, calls[n_calls] for called functions. Both are sorted by
	 * `of`, then by `n`, the largest first. */
	struct bb_traced_part *parts, *calls;
	size_t n_parts, n_calls;
	struct bb_stacks stacks; /* folded: functions of the kernel, and lines of the program */
};

/* Reads `text`, which a guest with marks wrote (bpf/marks.h), and the file `trace_fd`, to which
 * QEMU's plugin wrote while the guest ran (bpf/trace_record.h). Stores one bb_traced for each
 * program in (*ret_traced)[*ret_n]. Of each program, takes the last run whose instructions are as
 * many as the guest's clock counted or, if there is none, the last run. Overwrites parts of `text`,
 * which must live as long as the result. Returns 0, or -errno with a message. Free the result with
 * bb_traced__free(), also after an error. */
int bb_traced__read(char *text, int trace_fd, struct bb_traced **ret_traced, size_t *ret_n,
		    struct bb_err *err);
void bb_traced__free(struct bb_traced *traced, size_t n);
