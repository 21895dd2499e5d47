/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_EXACT_COUNTS_H
#define BB_EXACT_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "exact/cfg.h"

/* Sums over the counters of blocks; counts[cfg->n_blocks] everywhere. */

/* Instructions executed. A 64-bit constant is one; instructions of helpers and other programs are
 * not in it. */
uint64_t bb_counts__instructions(const struct bb_cfg *g, const uint64_t *counts);

/* Instructions in blocks that were executed since the counts were `before` (NULL: 0). */
uint32_t bb_counts__reached(const struct bb_cfg *g, const uint64_t *before, const uint64_t *counts);

/*
 * One number for the path that was taken: runs that executed each block equally often have the same
 * (and others the same only by a collision in 64 bits). FNV-1a (Fowler, Noll & Vo).
 */
uint64_t bb_counts__path(const struct bb_cfg *g, const uint64_t *counts);

/*
 * Can that be `runs` whole runs? Another process may be in the midst of the program, on another
 * CPU, when the counters are set back or read: then blocks were executed whose neighbours were not.
 * `in` is scratch, [n_blocks].
 */
bool bb_counts__are_whole(const struct bb_cfg *g, const struct bb_code *code, uint64_t runs,
			  const uint64_t *counts, uint64_t *in);

#endif
