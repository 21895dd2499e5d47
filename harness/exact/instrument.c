/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "exact/instrument.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "bpf/insn.h"

#define COUNTER_SLOTS 8u /* two to save, two for the address, two to count, two to restore */
#define VAIN_SLOTS 5u    /* a jump over it, two for the address, two to count */
#define LONG_SLOTS 3u    /* a long conditional jump */
#define STACK_BYTES 512u /* MAX_BPF_STACK */

/* The new program while it is laid out. */
struct layout {
	const struct bb_code *code;
	const struct bb_cfg *g;
	const struct bb_sites *sites;
	const uint32_t *stack_bytes;
	int counts_fd;
	bool *is_long; /* by old slot: a jump that has to be a long one */
	/* by old slot: where the instruction itself is now, behind its counter */
	uint32_t *at;
	struct bb_instrumented out;
};

static void emit(struct layout *l, uint8_t code, uint8_t dst, uint8_t src, int16_t off, int32_t imm)
{
	l->out.insns[l->out.n++] = (struct bpf_insn){
		.code = code,
		.dst_reg = dst & 0xfU,
		.src_reg = src & 0xfU,
		.off = off,
		.imm = imm,
	};
}

/* Where the function's n-th saved register is, from r10. */
static int16_t save_place(const struct layout *l, uint32_t func, uint8_t n)
{
	return (int16_t) - (int)(((l->stack_bytes[func] + 7) & ~7U) + 8U * n);
}

/* counts[nth]++ by way of two registers. */
static void emit_count(struct layout *l, uint32_t nth, uint8_t address, uint8_t one)
{
	emit(l, BB_LD_IMM64, address, BPF_PSEUDO_MAP_VALUE, 0, l->counts_fd);
	emit(l, 0, 0, 0, 0, (int32_t)(nth * sizeof(uint64_t)));
	emit(l, BPF_ALU64 | BPF_MOV | BPF_K, one, 0, 0, 1);
	emit(l, BPF_STX | BPF_ATOMIC | BPF_DW, address, one, 0, BPF_ADD);
}

static void emit_counter(struct layout *l, uint32_t block)
{
	const struct bb_site *p = &l->sites->of[block];
	uint32_t func = l->g->blocks[block].func;

	for (int k = 0; k < 2; k++)
		if (p->save[k])
			emit(l, BPF_STX | BPF_MEM | BPF_DW, BPF_REG_10, p->reg[k],
			     save_place(l, func, p->save[k]), 0);
	emit_count(l, block, p->reg[0], p->reg[1]);
	for (int k = 0; k < 2; k++)
		if (p->save[k])
			emit(l, BPF_LDX | BPF_MEM | BPF_DW, p->reg[k], BPF_REG_10,
			     save_place(l, func, p->save[k]), 0);
}

/* The instruction of old slot `at`; jumps still with their old distances. */
static void emit_old(struct layout *l, uint32_t at)
{
	struct bpf_insn i = l->code->insns[at];

	if (!l->is_long[at]) {
		l->out.insns[l->out.n++] = i;
		return;
	}
	if (!bb_insn_is_goto(&i)) { /* if (...) goto 1f; goto 2f; 1: long goto; 2: */
		i.off = 1;
		l->out.insns[l->out.n++] = i;
		emit(l, BPF_JMP | BPF_JA, 0, 0, 1, 0);
	}
	emit(l, BPF_JMP32 | BPF_JA, 0, 0, 0, 0);
}

static void lay_out(struct layout *l)
{
	uint32_t n = l->code->n, vain = 0;

	l->out.n = 0;
	for (uint32_t at = 0; at < n; at++) {
		uint32_t block = l->g->block_of[at];

		l->out.moved[at] = l->out.n;
		if (l->sites->of[block].at == at)
			emit_counter(l, block);
		l->at[at] = l->out.n;
		emit_old(l, at);
		if (vain == l->sites->n_vain || l->sites->vain[vain] != at)
			continue;
		/* A lookup came to nothing if it returned NULL, a tail call if it came back at all.
		 * Calls leave r1 to r5 without a value. */
		if (l->code->insns[at].imm != BPF_FUNC_tail_call)
			emit(l, BPF_JMP | BPF_JNE | BPF_K, BPF_REG_0, 0, VAIN_SLOTS - 1, 0);
		emit_count(l, l->g->n_blocks + vain++, BPF_REG_1, BPF_REG_2);
	}
	l->out.moved[n] = l->out.n;
}

