/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lines/cut_clone.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/insn.h"
#include "exact/instrument.h"
#include "exact/load.h"

/*
 * The count is out when it is this: no edge of a range of numbers, so that the verifier learns
 * nothing from passing a check.
 */
#define OUT 7
#define NEVER 0x7fffff13
#define CUT_SHORT 0x7ffe6b31 /* what a function returns that was: the verifier knows it */
#define STACK_BYTES 512u     /* MAX_BPF_STACK */
#define CHECK_SLOTS 14u      /* at most: doubled, with the count on the stack, or the log */
#define CALL_SLOTS 32u       /* around a call of a function with cuts, and around its body */
#define PER_HELD 8u          /* to zero, to keep, to give back */
#define MOST_INSNS 65536u    /* see exact/clone.c */
/*
 * Multiplications on the way out, each of which waits for the one before: 18 to 25 ns. What a CPU
 * does of the way out meanwhile is at most 15 ns (docs/methods/line-cuts.md).
 */
#define COVER 24
#define COVER_BY 0x5bd1e995 /* an odd number */
#define STUB_SLOTS 22u      /* of a cut, up to where all go on together */

/* The memory, in bytes. */
enum {
	LEFT = 0,     /* what the count is at the beginning of a run */
	ENDED_AT = 8, /* 1 + the cut that ended it; 0: none */
	COUNT = 16,   /* while it is handed from function to function */
	LOGGED = 24,  /* so many cuts were passed */
	IS_BARE = 32, /* not 0: the way out has no multiplications */
	LOG = 40,     /* 1 + each of them, 4 bytes each, from the second place on */
	BYTES = LOG + 4 * BB_CUT_LOG,
};

static size_t mapped_bytes(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (BYTES + page - 1) / page * page;
}

int bb_cut_memory__open(struct bb_cut_memory *ret_memory, struct bb_err *err)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	struct bb_cut_memory m = {.fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "bb_cut",
						       sizeof(uint32_t), BYTES, 1, &opts)};
	void *shared;
	int rc;

	if (m.fd < 0) {
		rc = -errno;
		return bb_fail(err, rc == -EINVAL ? -ENOTSUP : rc,
			       "a map that can be mapped into memory (Linux 5.5): %s",
			       strerror(-rc));
	}
	shared = mmap(NULL, mapped_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, m.fd, 0);
	if (shared == MAP_FAILED) {
		rc = -errno;
		close(m.fd);
		return bb_fail(err, rc, "mapping a map into memory: %s", strerror(-rc));
	}
	m.v = shared;
	bb_cut_memory__end_nowhere(&m);
	*ret_memory = m;
	return 0;
}

void bb_cut_memory__close(struct bb_cut_memory *m)
{
	if (!m->v)
		return;
	munmap((void *)(uintptr_t)m->v, mapped_bytes());
	close(m->fd);
	*m = (struct bb_cut_memory){.fd = -1};
}

void bb_cut_memory__end_at(const struct bb_cut_memory *m, uint64_t nth, bool is_bare)
{
	m->v[LEFT / 8] = OUT + 1 + nth;
	m->v[ENDED_AT / 8] = 0;
	m->v[IS_BARE / 8] = is_bare;
}

void bb_cut_memory__end_nowhere(const struct bb_cut_memory *m)
{
	m->v[LEFT / 8] = m->v[ENDED_AT / 8] = 0;
}

int64_t bb_cut_memory__ended_at(const struct bb_cut_memory *m)
{
	return (int64_t)m->v[ENDED_AT / 8] - 1;
}

void bb_cut_memory__begin_log(const struct bb_cut_memory *m)
{
	m->v[LOGGED / 8] = 0;
}

uint64_t bb_cut_memory__logged(const struct bb_cut_memory *m)
{
	return m->v[LOGGED / 8];
}

uint32_t bb_cut_memory__log(const struct bb_cut_memory *m, uint64_t nth)
{
	const volatile uint32_t *log = (const volatile uint32_t *)&m->v[LOG / 8];

	return log[(nth + 1) % BB_CUT_LOG] - 1;
}

