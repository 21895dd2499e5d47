/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "bpf/code.h"
#include "base/insn.h"

/* A function of the program: slots [first, end). The first function is the program itself. */
struct bb_func {
	uint32_t first, end;
	uint32_t type_id; /* BTF id of its BTF_KIND_FUNC; 0 means unknown */
};

/* A basic block, slots [first, end): a run executes either all its instructions or none of them.
 * Jumps lead only to its start, and only its last instruction can jump or leave the program. Calls
 * end a basic block only if they may leave the program: tail calls and calls of kfuncs. */
struct bb_basic_block {
	uint32_t first, end;
	uint32_t last; /* slot of the last instruction: end - 1, or end - 2 if it takes two slots */
	uint32_t n_insns;
	uint32_t func;
	uint32_t next[2], n_next; /* the basic blocks that may follow it in its function */
};

struct bb_cfg {
	struct bb_func *funcs; /* sorted by slot */
	uint32_t n_funcs;
	struct bb_basic_block *blocks; /* sorted by slot; every slot is in one block */
	uint32_t n_blocks, n_insns;    /* n_insns: instructions of all blocks */
	uint32_t *block_of;            /* by slot: index of its basic block */
};

/* Divides the code into functions and basic blocks; bb_cfg__done() frees them. Fails with -ENOTSUP
 * for indirect jumps, and with -EINVAL for code that no verifier accepts. */
int bb_cfg__make(const struct bb_code *code, struct bb_cfg *ret_cfg, struct bb_err *err);
void bb_cfg__done(struct bb_cfg *g);

/* True if block `to` may follow block `from` in its function. */
static inline bool bb_cfg__leads_to(const struct bb_cfg *g, uint32_t from, uint32_t to)
{
	return BB_ANY(g->blocks[from].next, g->blocks[from].n_next, *it == to);
}

/* Returns the index of the function that contains the instruction at `slot`. */
static inline uint32_t bb_cfg__func_at(const struct bb_cfg *g, uint32_t slot)
{
	return g->blocks[g->block_of[slot]].func;
}

/* Returns the index of the function that the instruction at `slot` calls, or whose address it
 * takes. */
static inline uint32_t bb_cfg__callee(const struct bb_cfg *g, const struct bb_code *code,
				      uint32_t slot)
{
	return bb_cfg__func_at(g, (uint32_t)bb_insn_function_target(&code->insns[slot], slot));
}

/* The functions below evaluate the counters of basic blocks. Every array of counts has n_blocks
 * elements. */

/* Number of executed instructions, without those of helpers and other programs. Loading a 64-bit
 * constant is one instruction. */
uint64_t bb_counts__instructions(const struct bb_cfg *g, const uint64_t *counts);

/* Number of instructions in the basic blocks that were executed since before[] was read: those
 * whose count differs from before[]. `before` NULL: all counts were 0. */
uint32_t bb_counts__reached(const struct bb_cfg *g, const uint64_t *before, const uint64_t *counts);

/*
 * Finds the conditional jump that hides most of the program. Since before[] was read, all runs went
 * to the same target of this jump. Behind its other target are more unexecuted instructions than
 * behind that of any other jump. The search for them begins at the other target, enters called
 * functions, and ends at executed blocks. Returns the number of instructions that the search found,
 * and writes the slot of the jump to ret_at. Returns 0 if no jump hides instructions. `before`
 * NULL: all counts were 0.
 */
uint32_t bb_counts__turned_away(const struct bb_cfg *g, const struct bb_code *code,
				const uint64_t *before, const uint64_t *counts, uint32_t *ret_at);

/*
 * Finds the statement at which a run left the program; before[] and counts[] are the counts before
 * and after this run. Compilers let all paths end in one exit, so this function steps back from
 * that exit to the block of a statement such as `return XDP_DROP`, or of the check that leads to
 * the exit. Writes the slot of that block's last instruction to ret_at; if this instruction is a
 * goto, writes the slot before it. Returns false if the run ended by a tail call and not at an
 * exit, or if there were several runs.
 */
bool bb_counts__returned_at(const struct bb_cfg *g, const struct bb_code *code,
			    const uint64_t *before, const uint64_t *counts, uint32_t *ret_at);

/* Hash of the path of a run, by FNV-1a (Fowler, Noll & Vo). Runs that execute each basic block
 * equally often have the same hash. Other runs have different hashes, except for collisions of 64
 * bits. */
uint64_t bb_counts__path(const struct bb_cfg *g, const uint64_t *counts);

/* True if the counts can be those of `runs` complete runs. They cannot if another process ran the
 * program on another CPU while we reset or read the counters, because then only a part of that run
 * is counted. `in` is scratch memory for n_blocks elements. */
bool bb_counts__are_whole(const struct bb_cfg *g, const struct bb_code *code, uint64_t runs,
			  const uint64_t *counts, uint64_t *in);