/* Point the jump of old slot `at` to where its target is now. False: it does not reach; it is
 * marked as long. */
static bool mend_jump(struct layout *l, uint32_t at)
{
	const struct bpf_insn *old = &l->code->insns[at];
	uint32_t here = l->at[at], to = l->out.moved[bb_insn_jump_target(old, at)];
	int64_t distance;

	if (l->is_long[at] && !bb_insn_is_goto(old))
		here += LONG_SLOTS - 1;
	distance = (int64_t)to - here - 1;
	if (bb_insn_is_long_goto(&l->out.insns[here])) {
		l->out.insns[here].imm = (int32_t)distance;
	} else if (distance < INT16_MIN || distance > INT16_MAX) {
		l->is_long[at] = true;
		l->out.n_long++;
		return false;
	} else {
		l->out.insns[here].off = (int16_t)distance;
	}
	return true;
}

/* True: everything reaches. */
static bool mend_all(struct layout *l)
{
	bool reached = true;

	for (uint32_t at = 0; at < l->code->n; at++) {
		const struct bpf_insn *old = &l->code->insns[at];

		if (bb_insn_is_second_half(l->code->insns, at))
			continue;
		if (bb_insn_is_jump(old))
			reached &= mend_jump(l, at);
		else if (bb_insn_is_function_call(old) || bb_insn_is_function_address(old))
			l->out.insns[l->at[at]].imm =
				(int32_t)(l->out.moved[bb_insn_function_target(old, at)] -
					  l->at[at] - 1);
	}
	return reached;
}

int bb_instrument(const struct bb_code *code, const struct bb_cfg *g, const struct bb_sites *sites,
		  const uint32_t *stack_bytes, int counts_fd, struct bb_instrumented *ret_new,
		  struct bb_err *err)
{
	struct layout l = {.code = code,
			   .g = g,
			   .sites = sites,
			   .stack_bytes = stack_bytes,
			   .counts_fd = counts_fd,
			   .out.with = "counters"};
	size_t most = (size_t)code->n * LONG_SLOTS + (size_t)g->n_blocks * COUNTER_SLOTS +
		      (size_t)sites->n_vain * VAIN_SLOTS;
	int rc = 0;

	for (uint32_t f = 0; f < g->n_funcs; f++)
		if (sites->saves[f] && -save_place(&l, f, sites->saves[f]) > (int)STACK_BYTES)
			return bb_fail(err, -ENOTSUP,
				       "'%s' leaves no room to save a register: the function at "
				       "instruction %u uses %u bytes of stack",
				       code->name, g->funcs[f].first, stack_bytes[f]);
	l.is_long = calloc(code->n, sizeof(*l.is_long));
	l.at = calloc(code->n, sizeof(*l.at));
	l.out.insns = calloc(most, sizeof(*l.out.insns));
	l.out.moved = calloc(code->n + 1, sizeof(*l.out.moved));
	if (!l.is_long || !l.at || !l.out.insns || !l.out.moved) {
		rc = bb_fail_nomem(err);
		bb_instrumented__done(&l.out);
	} else {
		/* a jump that grows may push others out of reach; none ever shrinks, so this ends
		 */
		do
			lay_out(&l);
		while (!mend_all(&l));
		*ret_new = l.out;
	}
	free(l.is_long);
	free(l.at);
	return rc;
}

void bb_instrumented__done(struct bb_instrumented *p)
{
	if (!p)
		return;
	free(p->insns);
	free(p->moved);
	*p = (struct bb_instrumented){0};
}