/* A function of the clone. */
struct place {
	bool is_cut;       /* it has cuts, or calls a function that has */
	bool returns;      /* r0 has a value at each of its exits */
	bool returns_held; /* which its caller has to give back; cut short it returns NULL */
	int count_reg;     /* register that it does not use, which keeps the count; -1: none */
	int16_t count_off; /* then it is on the stack */
	int16_t save_off;  /* two words of the stack: registers that are used for a moment */
	int16_t depth;     /* of its stack with all this */
	uint32_t leave;    /* where it gives back what it holds and returns */
};

/* The clone while it is laid out. */
struct layout {
	const struct bb_cut_parts *parts;
	const struct bb_cut_form *form;
	struct place *funcs; /* by function */
	struct place *f;     /* the one that is laid out now */
	int16_t held_off[BB_MAX_HELD];
	uint32_t *landing; /* by old slot: where jumps to it lead */
	uint32_t *at;      /* by old slot: where the instruction is */
	uint32_t *checks;  /* by cut: where its jump out is; by twos */
	uint32_t *stubs;   /* by cut */
	uint32_t *leaving; /* [n_leaving]: jumps to where the function returns early */
	uint32_t n_leaving;
	bool is_too_long; /* a jump is too short */
	struct bb_instrumented out;
};

static void emit(struct layout *l, uint8_t code, uint8_t dst, uint8_t src, int16_t off, int32_t imm)
{
	l->out.insns[l->out.n++] = (struct bpf_insn){.code = code,
						     .dst_reg = dst & 0xfU,
						     .src_reg = src & 0xfU,
						     .off = off,
						     .imm = imm};
}

static void emit_memory(struct layout *l, uint8_t reg, int32_t offset)
{
	emit(l, BB_LD_IMM64, reg, BPF_PSEUDO_MAP_VALUE, 0, l->parts->memory_fd);
	emit(l, 0, 0, 0, 0, offset);
}

/* A held thing is a pointer, or a flag below it. */
static bool has_flag(const struct bb_held *h)
{
	return h->by != BB_HELD_RESULT;
}

static int16_t tell_off(const struct layout *l, uint32_t k)
{
	return (int16_t)(l->held_off[k] - (has_flag(&l->parts->helds->v[k]) ? 8 : 0));
}

static void emit_zeros(struct layout *l, uint32_t func)
{
	for (uint32_t k = 0; k < l->parts->helds->n; k++)
		if (l->parts->helds->v[k].func == func)
			emit(l, BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, tell_off(l, k), 0);
}

/* The count, from the memory into its register or its place on the stack; `reg` is free. */
static void emit_load_count(struct layout *l, uint8_t reg, int32_t from)
{
	uint8_t count = l->f->count_reg >= 0 ? (uint8_t)l->f->count_reg : reg;

	emit_memory(l, reg, from);
	emit(l, BPF_LDX | BPF_MEM | BPF_DW, count, reg, 0, 0);
	if (l->f->count_reg < 0)
		emit(l, BPF_STX | BPF_MEM | BPF_DW, BPF_REG_10, count, l->f->count_off, 0);
}

/* And back; `reg` and `other` are free, the latter only where the count is on the stack. */
static void emit_store_count(struct layout *l, uint8_t reg, uint8_t other)
{
	uint8_t count = l->f->count_reg >= 0 ? (uint8_t)l->f->count_reg : other;

	if (l->f->count_reg < 0)
		emit(l, BPF_LDX | BPF_MEM | BPF_DW, count, BPF_REG_10, l->f->count_off, 0);
	emit_memory(l, reg, COUNT);
	emit(l, BPF_STX | BPF_MEM | BPF_DW, reg, count, 0, 0);
}

/* Where a function begins: r0 is free; of the main one only r1 is not. */
static void emit_prologue(struct layout *l, uint32_t func)
{
	if (l->form->logs || !l->f->is_cut)
		return;
	if (!func) {
		emit_memory(l, BPF_REG_2, ENDED_AT);
		emit(l, BPF_ST | BPF_MEM | BPF_DW, BPF_REG_2, 0, 0, 0);
	}
	emit_load_count(l, BPF_REG_0, func ? COUNT : LEFT);
	if (func && l->form->doubled)
		emit_load_count(l, BPF_REG_0, COUNT);
	emit_zeros(l, func);
}

/* Before a function returns: r0 is its result, r1 to r5 are free. */
static void emit_epilogue(struct layout *l, uint32_t func)
{
	if (l->form->logs || !l->f->is_cut || !func)
		return;
	emit_store_count(l, BPF_REG_1, BPF_REG_2);
	if (l->form->doubled)
		emit_store_count(l, BPF_REG_1, BPF_REG_2);
}

