/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Random XDP programs for the instruction counts: arithmetic on all ten registers, stack and
 * atomics, branches, loops by constants and by data, functions (static and global), callbacks, map
 * lookups, exits in the middle. All end, and the verifier accepts most. A program's number is its
 * seed.
 */
#include <bpf/btf.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/rng.h"

#define GEN_INSNS 4096
#define GEN_FUNCS 4
#define GEN_SLOTS 6 /* of 8 bytes, on the stack of each function */
#define GEN_TRACE 8
#define GEN_PACKET 16 /* bytes of a packet that the program needs */

struct gen {
	struct bb_rng rng;
	struct bpf_insn insns[GEN_INSNS];
	uint32_t n;
	/* registers that statements must not write: the counters of the loops around them */
	uint32_t busy;
	int map_fd; /* an array of 8 values of 8 bytes */
	/* a map with one value of GEN_TRACE words; one in three statements writes a word; -1: no
	 * trace */
	int trace_fd;
	uint32_t n_funcs;
	struct {
		uint32_t first;
		bool is_callback, is_global;
	} funcs[GEN_FUNCS]; /* funcs[0] is the program */
	struct {
		uint32_t at;
		uint32_t func;
	} calls[256]; /* calls whose target is set when all functions are there */
	uint32_t n_calls;
	uint32_t func; /* index of the function that is being made */
};

static inline uint32_t gen_below(struct gen *g, uint32_t n)
{
	return (uint32_t)bb_rng_below(&g->rng, n);
}

static inline uint32_t gen_emit(struct gen *g, int code, uint32_t dst, uint32_t src, int off,
				int64_t imm)
{
	if (g->n < GEN_INSNS)
		g->insns[g->n] = (struct bpf_insn){.code = (__u8)code,
						   .dst_reg = dst & 0xf,
						   .src_reg = src & 0xf,
						   .off = (__s16)off,
						   .imm = (__s32)imm};
	return g->n++;
}

/* Returns a register that may be written. */
static inline uint32_t gen_reg(struct gen *g)
{
	uint32_t r;

	do
		r = gen_below(g, 10);
	while (g->busy & 1U << r);
	return r;
}

static inline int gen_slot(struct gen *g)
{
	return -8 * (int)(1 + gen_below(g, GEN_SLOTS));
}

/* Sets the target of the jump at `at` to the next instruction. */
static inline void gen_here(struct gen *g, uint32_t at)
{
	if (at < GEN_INSNS)
		g->insns[at].off = (__s16)(g->n - at - 1);
}

static inline void gen_alu(struct gen *g)
{
	static const int ops[] = {BPF_ADD, BPF_SUB, BPF_MUL, BPF_DIV, BPF_MOD,
				  BPF_OR,  BPF_AND, BPF_XOR, BPF_MOV};
	static const int shifts[] = {BPF_LSH, BPF_RSH, BPF_ARSH};
	int class = gen_below(g, 2) ? BPF_ALU64 : BPF_ALU;
	int op = ops[gen_below(g, sizeof(ops) / sizeof(ops[0]))];

	switch (gen_below(g, 8)) {
	case 0:
		gen_emit(g, class | shifts[gen_below(g, 3)] | BPF_K, gen_reg(g), 0, 0,
			 gen_below(g, 32));
		break;
	case 1: gen_emit(g, class | BPF_NEG, gen_reg(g), 0, 0, 0); break;
	case 2:
		gen_emit(g, BPF_ALU | BPF_END | (gen_below(g, 2) ? BPF_TO_BE : BPF_TO_LE),
			 gen_reg(g), 0, 0, 16 << gen_below(g, 3));
		break;
	case 3:
	case 4:
	case 5: gen_emit(g, class | op | BPF_X, gen_reg(g), gen_below(g, 10), 0, 0); break;
	default: gen_emit(g, class | op | BPF_K, gen_reg(g), 0, 0, 1 + gen_below(g, 1000));
	}
}

