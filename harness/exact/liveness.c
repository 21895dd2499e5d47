/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two dataflow analyses over the blocks (Aho et al., Compilers, 9.2), through calls of the
 * program's own functions: what a call reads is what is live where the function begins. Blocks are
 * visited until nothing changes, backwards for `live` and forwards for `known`: as often as loops
 * nest and calls chain, and once more.
 */
#include "exact/liveness.h"

#include <bpf/btf.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/insn.h"

#define ALL 0x3ffu      /* r0..r9; r10 is the frame and never free */
#define ARGS 0x3eu      /* r1..r5 */
#define CLOBBERED 0x3fu /* by any call: r0..r5 */

struct analysis {
	const struct bb_code *code;
	const struct bb_cfg *g;
	uint16_t *at_begin; /* by block */
	/* by function: the arguments that its BTF says a global one has */
	uint16_t *declared;
	struct bb_liveness out;
};

/* r1..rn. */
static uint16_t first_args(unsigned int n)
{
	return (uint16_t)(((2U << n) - 1) & ARGS);
}

/*
 * The verifier checks a call of a global function against its declaration: arguments that it never
 * reads, too. (A function's linkage is where other types have their length.)
 */
static uint16_t declared_args(const struct bb_code *code, uint32_t type_id)
{
	const struct btf_type *func = code->btf && type_id ? btf__type_by_id(code->btf, type_id)
							   : NULL,
			      *proto;

	if (!func || !btf_is_func(func) || btf_vlen(func) == BTF_FUNC_STATIC)
		return 0;
	proto = btf__type_by_id(code->btf, func->type);
	return proto && btf_vlen(proto) <= 5 ? first_args(btf_vlen(proto)) : ARGS;
}

static uint16_t call_reads(const struct analysis *a, uint32_t at)
{
	const struct bpf_insn *i = &a->code->insns[at];
	uint32_t block, func;

	if (bb_insn_is_helper_call(i))
		return i->imm >= BB_CORE_POISON ? 0 : first_args(bb_helper__args(i->imm));
	if (!bb_insn_is_function_call(i))
		return ARGS;
	block = a->g->block_of[bb_insn_function_target(i, at)];
	func = a->g->blocks[block].func;
	return (a->at_begin[block] | a->declared[func]) & ARGS;
}

static uint16_t atomic_reads(const struct bpf_insn *i)
{
	uint16_t both = BB_REG(i->dst_reg) | BB_REG(i->src_reg);

	if (i->imm == BB_LOAD_ACQUIRE)
		return BB_REG(i->src_reg);
	return i->imm == BPF_CMPXCHG ? both | BB_REG(0) : both;
}

static uint16_t atomic_writes(const struct bpf_insn *i)
{
	if (i->imm == BB_LOAD_ACQUIRE)
		return BB_REG(i->dst_reg);
	if (i->imm == BPF_CMPXCHG)
		return BB_REG(0);
	return i->imm != BB_STORE_RELEASE && i->imm & BPF_FETCH ? BB_REG(i->src_reg) : 0;
}

uint16_t bb_insn_writes(const struct bpf_insn *i)
{
	switch (BPF_CLASS(i->code)) {
	case BPF_ALU:
	case BPF_ALU64:
	case BPF_LDX: return BB_REG(i->dst_reg);
	case BPF_LD: return bb_insn_is_wide(i) ? BB_REG(i->dst_reg) : CLOBBERED;
	case BPF_ST: return 0;
	case BPF_STX: return BPF_MODE(i->code) == BPF_ATOMIC ? atomic_writes(i) : 0;
	default: return bb_insn_is_call(i) ? CLOBBERED : 0;
	}
}

static uint16_t reads(const struct analysis *a, uint32_t at)
{
	const struct bpf_insn *i = &a->code->insns[at];
	uint16_t both = BB_REG(i->dst_reg) | BB_REG(i->src_reg);
	uint16_t source = BPF_SRC(i->code) == BPF_X ? BB_REG(i->src_reg) : 0;
	uint8_t op = BPF_OP(i->code);

	switch (BPF_CLASS(i->code)) {
	case BPF_ALU:
	case BPF_ALU64:
		/* these have no source register, whatever their source bit says */
		if (op == BPF_NEG || op == BPF_END)
			source = 0;
		return op == BPF_MOV ? source : source | BB_REG(i->dst_reg);
	case BPF_LD:
		if (bb_insn_is_wide(i))
			return 0;
		return BB_REG(6) | (BPF_MODE(i->code) == BPF_IND ? BB_REG(i->src_reg) : 0);
	case BPF_LDX: return BB_REG(i->src_reg);
	case BPF_ST: return BB_REG(i->dst_reg);
	case BPF_STX: return BPF_MODE(i->code) == BPF_ATOMIC ? atomic_reads(i) : both;
	default:
		if (bb_insn_is_exit(i))
			return BB_REG(0);
		if (bb_insn_is_call(i))
			return call_reads(a, at);
		return op == BPF_JA || op == BB_JCOND ? 0 : BB_REG(i->dst_reg) | source;
	}
}