static void emit_one_check(struct layout *l, uint8_t reg, uint32_t *jump, int32_t step, int32_t out)
{
	if (l->f->count_reg < 0)
		emit(l, BPF_LDX | BPF_MEM | BPF_DW, reg, BPF_REG_10, l->f->count_off, 0);
	emit(l, BPF_ALU64 | BPF_ADD | BPF_K, reg, 0, 0, step);
	if (l->f->count_reg < 0)
		emit(l, BPF_STX | BPF_MEM | BPF_DW, BPF_REG_10, reg, l->f->count_off, 0);
	if (l->form->stub_first)
		emit(l, BPF_JMP | BPF_JNE | BPF_K, reg, 0, 1, out);
	*jump = l->out.n;
	if (l->form->stub_first)
		emit(l, BPF_JMP | BPF_JA, 0, 0, 0, 0);
	else
		emit(l, BPF_JMP | BPF_JEQ | BPF_K, reg, 0, 0, out);
}

/* A register that nothing is in: behind a call r1, before an instruction one that is dead. */
static int free_reg(const struct layout *l, const struct bb_cut *c)
{
	uint16_t live = l->parts->live->live[c->slot];

	if (l->f->count_reg >= 0)
		return l->f->count_reg;
	if (c->after)
		return BPF_REG_1;
	for (int r = 0; r < 10; r++)
		if (!(live & BB_REG(r)))
			return r;
	return -1;
}

/* Two registers to write with, into ret[2], and whether each has to be saved. */
static bool two_regs(const struct layout *l, const struct bb_cut *c, uint8_t *ret, bool *ret_save)
{
	uint16_t live = l->parts->live->live[c->slot], known = l->parts->live->known[c->slot];
	unsigned int n = 0;

	if (c->after) {
		ret[0] = BPF_REG_1;
		ret[1] = BPF_REG_2;
		ret_save[0] = ret_save[1] = false;
		return true;
	}
	for (unsigned int saved = 0; saved < 2 && n < 2; saved++)
		for (uint8_t r = 0; r < 10 && n < 2; r++)
			if (saved ? live & known & BB_REG(r) : !(live & BB_REG(r))) {
				ret_save[n] = saved;
				ret[n++] = r;
			}
	return n == 2;
}

static void emit_log(struct layout *l, uint32_t cut)
{
	uint8_t r[2];
	bool save[2];

	if (!two_regs(l, &l->parts->cuts->v[cut], r, save))
		return;
	for (int i = 0; i < 2; i++)
		if (save[i])
			emit(l, BPF_STX | BPF_MEM | BPF_DW, BPF_REG_10, r[i],
			     (int16_t)(l->f->save_off + 8 * i), 0);
	emit_memory(l, r[0], LOGGED);
	emit(l, BPF_LDX | BPF_MEM | BPF_DW, r[1], r[0], 0, 0);
	emit(l, BPF_ALU64 | BPF_ADD | BPF_K, r[1], 0, 0, 1);
	emit(l, BPF_STX | BPF_MEM | BPF_DW, r[0], r[1], 0, 0);
	emit(l, BPF_ALU64 | BPF_AND | BPF_K, r[1], 0, 0, (int32_t)BB_CUT_LOG - 1);
	emit(l, BPF_ALU64 | BPF_LSH | BPF_K, r[1], 0, 0, 2);
	emit(l, BPF_ALU64 | BPF_ADD | BPF_X, r[0], r[1], 0, 0);
	emit(l, BPF_ST | BPF_MEM | BPF_W, r[0], 0, LOG - LOGGED, (int32_t)cut + 1);
	for (int i = 0; i < 2; i++)
		if (save[i])
			emit(l, BPF_LDX | BPF_MEM | BPF_DW, r[i], BPF_REG_10,
			     (int16_t)(l->f->save_off + 8 * i), 0);
}

