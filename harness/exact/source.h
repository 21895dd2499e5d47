/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "core/line_figures.h"
#include "exact/cfg.h"

/* Turn counts of basic blocks into counts of source lines, by the line information in BTF, and of
 * calls. The caller owns the lists and the texts in them. */

/* Returns the lines, each with all its inlined copies, sorted by file and line. Line 0 is code that
 * the compiler added. */
void bb_source_lines(const struct bb_code *code, const struct bb_cfg *g, const uint64_t *counts,
		     struct bb_counted_line **ret_lines, size_t *ret_n);

/* Returns the helpers and kfuncs that the program may call, sorted by id, helpers first. */
void bb_source_calls(const struct bb_code *code, const struct bb_cfg *g, const uint64_t *counts,
		     struct bb_counted_call **ret_calls, size_t *ret_n);
