/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "bpf/code.h"
#include "base/insn.h"

/* A function of the program, slots [first, end). The first one is the program itself. */
struct bb_func {
	uint32_t first, end;
	uint32_t type_id; /* id of its BTF_KIND_FUNC; 0 if unknown */
};

/* A basic block, slots [first, end): a run executes all its instructions or none. A call ends a
 * block only if it may leave the program: a tail call or a call of a kfunc. */
struct bb_basic_block {
	uint32_t first, end;
	uint32_t last; /* slot of the last instruction: end - 1, or end - 2 if it takes two slots */
	uint32_t n_insns;
	uint32_t func;
	uint32_t next[2], n_next;
};

struct bb_cfg {
	struct bb_func *funcs;
	uint32_t n_funcs;
	struct bb_basic_block *blocks; /* sorted by slot; every slot is in one block */
	uint32_t n_blocks, n_insns;
	uint32_t *block_of; /* by slot: index of its basic block */
};

/* Divides the code into functions and basic blocks. Fails with -ENOTSUP for indirect jumps, and
 * with -EINVAL for code that no verifier accepts. */
int bb_cfg__make(const struct bb_code *code, struct bb_cfg *ret_cfg, struct bb_err *err);
void bb_cfg__done(struct bb_cfg *g);

static inline bool bb_cfg__leads_to(const struct bb_cfg *g, uint32_t from, uint32_t to)
{
	return BB_ANY(g->blocks[from].next, g->blocks[from].n_next, *it == to);
}

static inline uint32_t bb_cfg__func_at(const struct bb_cfg *g, uint32_t slot)
{
	return g->blocks[g->block_of[slot]].func;
}

/* Returns the function that the instruction at `slot` calls, or whose address it takes. */
static inline uint32_t bb_cfg__callee(const struct bb_cfg *g, const struct bb_code *code,
				      uint32_t slot)
{
	return bb_cfg__func_at(g, (uint32_t)bb_insn_function_target(&code->insns[slot], slot));
}

/* The functions below evaluate counts of executions, one for each basic block. */

/* Number of executed instructions, without those of helpers and other programs. Loading a 64-bit
 * constant is one instruction. */
uint64_t bb_counts__instructions(const struct bb_cfg *g, const uint64_t *counts);

/* Number of instructions in the blocks that were executed since before[] was read. NULL means all
 * zeros. */
uint32_t bb_counts__reached(const struct bb_cfg *g, const uint64_t *before, const uint64_t *counts);

/* Finds the conditional jump that hides most of the program. Since before[] was read (NULL means
 * all zeros), all runs took the same side of this jump. The other side leads to more unexecuted
 * instructions than that of any other jump, called functions included. Returns their number, or 0
 * if there is no such jump. *ret_at is the slot of the jump. */
uint32_t bb_counts__turned_away(const struct bb_cfg *g, const struct bb_code *code,
				const uint64_t *before, const uint64_t *counts, uint32_t *ret_at);

/* Finds the statement at which the run between before[] and counts[] left the program. Compilers
 * let all paths end in one exit. So this function steps back from the exit to the block of a
 * statement such as `return XDP_DROP`, or of the check that leads to the exit. *ret_at is the slot
 * of that block's last instruction that is not a goto. Returns false after several runs, or after a
 * tail call. */
bool bb_counts__returned_at(const struct bb_cfg *g, const struct bb_code *code,
			    const uint64_t *before, const uint64_t *counts, uint32_t *ret_at);

/* Hash of the path of a run, by FNV-1a (Fowler, Noll & Vo), from the count of each basic block. */
uint64_t bb_counts__path(const struct bb_cfg *g, const uint64_t *counts);

/* True if the counts can be those of `runs` complete runs. If another process runs the program
 * while we reset or read the counters, a part of its run is missing. `in` is scratch memory of
 * n_blocks elements. */
bool bb_counts__are_whole(const struct bb_cfg *g, const struct bb_code *code, uint64_t runs,
			  const uint64_t *counts, uint64_t *in);