static inline void gen_memory(struct gen *g)
{
	static const int atomics[] = {BPF_ADD, BPF_OR, BPF_XOR | BPF_FETCH, BPF_ADD | BPF_FETCH,
				      BPF_XCHG};
	uint32_t r;

	switch (gen_below(g, 5)) {
	case 0:
		gen_emit(g, BPF_STX | BPF_MEM | BPF_DW, 10, gen_below(g, 10), gen_slot(g), 0);
		break;
	case 1: gen_emit(g, BPF_LDX | BPF_MEM | BPF_DW, gen_reg(g), 10, gen_slot(g), 0); break;
	case 2:
		gen_emit(g, BPF_ST | BPF_MEM | BPF_DW, 10, 0, gen_slot(g), gen_below(g, 1000));
		break;
	case 3:
		gen_emit(g, BPF_STX | BPF_ATOMIC | BPF_DW, 10, gen_reg(g), gen_slot(g),
			 atomics[gen_below(g, 5)]);
		break;
	default:
		r = gen_reg(g);
		gen_emit(g, BPF_LD | BPF_IMM | BPF_DW, r, 0, 0, gen_below(g, 1U << 30));
		gen_emit(g, 0, 0, 0, 0, gen_below(g, 1U << 30));
	}
}

/* Writes a register to the trace, which shows how far a run came. */
static inline void gen_trace(struct gen *g)
{
	uint32_t r = gen_reg(g), s = gen_below(g, 10);

	gen_emit(g, BPF_LD | BPF_IMM | BPF_DW, r, BPF_PSEUDO_MAP_VALUE, 0, g->trace_fd);
	gen_emit(g, 0, 0, 0, 0, 0);
	if (s == r)
		gen_emit(g, BPF_ST | BPF_MEM | BPF_DW, r, 0, 8 * (int)gen_below(g, GEN_TRACE),
			 gen_below(g, 1000));
	else
		gen_emit(g, BPF_STX | BPF_MEM | BPF_DW, r, s, 8 * (int)gen_below(g, GEN_TRACE), 0);
	gen_emit(g, BPF_ALU64 | BPF_MOV | BPF_K, r, 0, 0, gen_below(g, 1000));
}

/* Emits a conditional jump whose target is set later. */
static inline uint32_t gen_branch(struct gen *g)
{
	static const int ops[] = {BPF_JEQ,  BPF_JNE,  BPF_JGT,  BPF_JGE,  BPF_JLT, BPF_JLE,
				  BPF_JSET, BPF_JSGT, BPF_JSGE, BPF_JSLT, BPF_JSLE};
	int code = (gen_below(g, 2) ? BPF_JMP : BPF_JMP32) |
		   ops[gen_below(g, sizeof(ops) / sizeof(ops[0]))];

	if (gen_below(g, 2))
		return gen_emit(g, code | BPF_X, gen_below(g, 10), gen_below(g, 10), 0, 0);
	return gen_emit(g, code | BPF_K, gen_below(g, 10), 0, 0, gen_below(g, 256));
}

static inline void gen_statements(struct gen *g, int depth);

static inline void gen_if(struct gen *g, int depth)
{
	uint32_t jump = gen_branch(g), out;

	gen_statements(g, depth - 1);
	if (gen_below(g, 2)) {
		out = gen_emit(g, BPF_JMP | BPF_JA, 0, 0, 0, 0);
		gen_here(g, jump);
		gen_statements(g, depth - 1);
		jump = out;
	}
	gen_here(g, jump);
}

/* r = a constant, or a value from data; do { ... } while (--r) or while (r) { r--; ... } */
static inline void gen_loop(struct gen *g, int depth)
{
	/* Calls overwrite r0 to r5. */
	uint32_t r = 6 + gen_below(g, 4), top, jump, saved = g->busy;

	if (g->busy & 1U << r)
		return;
	g->busy |= 1U << r;
	if (gen_below(g, 2)) {
		gen_emit(g, BPF_ALU64 | BPF_MOV | BPF_K, r, 0, 0, 1 + gen_below(g, 5));
		top = g->n;
		gen_statements(g, depth - 1);
		gen_emit(g, BPF_ALU64 | BPF_SUB | BPF_K, r, 0, 0, 1);
		gen_emit(g, BPF_JMP | BPF_JNE | BPF_K, r, 0, (int)top - (int)g->n - 1, 0);
	} else {
		gen_emit(g, BPF_ALU64 | BPF_AND | BPF_K, r, 0, 0, 7);
		top = g->n;
		jump = gen_emit(g, BPF_JMP | BPF_JEQ | BPF_K, r, 0, 0, 0);
		gen_emit(g, BPF_ALU64 | BPF_SUB | BPF_K, r, 0, 0, 1);
		gen_statements(g, depth - 1);
		gen_emit(g, BPF_JMP | BPF_JA, 0, 0, (int)top - (int)g->n - 1, 0);
		gen_here(g, jump);
	}
	g->busy = saved;
}

