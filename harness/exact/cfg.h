/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_EXACT_CFG_H
#define BB_EXACT_CFG_H

#include "base/err.h"
#include "base/std.h"
#include "bpf/code.h"
#include "bpf/insn.h"

/* The program itself, which is the first one, or a subprogram: slots [first, end). */
struct bb_func {
	uint32_t first, end;
	uint32_t type_id; /* of its BTF_KIND_FUNC; 0: unknown */
};

/*
 * Slots [first, end) that are executed one after the other or not at all: nothing jumps into the
 * middle, and only the last one can jump or leave the program. Calls of functions and helpers are
 * in the middle: they come back.
 */
struct bb_basic_block {
	uint32_t first, end;
	uint32_t last; /* slot of the last instruction: end - 1, or end - 2 */
	uint32_t n_insns;
	uint32_t func;
};

struct bb_cfg {
	struct bb_func *funcs; /* by place */
	uint32_t n_funcs;
	struct bb_basic_block *blocks; /* by place: all slots are in one */
	uint32_t n_blocks;
	uint32_t *block_of; /* by slot */
};

/* -ENOTSUP for indirect jumps; -EINVAL for code that no verifier would accept. */
int bb_cfg__make(const struct bb_code *code, struct bb_cfg *ret_cfg, struct bb_err *err);
void bb_cfg__done(struct bb_cfg *g);

/* Blocks that may follow block `b` in its function, into ret[2]; how many. */
unsigned int bb_cfg__next(const struct bb_cfg *g, const struct bb_code *code, uint32_t b,
			  uint32_t *ret_next);

/* The function that an instruction is in. */
static inline uint32_t bb_cfg__func_at(const struct bb_cfg *g, uint32_t slot)
{
	return g->blocks[g->block_of[slot]].func;
}

/* The function whose call, or address, is at that slot. */
static inline uint32_t bb_cfg__callee(const struct bb_cfg *g, const struct bb_code *code,
				      uint32_t slot)
{
	return bb_cfg__func_at(g, (uint32_t)bb_insn_function_target(&code->insns[slot], slot));
}

/* Sums over the counters of blocks; counts[cfg->n_blocks] everywhere. */

/* Instructions executed, without those of helpers and other programs. A 64-bit constant is one. */
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