/* One block backwards: what is live where it begins, and before each of its instructions. */
static uint16_t live_through(struct analysis *a, uint32_t block)
{
	const struct bb_basic_block *b = &a->g->blocks[block];
	uint32_t next[2];
	unsigned int n = bb_cfg__next(a->g, a->code, block, next);
	uint16_t live = 0;

	for (unsigned int k = 0; k < n; k++)
		live |= a->at_begin[next[k]];
	for (uint32_t at = b->last + 1; at-- > b->first;) {
		if (bb_insn_is_second_half(a->code->insns, at))
			continue;
		live &= (uint16_t)~bb_insn_writes(&a->code->insns[at]);
		live = (live | reads(a, at)) & ALL;
		a->out.live[at] = live;
	}
	return live;
}

static void find_live(struct analysis *a)
{
	bool changed = true;

	memset(a->at_begin, 0, a->g->n_blocks * sizeof(*a->at_begin));
	while (changed) {
		changed = false;
		for (uint32_t b = a->g->n_blocks; b-- > 0;) {
			uint16_t live = live_through(a, b);

			changed |= live != a->at_begin[b];
			a->at_begin[b] = live;
		}
	}
}

/* One block forwards; what its successors know is at most what all ways to them know. */
static bool known_through(struct analysis *a, uint32_t block)
{
	const struct bb_basic_block *b = &a->g->blocks[block];
	uint32_t next[2];
	unsigned int n = bb_cfg__next(a->g, a->code, block, next);
	uint16_t known = a->at_begin[block];
	bool changed = false;

	for (uint32_t at = b->first; at <= b->last; at++) {
		const struct bpf_insn *i = &a->code->insns[at];

		if (bb_insn_is_second_half(a->code->insns, at))
			continue;
		a->out.known[at] = known;
		/* calls leave r0 only */
		if (bb_insn_is_call(i) || bb_insn_is_packet_load(i))
			known = (uint16_t)((known & ~CLOBBERED) | BB_REG(0));
		else
			known |= bb_insn_writes(i);
	}
	for (unsigned int k = 0; k < n; k++) {
		uint16_t both = a->at_begin[next[k]] & known;

		changed |= both != a->at_begin[next[k]];
		a->at_begin[next[k]] = both;
	}
	return changed;
}

/* A function begins with the arguments that it reads, the program itself with its context in r1. */
static void find_known(struct analysis *a)
{
	bool changed = true;

	memset(a->at_begin, 0xff, a->g->n_blocks * sizeof(*a->at_begin));
	for (uint32_t f = 0; f < a->g->n_funcs; f++) {
		uint32_t first = a->g->funcs[f].first;

		a->at_begin[a->g->block_of[first]] = f ? a->out.live[first] & ARGS : BB_REG(1);
	}
	while (changed) {
		changed = false;
		for (uint32_t b = 0; b < a->g->n_blocks; b++)
			changed |= known_through(a, b);
	}
}

int bb_liveness__make(const struct bb_code *code, const struct bb_cfg *g,
		      struct bb_liveness *ret_live, struct bb_err *err)
{
	struct analysis a = {.code = code, .g = g};

	a.at_begin = calloc(g->n_blocks, sizeof(*a.at_begin));
	a.declared = calloc(g->n_funcs, sizeof(*a.declared));
	a.out.live = calloc(code->n, sizeof(*a.out.live));
	a.out.known = calloc(code->n, sizeof(*a.out.known));
	if (a.at_begin && a.declared && a.out.live && a.out.known) {
		for (uint32_t f = 0; f < g->n_funcs; f++)
			a.declared[f] = declared_args(code, g->funcs[f].type_id);
		find_live(&a);
		find_known(&a);
		*ret_live = a.out;
	} else {
		bb_liveness__done(&a.out);
	}
	free(a.at_begin);
	free(a.declared);
	return a.out.live ? 0 : bb_fail_nomem(err);
}

void bb_liveness__done(struct bb_liveness *l)
{
	if (!l)
		return;
	free(l->live);
	free(l->known);
	*l = (struct bb_liveness){0};
}

#define MOST_ARGS 5u

/*
 * Arguments of helper 0, 1, 2, ... as bpf_helper_defs.h declares them; variadic ones and number 0,
 * which is none, may read all five. A test compares it with the installed header.
 */
static const char args[] = "52423050055533002131442215435333231032322103231125434424352242243254544"
			   "44443414102425513224431111115543334442155333321044511305312432222111114"
			   "4434233541421242020315453413231111341454332101144533231442255333220442";

#define NAME(name) #name
static const char *const names[] = {__BPF_FUNC_MAPPER(NAME)};

unsigned int bb_helper__args(int32_t id)
{
	return id >= 0 && (size_t)id < sizeof(args) - 1 ? (unsigned int)(args[id] - '0')
							: MOST_ARGS;
}

const char *bb_helper__name(int32_t id)
{
	return id > 0 && (size_t)id < sizeof(names) / sizeof(names[0]) ? names[id] : NULL;
}