#define N_REGS 10 /* r10 is the frame */
#define WANTED 2
#define IMPOSSIBLE (WANTED + 1)

/* Two registers that are free before slot `at`, or are to be saved. Free ones first, from r0 on:
 * the JIT pushes r6 to r9 in functions that use them. How many are to be saved, or IMPOSSIBLE. */
static int take_registers(const struct bb_liveness *l, uint32_t at, struct bb_site *ret_site)
{
	struct bb_site p = {.at = at};
	uint8_t slot = 1;
	int n = 0;

	for (uint8_t r = 0; r < N_REGS && n < WANTED; r++)
		if (!(l->live[at] & BB_REG(r)))
			p.reg[n++] = r;
	for (uint8_t r = N_REGS; r-- > 0 && n < WANTED;) {
		if (!(l->live[at] & l->known[at] & BB_REG(r)))
			continue;
		p.reg[n] = r;
		p.save[n++] = slot++;
	}
	*ret_site = p;
	return n < WANTED ? IMPOSSIBLE : slot - 1;
}

static int find_in_block(const struct bb_code *code, const struct bb_basic_block *b,
			 const struct bb_liveness *l, struct bb_site *ret_site, struct bb_err *err)
{
	int least = IMPOSSIBLE;

	for (uint32_t at = b->first; at <= b->last && least; at++) {
		struct bb_site here;
		int cost = bb_insn_is_second_half(code->insns, at) ? IMPOSSIBLE
								   : take_registers(l, at, &here);

		if (cost < least) {
			least = cost;
			*ret_site = here;
		}
	}
	if (least == IMPOSSIBLE)
		return bb_fail(err, -ENOTSUP, "'%s' has no register to spare at instruction %u",
			       code->name, b->first);
	return 0;
}

static bool may_be_in_vain(const struct bb_code *code, uint32_t at)
{
	const struct bpf_insn *i = &code->insns[at];

	return !bb_insn_is_second_half(code->insns, at) && bb_insn_is_helper_call(i) &&
	       (i->imm == BPF_FUNC_map_lookup_elem || i->imm == BPF_FUNC_map_lookup_percpu_elem ||
		i->imm == BPF_FUNC_tail_call);
}

int bb_sites__find(const struct bb_code *code, const struct bb_cfg *g, const struct bb_liveness *l,
		   struct bb_sites *ret_sites, struct bb_err *err)
{
	struct bb_sites p = {0};
	int rc;

	p.of = calloc(g->n_blocks, sizeof(*p.of));
	p.saves = calloc(g->n_funcs, sizeof(*p.saves));
	p.vain = calloc(code->n, sizeof(*p.vain));
	rc = p.of && p.saves && p.vain ? 0 : bb_fail_nomem(err);
	for (uint32_t at = 0; !rc && at < code->n; at++)
		if (may_be_in_vain(code, at))
			p.vain[p.n_vain++] = at;
	for (uint32_t b = 0; !rc && b < g->n_blocks; b++) {
		uint8_t *saves = &p.saves[g->blocks[b].func], last;

		rc = find_in_block(code, &g->blocks[b], l, &p.of[b], err);
		/* the one that is saved first is in reg[0] or reg[1] */
		last = p.of[b].save[1];
		if (last > *saves)
			*saves = last;
		p.n_saved += last != 0;
	}
	if (rc)
		bb_sites__done(&p);
	else
		*ret_sites = p;
	return rc;
}

void bb_sites__watch_less(struct bb_sites *p, const struct bb_code *code)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_vain; i++)
		if (code->insns[p->vain[i]].imm == BPF_FUNC_tail_call)
			p->vain[n++] = p->vain[i];
	p->n_vain = n < p->n_vain ? n : 0;
}

void bb_sites__done(struct bb_sites *p)
{
	if (!p)
		return;
	free(p->of);
	free(p->saves);
	free(p->vain);
	*p = (struct bb_sites){0};
}
