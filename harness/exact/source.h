/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "exact/cfg.h"

/* Turns counts of basic blocks into counts of source lines, by the line information in BTF. */

/* One source line, with all its inlined copies. `file` and `text` point into the program's BTF. */
struct bb_source_line {
	const char *file, *text; /* "" if the BTF does not have the text */
	uint32_t line;
	uint32_t n_insns;
	/* executions of the line's most executed instruction; inlined copies are not added up */
	uint64_t executions;
	uint64_t instructions; /* executed instructions of the line */
};

/* Returns the lines sorted by file and line. The caller must free() them. Line 0 is code that the
 * compiler added. */
void bb_source_lines(const struct bb_code *code, const struct bb_cfg *g, const uint64_t *counts,
		     struct bb_source_line **ret_lines, size_t *ret_n);

struct bb_source_call {
	int32_t id; /* number of the helper, or BTF id of the kfunc */
	bool is_kfunc;
	/* "map_lookup_elem" or "bpf_iter_num_new"; "helper 999" or "kfunc 999" if unknown */
	char name[64];
	uint64_t calls;
};

/* Returns the helpers and kfuncs that the program may call, sorted by id, helpers first. The caller
 * must free() them. */
void bb_source_calls(const struct bb_code *code, const struct bb_cfg *g, const uint64_t *counts,
		     struct bb_source_call **ret_calls, size_t *ret_n);