/* Writes r1 to r5, because a call leaves them undefined. */
static inline void gen_refill(struct gen *g)
{
	for (uint32_t r = 1; r <= 5; r++) {
		if (gen_below(g, 2))
			gen_emit(g, BPF_ALU64 | BPF_MOV | BPF_X, r,
				 gen_below(g, 2) ? 0 : 6 + gen_below(g, 4), 0, 0);
		else
			gen_emit(g, BPF_ALU64 | BPF_MOV | BPF_K, r, 0, 0, gen_below(g, 100));
	}
}

static inline void gen_lookup(struct gen *g)
{
	uint32_t miss;

	gen_emit(g, BPF_ST | BPF_MEM | BPF_W, 10, 0, -4, gen_below(g, 12));
	gen_emit(g, BPF_LD | BPF_IMM | BPF_DW, 1, BPF_PSEUDO_MAP_FD, 0, g->map_fd);
	gen_emit(g, 0, 0, 0, 0, 0);
	gen_emit(g, BPF_ALU64 | BPF_MOV | BPF_X, 2, 10, 0, 0);
	gen_emit(g, BPF_ALU64 | BPF_ADD | BPF_K, 2, 0, 0, -4);
	gen_emit(g, BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_lookup_elem);
	miss = gen_emit(g, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 0, 0);
	gen_emit(g, BPF_LDX | BPF_MEM | BPF_DW, 0, 0, 0, 0);
	gen_here(g, miss);
	gen_refill(g);
}

/* Emits a call of a later function, or of a helper. */
static inline void gen_call(struct gen *g)
{
	uint32_t f = g->func + 1 + gen_below(g, GEN_FUNCS);

	if (f >= g->n_funcs) {
		gen_lookup(g);
		return;
	}
	if (g->n_calls == sizeof(g->calls) / sizeof(g->calls[0]))
		return;
	g->calls[g->n_calls].func = f;
	if (g->funcs[f].is_callback) {
		gen_emit(g, BPF_ALU64 | BPF_MOV | BPF_K, 1, 0, 0, gen_below(g, 4));
		g->calls[g->n_calls++].at = gen_emit(g, BPF_LD | BPF_IMM | BPF_DW, 2,
						     BPF_PSEUDO_FUNC, 0, 0);
		gen_emit(g, 0, 0, 0, 0, 0);
		gen_emit(g, BPF_ALU64 | BPF_MOV | BPF_K, 3, 0, 0, 0);
		gen_emit(g, BPF_ALU64 | BPF_MOV | BPF_K, 4, 0, 0, 0);
		gen_emit(g, BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_loop);
	} else {
		gen_emit(g, BPF_ALU64 | BPF_MOV | BPF_X, 1, gen_below(g, 10), 0, 0);
		gen_emit(g, BPF_ALU64 | BPF_MOV | BPF_X, 2, gen_below(g, 10), 0, 0);
		g->calls[g->n_calls++].at = gen_emit(g, BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_CALL, 0,
						     0);
	}
	gen_refill(g);
}