static void emit_check(struct layout *l, uint32_t cut)
{
	const struct bb_cut *c = &l->parts->cuts->v[cut];
	int reg = c->is_off ? -1 : free_reg(l, c);

	l->checks[2 * cut] = l->checks[2 * cut + 1] = UINT32_MAX;
	if (reg < 0)
		return;
	if (l->form->logs) {
		emit_log(l, cut);
		return;
	}
	if (l->form->doubled)
		emit_one_check(l, (uint8_t)reg, &l->checks[2 * cut], 0, NEVER);
	emit_one_check(l, (uint8_t)reg, &l->checks[2 * cut + 1], -1, OUT);
}

/* The function with cuts that a call leads to, itself or by being called back; -1: none. */
static int64_t cut_callee(const struct layout *l, uint32_t at)
{
	const struct bb_code *code = l->parts->code;
	const struct bb_cfg *g = l->parts->cfg;
	int64_t func;

	if (bb_insn_is_function_call(&code->insns[at]))
		func = bb_cfg__func_at(g, (uint32_t)bb_insn_function_target(&code->insns[at], at));
	else
		func = bb_cuts__called_back(code, g, at);
	return func >= 0 && l->funcs[func].is_cut ? func : -1;
}

/* The count goes on in the callee; r0 is free before a call. */
static void emit_hand_over(struct layout *l, uint32_t at)
{
	const struct bb_liveness *live = l->parts->live;
	bool on_stack = l->f->count_reg < 0 && live->live[at] & live->known[at] & BB_REG(1);

	if (on_stack) /* nobody knows of a second free register */
		emit(l, BPF_STX | BPF_MEM | BPF_DW, BPF_REG_10, BPF_REG_1, l->f->save_off, 0);
	emit_store_count(l, BPF_REG_0, BPF_REG_1);
	if (on_stack)
		emit(l, BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_1, BPF_REG_10, l->f->save_off, 0);
}

static void emit_before_call(struct layout *l, uint32_t at)
{
	const struct bb_helds *h = l->parts->helds;

	if (l->form->logs || !l->f->is_cut)
		return;
	for (uint32_t k = 0; k < h->n; k++)
		if (h->v[k].at == at && h->v[k].by == BB_HELD_ARGUMENT)
			emit(l, BPF_STX | BPF_MEM | BPF_DW, BPF_REG_10, h->v[k].arg, l->held_off[k],
			     0);
	if (cut_callee(l, at) < 0)
		return;
	emit_hand_over(l, at);
	if (l->form->doubled)
		emit_hand_over(l, at);
}

/* Where the callee was cut short, its caller is, too. What says so is its result, if it has one,
 * which the verifier knows, and in any case the memory. */
static void emit_callee_ended(struct layout *l, uint32_t at, uint32_t callee)
{
	bool by_result = bb_insn_is_function_call(&l->parts->code->insns[at]) &&
			 l->parts->cuts->entered[callee] == BB_ENTERED_BY_CALL &&
			 l->funcs[callee].returns && !l->funcs[callee].returns_held;

	if (by_result)
		emit(l, BPF_JMP | BPF_JNE | BPF_K, BPF_REG_0, 0, 5, CUT_SHORT);
	emit_memory(l, BPF_REG_1, ENDED_AT);
	emit(l, BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_1, BPF_REG_1, 0, 0);
	emit(l, BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_1, 0, 1, 0);
	l->leaving[l->n_leaving++] = l->out.n;
	emit(l, BPF_JMP | BPF_JA, 0, 0, 0, 0);
}

/* The resource that a call takes is kept, and no longer the one that it gives back. */
static void emit_after_call(struct layout *l, uint32_t at)
{
	const struct bb_helds *h = l->parts->helds;
	int64_t callee = l->form->logs || !l->f->is_cut ? -1 : cut_callee(l, at);

	if (l->form->logs || !l->f->is_cut)
		return;
	for (uint32_t k = 0; k < h->n; k++)
		if (h->v[k].at == at && h->v[k].by == BB_HELD_RESULT)
			emit(l, BPF_STX | BPF_MEM | BPF_DW, BPF_REG_10, BPF_REG_0, l->held_off[k],
			     0);
	if (callee >= 0)
		emit_callee_ended(l, at, (uint32_t)callee);
	for (uint32_t k = 0; k < h->n; k++) {
		if (h->v[k].at == at && h->v[k].by == BB_HELD_RESULT)
			continue;
		if (h->v[k].at == at)
			emit(l, BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, tell_off(l, k), 1);
		else if (h->released[at] & 1U << k)
			emit(l, BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, tell_off(l, k), 0);
	}
	if (callee < 0)
		return;
	emit_load_count(l, BPF_REG_1, COUNT);
	if (l->form->doubled)
		emit_load_count(l, BPF_REG_1, COUNT);
}

