/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_EXACT_SOURCE_H
#define BB_EXACT_SOURCE_H

#include "base/err.h"
#include "base/std.h"
#include "exact/cfg.h"
#include "bpf/code.h"

/* Counts of blocks as counts of source lines, by the line information in the program's BTF. */

/* A line of the source, once, wherever it was inlined. Texts are the BTF's. */
struct bb_source_line {
	const char *file, *text; /* text: "" when the BTF does not have it */
	uint32_t line;
	uint32_t n_insns; /* that stand in the program for it */
	/* the most of any of them: unrolling hides rounds, inlining hides calls */
	uint64_t executions;
	uint64_t instructions; /* executed for it, in all */
};

/* By file and line; those of line 0 are the compiler's. None without line information. free(). */
int bb_source_lines(const struct bb_code *code, const struct bb_cfg *g, const uint64_t *counts,
		    struct bb_source_line **ret_lines, size_t *ret_n, struct bb_err *err);

/* Calls of a helper or kfunc of the kernel. */
struct bb_source_call {
	int32_t id; /* of a kfunc its type in the kernel's BTF */
	bool is_kfunc;
	/* "map_lookup_elem", "bpf_iter_num_new"; "helper 999", "kfunc 999" if unknown */
	char name[64];
	uint64_t calls;
};

/* Every helper and kfunc that it may call, by number; kfuncs last. free() them. */
int bb_source_calls(const struct bb_code *code, const struct bb_cfg *g, const uint64_t *counts,
		    struct bb_source_call **ret_calls, size_t *ret_n, struct bb_err *err);

#endif