static inline void gen_exit(struct gen *g)
{
	gen_emit(g, BPF_ALU64 | BPF_AND | BPF_K, 0, 0, 0, g->funcs[g->func].is_callback ? 1 : 0xff);
	gen_emit(g, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

static inline void gen_statement(struct gen *g, int depth)
{
	uint32_t what = gen_below(g, depth > 0 ? 20 : 13), jump;

	if (g->trace_fd >= 0 && !gen_below(g, 3))
		gen_trace(g);
	if (what < 7) {
		gen_alu(g);
	} else if (what < 11) {
		gen_memory(g);
	} else if (what == 11) {
		gen_call(g);
	} else if (what == 12) {
		jump = gen_branch(g);
		gen_exit(g);
		gen_here(g, jump);
	} else if (what < 17) {
		gen_if(g, depth);
	} else {
		gen_loop(g, depth);
	}
}

static inline void gen_statements(struct gen *g, int depth)
{
	uint32_t n = 1 + gen_below(g, 4);

	for (uint32_t i = 0; i < n; i++)
		gen_statement(g, depth);
}

/* Every register and stack slot holds a number when the body begins. */
static inline void gen_program_begins(struct gen *g)
{
	gen_emit(g, BPF_LDX | BPF_MEM | BPF_W, 2, 1, 0, 0);
	gen_emit(g, BPF_LDX | BPF_MEM | BPF_W, 3, 1, 4, 0);
	gen_emit(g, BPF_ALU64 | BPF_MOV | BPF_X, 4, 2, 0, 0);
	gen_emit(g, BPF_ALU64 | BPF_ADD | BPF_K, 4, 0, 0, GEN_PACKET);
	gen_emit(g, BPF_JMP | BPF_JLE | BPF_X, 4, 3, 2, 0);
	gen_emit(g, BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 1);
	gen_emit(g, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	for (uint32_t r = 5; r < 10; r++)
		gen_emit(g, BPF_LDX | BPF_MEM | (gen_below(g, 2) ? BPF_B : BPF_H), r, 2,
			 (int)(2 * (r - 5)), 0);
	gen_emit(g, BPF_LDX | BPF_MEM | BPF_W, 0, 2, 12, 0);
}

static inline void gen_function(struct gen *g, uint32_t f)
{
	g->func = f;
	g->busy = 0;
	g->funcs[f].first = g->n;
	if (f == 0) {
		gen_program_begins(g);
	} else {
		/* A callback's second argument may be a pointer of the kernel. */
		if (g->funcs[f].is_callback)
			gen_emit(g, BPF_ALU64 | BPF_MOV | BPF_K, 2, 0, 0, gen_below(g, 100));
		gen_emit(g, BPF_ALU64 | BPF_MOV | BPF_X, 0, 1, 0, 0);
		for (uint32_t r = 5; r < 10; r++)
			gen_emit(g, BPF_ALU64 | BPF_MOV | (r % 2 ? BPF_X : BPF_K), r, r % 2 ? 2 : 0,
				 0, r % 2 ? 0 : r);
	}
	for (uint32_t r = f ? 3 : 1; r < 5; r++)
		gen_emit(g, BPF_ALU64 | BPF_MOV | BPF_K, r, 0, 0, gen_below(g, 100));
	for (int s = 1; s <= GEN_SLOTS; s++)
		gen_emit(g, BPF_STX | BPF_MEM | BPF_DW, 10, 5 + gen_below(g, 5), -8 * s, 0);
	gen_statements(g, 3);
	gen_statements(g, 3);
	gen_exit(g);
}

/* Makes the program with that number. It is too long if g->n > GEN_INSNS. */
static inline void gen_make(struct gen *g, uint64_t number, int map_fd, int trace_fd)
{
	memset(g, 0, sizeof(*g));
	bb_rng_seed(&g->rng, number);
	g->map_fd = map_fd;
	g->trace_fd = trace_fd;
	g->n_funcs = 1 + gen_below(g, GEN_FUNCS);
	for (uint32_t f = 1; f < g->n_funcs; f++) {
		uint32_t kind = gen_below(g, 4);

		g->funcs[f].is_callback = kind == 0;
		g->funcs[f].is_global = kind == 1;
	}
	for (uint32_t f = 0; f < g->n_funcs; f++)
		gen_function(g, f);
	for (uint32_t i = 0; i < g->n_calls && g->n <= GEN_INSNS; i++)
		g->insns[g->calls[i].at].imm =
			(__s32)(g->funcs[g->calls[i].func].first - g->calls[i].at - 1);
}