static void emit_release(struct layout *l, uint32_t k)
{
	const struct bb_held *h = &l->parts->helds->v[k];
	bool has_pointer = h->by != BB_HELD_SECTION;
	int16_t skip = (int16_t)(1 + h->has_flags + (has_flag(h) && has_pointer));

	emit(l, BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_1, BPF_REG_10, tell_off(l, k), 0);
	emit(l, BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_1, 0, skip, 0);
	if (has_flag(h) && has_pointer)
		emit(l, BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_1, BPF_REG_10, l->held_off[k], 0);
	if (h->has_flags)
		emit(l, BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_2, 0, 0, h->flags);
	emit(l, BPF_JMP | BPF_CALL, 0, h->is_kfunc ? BPF_PSEUDO_KFUNC_CALL : 0, 0, h->release);
}

static int32_t early_result(const struct layout *l, uint32_t func)
{
	switch (l->parts->cuts->entered[func]) {
	case BB_ENTERED_MAIN: return l->form->retval;
	case BB_ENTERED_BY_LOOP: return 1;
	case BB_ENTERED_BY_ONCE: return 0;
	default: return l->f->returns_held ? 0 : CUT_SHORT;
	}
}

/*
 * The registers whose values a run may still wait for at a cut. Of r0 it is not known that it has
 * one after a call, unless the program reads it.
 */
static uint16_t awaited(const struct layout *l, const struct bb_cut *c)
{
	const struct bb_liveness *live = l->parts->live;
	uint32_t at = c->slot + c->after;

	return at < l->parts->code->n
		       ? live->known[at] & (uint16_t)(live->live[at] | ~BB_REG(BPF_REG_0))
		       : 0;
}

/* r1 = what is in these registers, as a number that has to wait for them all. */
static void emit_sum(struct layout *l, uint16_t regs)
{
	if (regs & BB_REG(BPF_REG_1)) /* only half of a pointer is a number to the verifier */
		emit(l, BPF_ALU | BPF_MOV | BPF_X, BPF_REG_1, BPF_REG_1, 0, 0);
	else
		emit(l, BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_1, 0, 0, 1);
	for (uint8_t r = 0; r < 10; r++) {
		if (r == BPF_REG_1 || !(regs & BB_REG(r)))
			continue;
		emit(l, BPF_ALU | BPF_MOV | BPF_X, r, r, 0, 0);
		emit(l, BPF_ALU | BPF_ADD | BPF_X, BPF_REG_1, r, 0, 0);
	}
}

/* The jump at `from`, which is emitted, leads to `to`. */
static void set_jump(struct layout *l, uint32_t from, uint32_t to)
{
	struct bpf_insn *i = &l->out.insns[from];
	int64_t distance = (int64_t)to - from - 1;

	if (bb_insn_is_long_goto(i)) {
		i->imm = (int32_t)distance;
		return;
	}
	i->off = (int16_t)distance;
	l->is_too_long |= distance < INT16_MIN || distance > INT16_MAX;
}

/* The ways out of the cuts [first, end): those with the same registers share a sum, and then all go
 * on together. */
static void emit_sums(struct layout *l, uint32_t first, uint32_t end)
{
	const struct bb_cut *cuts = l->parts->cuts->v;
	uint32_t sums[1U << 10] = {0}, goes_on[1U << 10] = {0}; /* by registers; 0: none */

	for (uint32_t k = first; k < end; k++) {
		uint16_t regs = awaited(l, &cuts[k]);

		if (l->checks[2 * k + 1] == UINT32_MAX)
			continue;
		if (!sums[regs]) {
			sums[regs] = l->out.n;
			emit_sum(l, regs);
			goes_on[regs] = l->out.n;
			emit(l, BPF_JMP | BPF_JA, 0, 0, 0, 0);
		}
		set_jump(l, l->stubs[k] + 1, sums[regs]);
	}
	for (uint32_t regs = 0; regs < 1U << 10; regs++)
		if (goes_on[regs])
			set_jump(l, goes_on[regs], l->out.n);
}

