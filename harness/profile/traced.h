/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "profile/cache_model.h"
#include "profile/stacks.h"

/* Machine instructions of one kernel function, executed for one line of the program
 * (bb_traced.parts) or for one function that the program called (bb_traced.calls). */
struct bb_traced_part {
	/* index in bb_traced.lines, or the called function's name in bb_traced.stacks.names */
	size_t of;
	uint32_t name; /* kernel function, index in bb_traced.stacks.names */
	uint64_t n;
};

struct bb_traced_line {
	uint32_t number;      /* 0 if unknown */
	const char *text;     /* source of the line; points into the text of bb_traced__read() */
	uint64_t own, called; /* executed instructions of the line, and of functions it called */
};

/* one run of a program, instruction by instruction */
struct bb_traced {
	const char *name, *object; /* both point into the text of bb_traced__read() */
	/* Machine instructions of the run: `ns` by the guest's clock, and `n` in the trace between
	 * two readings of this clock. `n` is 0 if the trace has no whole run, for example because a
	 * run is too long. */
	uint64_t ns, n;
	/* accesses of the run by cache level, from a model that n_warm earlier runs have filled */
	struct bb_cache_counts cache;
	size_t n_warm;
	uint64_t around;              /* instructions that call and time the program */
	struct bb_traced_line *lines; /* in the order of their first instructions */
	size_t n_lines;
	/* for lines, for called functions; sorted by `of`, then by `n`, the largest first */
	struct bb_traced_part *parts, *calls;
	size_t n_parts, n_calls;
	struct bb_stacks stacks; /* folded: functions of the kernel, and lines of the program */
};

/* Reads `text` that a guest with marks wrote (bpf/marks.h), and the file `trace_fd` of QEMU's
 * plugin (bpf/trace_record.h). Stores one bb_traced for each program: the last run whose
 * instructions are as many as the guest's clock counted, or else the last run. Overwrites parts of
 * `text`, which must live as long as the result. Returns 0, or -errno with a message. Free the
 * result with bb_traced__free(), also after an error. */
int bb_traced__read(char *text, int trace_fd, struct bb_traced **ret_traced, size_t *ret_n,
		    struct bb_err *err);
void bb_traced__free(struct bb_traced *traced, size_t n);