/* Behind a function: a way out of each of its cuts, which all end in one. */
static void emit_stubs(struct layout *l, uint32_t func)
{
	const struct bb_cuts *c = l->parts->cuts;
	const struct bb_func *f = &l->parts->cfg->funcs[func];
	uint32_t first = 0, end;
	uint8_t id = l->f->count_reg >= 0 ? (uint8_t)l->f->count_reg : BPF_REG_3;

	if (l->form->logs || !l->f->is_cut)
		return;
	while (first < c->n && c->v[first].slot < f->first)
		first++;
	for (end = first; end < c->n && c->v[end].slot < f->end; end++) {
		if (l->checks[2 * end + 1] == UINT32_MAX)
			continue;
		l->stubs[end] = l->out.n;
		if (l->f->count_reg >= 0) /* the count is used up */
			emit(l, BPF_ALU64 | BPF_MOV | BPF_K, id, 0, 0, (int32_t)end + 1);
		else
			emit(l, BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, l->f->count_off,
			     (int32_t)end + 1);
		emit(l, BPF_JMP | BPF_JA, 0, 0, 0, 0);
	}
	emit_sums(l, first, end);
	if (l->f->count_reg < 0)
		emit(l, BPF_LDX | BPF_MEM | BPF_DW, id, BPF_REG_10, l->f->count_off, 0);
	emit_memory(l, BPF_REG_2, ENDED_AT);
	emit(l, BPF_STX | BPF_MEM | BPF_DW, BPF_REG_2, id, 0, 0);
	emit(l, BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_2, BPF_REG_2, IS_BARE - ENDED_AT, 0);
	emit(l, BPF_JMP | BPF_JNE | BPF_K, BPF_REG_2, 0, COVER, 0);
	for (int i = 0; i < COVER; i++)
		emit(l, BPF_ALU64 | BPF_MUL | BPF_K, BPF_REG_1, 0, 0, COVER_BY);
	l->f->leave = l->out.n;
	for (uint32_t k = l->parts->helds->n; k-- > 0;) /* the last that was taken first */
		if (l->parts->helds->v[k].func == func)
			emit_release(l, k);
	emit(l, BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, early_result(l, func));
	emit(l, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	for (uint32_t k = 0; k < l->n_leaving; k++)
		set_jump(l, l->leaving[k], l->f->leave);
	l->n_leaving = 0;
}

static void lay_out_insn(struct layout *l, uint32_t at, uint32_t func, uint32_t *cut)
{
	const struct bb_code *code = l->parts->code;
	const struct bb_cuts *cuts = l->parts->cuts;
	const struct bpf_insn *i = &code->insns[at];
	bool is_whole = !bb_insn_is_second_half(code->insns, at),
	     is_call = is_whole && bb_insn_is_call(i);

	l->out.moved[at] = l->out.n;
	if (at == l->parts->cfg->funcs[func].first)
		emit_prologue(l, func);
	l->landing[at] = l->out.n;
	if (*cut < cuts->n && cuts->v[*cut].slot == at && !cuts->v[*cut].after)
		emit_check(l, (*cut)++);
	if (is_call)
		emit_before_call(l, at);
	if (is_whole && bb_insn_is_exit(i))
		emit_epilogue(l, func);
	l->at[at] = l->out.n;
	l->out.insns[l->out.n++] = *i;
	if (is_call)
		emit_after_call(l, at);
	if (*cut < cuts->n && cuts->v[*cut].slot == at && cuts->v[*cut].after)
		emit_check(l, (*cut)++);
}

static void lay_out(struct layout *l)
{
	const struct bb_cfg *g = l->parts->cfg;
	uint32_t cut = 0;

	for (uint32_t func = 0; func < g->n_funcs; func++) {
		l->f = &l->funcs[func];
		for (uint32_t at = g->funcs[func].first; at < g->funcs[func].end; at++)
			lay_out_insn(l, at, func, &cut);
		emit_stubs(l, func);
	}
	l->out.moved[l->parts->code->n] = l->out.n;
}

static int mend(struct layout *l, struct bb_err *err)
{
	const struct bb_code *code = l->parts->code;

	for (uint32_t at = 0; at < code->n; at++) {
		const struct bpf_insn *old = &code->insns[at];
		uint32_t here = l->at[at];

		if (bb_insn_is_second_half(code->insns, at))
			continue;
		if (bb_insn_is_jump(old))
			set_jump(l, here, l->landing[bb_insn_jump_target(old, at)]);
		else if (bb_insn_is_function_call(old) || bb_insn_is_function_address(old))
			l->out.insns[here].imm =
				(int32_t)(l->out.moved[bb_insn_function_target(old, at)] - here -
					  1);
	}
	for (uint32_t k = 0; k < 2 * l->parts->cuts->n; k++)
		if (!l->form->logs && l->checks[k] != UINT32_MAX)
			set_jump(l, l->checks[k], l->stubs[k / 2]);
	if (l->is_too_long)
		return bb_fail(err, -ENOTSUP, "'%s' is too long for jumps out of all its cuts",
			       code->name);
	return 0;
}

static uint16_t used_registers(const struct layout *l, uint32_t func)
{
	const struct bb_code *code = l->parts->code;
	const struct bb_func *f = &l->parts->cfg->funcs[func];
	uint16_t used = 0;

	for (uint32_t at = f->first; at < f->end; at++) {
		const struct bpf_insn *i = &code->insns[at];

		if (bb_insn_is_second_half(code->insns, at))
			continue;
		used |= BB_REG(i->dst_reg);
		if (!bb_insn_is_call(i) && !bb_insn_is_wide(i))
			used |= BB_REG(i->src_reg);
		if (bb_insn_is_packet_load(i))
			used |= BB_REG(BPF_REG_6);
	}
	return used;
}

/* Which functions have cuts that are on, and which call those. */
static void find_cut_functions(struct layout *l)
{
	const struct bb_code *code = l->parts->code;
	const struct bb_cfg *g = l->parts->cfg;
	const struct bb_cuts *c = l->parts->cuts;
	bool found = true;

	l->funcs[0].is_cut = true;
	for (uint32_t k = 0; k < c->n; k++)
		if (!c->v[k].is_off)
			l->funcs[bb_cfg__func_at(g, c->v[k].slot)].is_cut = true;
	while (found) {
		found = false;
		for (uint32_t at = 0; at < code->n; at++) {
			struct place *f = &l->funcs[bb_cfg__func_at(g, at)];

			if (f->is_cut || bb_insn_is_second_half(code->insns, at) ||
			    !bb_insn_is_call(&code->insns[at]) ||
			    c->entered[f - l->funcs] == BB_ENTERED_NEVER || cut_callee(l, at) < 0)
				continue;
			f->is_cut = found = true;
		}
	}
	for (uint32_t k = 0; k < l->parts->helds->n; k++) {
		uint32_t at = l->parts->helds->v[k].at;

		if (bb_insn_is_function_call(&code->insns[at]))
			l->funcs[bb_cfg__func_at(g,
						 (uint32_t)bb_insn_function_target(&code->insns[at],
										   at))]
				.returns_held = true;
	}
	for (uint32_t f = 0; f < g->n_funcs; f++)
		l->funcs[f].returns = true;
	for (uint32_t at = 0; at < code->n; at++)
		if (!bb_insn_is_second_half(code->insns, at) && bb_insn_is_exit(&code->insns[at]) &&
		    !(l->parts->live->known[at] & BB_REG(BPF_REG_0)))
			l->funcs[bb_cfg__func_at(g, at)].returns = false;
}

static bool calls_cut_functions(const struct layout *l, uint32_t func)
{
	const struct bb_code *code = l->parts->code;
	const struct bb_func *f = &l->parts->cfg->funcs[func];

	for (uint32_t at = f->first; at < f->end; at++)
		if (!bb_insn_is_second_half(code->insns, at) && bb_insn_is_call(&code->insns[at]) &&
		    cut_callee(l, at) >= 0)
			return true;
	return false;
}

/* Where a function keeps the count and what it holds. */
static int find_room_in(struct layout *l, uint32_t func, struct bb_err *err)
{
	struct place *f = &l->funcs[func];
	uint16_t used = used_registers(l, func);
	uint32_t stack = l->parts->stack_bytes[func], depth = (stack + 7) & ~7U;

	f->count_reg = -1;
	for (int r = BPF_REG_9; r >= BPF_REG_6 && f->count_reg < 0; r--)
		if (!(used & BB_REG(r)))
			f->count_reg = r;
	if (!f->is_cut)
		return 0;
	if (f->count_reg < 0) {
		depth += 8;
		f->count_off = (int16_t) - (int)depth;
	}
	if (l->form->logs || (f->count_reg < 0 && calls_cut_functions(l, func))) {
		depth += 16;
		f->save_off = (int16_t) - (int)depth;
	}
	for (uint32_t k = 0; !l->form->logs && k < l->parts->helds->n; k++) {
		if (l->parts->helds->v[k].func != func)
			continue;
		depth += 8;
		l->held_off[k] = (int16_t) - (int)depth;
		depth += has_flag(&l->parts->helds->v[k]) ? 8 : 0;
	}
	if (depth > STACK_BYTES)
		return bb_fail(err, -ENOTSUP,
			       "'%s' leaves no room for cuts: they need %u bytes of its stack, of "
			       "which it uses %u of %u",
			       l->parts->code->name, depth - stack, stack, STACK_BYTES);
	return 0;
}

static int find_room(struct layout *l, struct bb_err *err)
{
	int rc = 0;

	l->funcs = calloc(l->parts->cfg->n_funcs, sizeof(*l->funcs));
	if (!l->funcs)
		return bb_fail_nomem(err);
	find_cut_functions(l);
	for (uint32_t f = 0; !rc && f < l->parts->cfg->n_funcs; f++)
		rc = find_room_in(l, f, err);
	return rc;
}

static int build(struct layout *l, struct bb_err *err)
{
	const struct bb_code *code = l->parts->code;
	size_t n_cuts = l->parts->cuts->n, n_held = l->parts->helds->n,
	       n_around = l->parts->cfg->n_funcs, most;

	for (uint32_t at = 0; at < code->n; at++)
		n_around += !bb_insn_is_second_half(code->insns, at) &&
			    (bb_insn_is_exit(&code->insns[at]) ||
			     bb_insn_is_call(&code->insns[at]));
	most = code->n * (1 + (n_held ? 2 + n_held : 0)) + n_cuts * (CHECK_SLOTS + STUB_SLOTS) +
	       n_held * PER_HELD + n_around * CALL_SLOTS +
	       (COVER + 32) * (size_t)l->parts->cfg->n_funcs;

	l->landing = calloc(code->n, sizeof(*l->landing));
	l->at = calloc(code->n, sizeof(*l->at));
	l->checks = calloc(2 * n_cuts + 1, sizeof(*l->checks));
	l->stubs = calloc(n_cuts + 1, sizeof(*l->stubs));
	l->leaving = calloc(n_around + 1, sizeof(*l->leaving));
	l->out.insns = calloc(most, sizeof(*l->out.insns));
	l->out.moved = calloc(code->n + 1, sizeof(*l->out.moved));
	l->out.with = "cuts";
	if (!l->landing || !l->at || !l->checks || !l->stubs || !l->leaving || !l->out.insns ||
	    !l->out.moved)
		return bb_fail_nomem(err);
	lay_out(l);
	if (l->out.n > MOST_INSNS)
		return bb_fail(err, -ENOTSUP,
			       "'%s' is %u instructions with cuts; more than %u are not tried",
			       code->name, l->out.n, MOST_INSNS);
	return mend(l, err);
}

int bb_cut_clone__load(const struct bb_cut_parts *parts, const struct bb_cut_form *form,
		       int *ret_prog_fd, struct bb_err *err)
{
	struct layout l = {.parts = parts, .form = form};
	int rc = find_room(&l, err);

	if (!rc)
		rc = build(&l, err);
	if (!rc)
		rc = bb_load__program(parts->code, &l.out, ret_prog_fd, err);
	free(l.funcs);
	free(l.leaving);
	free(l.landing);
	free(l.at);
	free(l.checks);
	free(l.stubs);
	bb_instrumented__done(&l.out);
	return rc;
}

int bb_cut_clone__load_empty(const struct bb_code *code, int32_t retval, int *ret_prog_fd,
			     struct bb_err *err)
{
	struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = retval},
		{.code = BPF_JMP | BPF_EXIT},
	};
	struct bb_code empty = *code;

	empty.insns = insns;
	empty.n = 2;
	empty.n_lines = 0;
	empty.n_funcs = 0;
	empty.btf_fd = -1;
	return bb_load__program(&empty, NULL, ret_prog_fd, err);
}
