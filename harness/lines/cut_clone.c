/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lines/cut_clone.h"

/* A run ends early when its count is OUT. If OUT were the smallest or largest value of a register,
 * the verifier would learn a narrower range of the count from each check. */
#define OUT 7
#define NEVER 0x7fffff13 /* a count that no run reaches */
/* Returned by a function that ended early. It is a constant, so the verifier can tell it from other
 * constants. */
#define CUT_SHORT 0x7ffe6b31
/* most instruction slots of the check at a cut */
#define CHECK_SLOTS 14u
/* most instruction slots added around a call, an exit or a function */
#define CALL_SLOTS 32u
/* most instruction slots that zero, store and release one resource that the program holds */
#define PER_HELD 8u
/* Number of multiplications at the start of the exit path (see bb_cut_memory__end_at()). The first
 * one waits for the program's last values, and each other one for the result of the one before.
 * They take 18 to 25 ns together. A CPU executes up to 15 ns of the exit path while it waits for an
 * earlier result. Without the multiplications, it would wait for the program's last values, which
 * takes longer at some cuts than at others. With them, it waits at least 18 ns at every cut. So
 * this wait hides the same part of the exit path at every cut (docs/methods/line-cuts.md). */
#define COVER 24
#define COVER_BY 0x5bd1e995 /* odd, so that no product becomes 0 */
/* instruction slots of a cut's exit path, without the code that all cuts share */
#define STUB_SLOTS 22u
#define NO_CHECK UINT32_MAX

#define LOAD (BPF_LDX | BPF_MEM | BPF_DW)
#define STORE (BPF_STX | BPF_MEM | BPF_DW)
#define STORE_NUMBER (BPF_ST | BPF_MEM | BPF_DW)
#define SET (BPF_ALU64 | BPF_MOV | BPF_K)
#define ADD (BPF_ALU64 | BPF_ADD | BPF_K)
#define GOTO (BPF_JMP | BPF_JA)
#define IF_EQUAL (BPF_JMP | BPF_JEQ | BPF_K)
#define UNLESS_EQUAL (BPF_JMP | BPF_JNE | BPF_K)

/* Offsets in the shared memory, in bytes. A run's count at the start is OUT + 1 plus the number of
 * cuts that it passes before the one at which it ends. The count falls by 1 at each cut. */
enum {
	LEFT = 0,     /* the count that a run starts with; 0 lets the run go to its end */
	ENDED_AT = 8, /* 1 + index of the cut that ended the run; 0 if none did */
	/* the count on its way from a caller to its callee, or back */
	COUNT = 16,
	LOGGED = 24,  /* number of cuts that runs have passed since the log was emptied */
	IS_BARE = 32, /* not 0 if the exit path skips its multiplications */
	/* the log, a ring of 4-byte numbers (1 + index of a cut) that begins at entry 1 */
	LOG = 40,
	BYTES = LOG + 4 * BB_CUT_LOG,
};

int bb_cut_memory__open(struct bb_shared_memory *ret_memory, struct bb_err *err)
{
	return bb_shared_memory__open("bb_cut", BYTES, ret_memory, err);
}

void bb_cut_memory__end_at(const struct bb_shared_memory *m, uint64_t nth, bool is_bare)
{
	m->v[LEFT / 8] = OUT + 1 + nth;
	m->v[ENDED_AT / 8] = 0;
	m->v[IS_BARE / 8] = is_bare;
}

void bb_cut_memory__end_nowhere(const struct bb_shared_memory *m)
{
	m->v[LEFT / 8] = m->v[ENDED_AT / 8] = 0;
}

int64_t bb_cut_memory__ended_at(const struct bb_shared_memory *m)
{
	return (int64_t)m->v[ENDED_AT / 8] - 1;
}

void bb_cut_memory__begin_log(const struct bb_shared_memory *m)
{
	m->v[LOGGED / 8] = 0;
}

uint64_t bb_cut_memory__logged(const struct bb_shared_memory *m)
{
	return m->v[LOGGED / 8];
}

uint32_t bb_cut_memory__log(const struct bb_shared_memory *m, uint64_t nth)
{
	const volatile uint32_t *log = (const volatile uint32_t *)&m->v[LOG / 8];

	return log[(nth + 1) % BB_CUT_LOG] - 1;
}

struct function {
	bool is_cut;       /* true if the function has cuts, or calls one that has */
	bool returns;      /* true if r0 has a value at each exit */
	bool returns_held; /* true if the function returns a resource that its caller must
			    * release */
	int count_reg;     /* unused register that keeps the count; -1 if there is none */
	int16_t count_off; /* stack offset of the count if count_reg is -1 */
	int16_t save_off;  /* stack offset of two words in which registers are saved */
};

struct layout {
	const struct bb_code *code;
	const struct bb_cfg *g;
	const struct bb_registers *live;
	const struct bb_helds *helds;
	const struct bb_cuts *cuts;
	const struct bb_cut_parts *parts;
	const struct bb_cut_form *form;
	unsigned int times; /* how often each check is made: 1 or 2 */
	struct function *funcs;
	struct function *f;
	int16_t held_off[BB_MAX_HELD];
	uint32_t *checks; /* by cut: slots at which its two checks jump to its exit path; NO_CHECK
			   * if there is no such check */
	uint32_t *stubs;  /* by cut: slot at which its exit path begins */
	/* slots of the jumps that end a caller because its callee ended early */
	uint32_t *leaving;
	uint32_t n_leaving;
	bool is_too_long;
	struct bb_rewrite out;
};

static void emit(struct layout *l, uint8_t code, uint8_t dst, uint8_t src, int16_t off, int32_t imm)
{
	bb_emit(&l->out, code, dst, src, off, imm);
}

static void emit_memory(struct layout *l, uint8_t reg, uint32_t offset)
{
	bb_emit_address(&l->out, reg, l->parts->memory_fd, offset);
}

/* True if the stack word below the resource's pointer says whether the resource is held. */
static bool has_flag(const struct bb_held *h)
{
	return h->by != BB_HELD_RESULT;
}

/* Returns the stack offset of the word that is 0 while resource k is not held. */
static int16_t held_word(const struct layout *l, uint32_t k)
{
	return (int16_t)(l->held_off[k] - (has_flag(&l->helds->v[k]) ? 8 : 0));
}

/* Loads the count from offset `from` of the shared memory. Overwrites `reg`. */
static void emit_load_count(struct layout *l, uint8_t reg, uint32_t from)
{
	uint8_t count = l->f->count_reg >= 0 ? (uint8_t)l->f->count_reg : reg;

	emit_memory(l, reg, from);
	emit(l, LOAD, count, reg, 0, 0);
	if (l->f->count_reg < 0)
		emit(l, STORE, BPF_REG_10, count, l->f->count_off, 0);
}

/* Stores the count in the shared memory. Overwrites `reg` and, if the stack keeps the count,
 * `other`. */
static void emit_store_count(struct layout *l, uint8_t reg, uint8_t other)
{
	uint8_t count = l->f->count_reg >= 0 ? (uint8_t)l->f->count_reg : other;

	if (l->f->count_reg < 0)
		emit(l, LOAD, count, BPF_REG_10, l->f->count_off, 0);
	emit_memory(l, reg, COUNT);
	emit(l, STORE, reg, count, 0, 0);
}

/* Overwrites r0 and, in the main function, r2. */
static void emit_prologue(struct layout *l, uint32_t func)
{
	if (!func) {
		emit_memory(l, BPF_REG_2, ENDED_AT);
		emit(l, STORE_NUMBER, BPF_REG_2, 0, 0, 0);
	}
	for (unsigned int i = 0; i < (func ? l->times : 1); i++)
		emit_load_count(l, BPF_REG_0, func ? COUNT : LEFT);
	for (uint32_t k = 0; k < l->helds->n; k++)
		if (l->helds->v[k].func == func)
			emit(l, STORE_NUMBER, BPF_REG_10, 0, held_word(l, k), 0);
}

static void emit_one_check(struct layout *l, uint8_t reg, uint32_t *jump, int32_t step, int32_t out)
{
	if (l->f->count_reg < 0)
		emit(l, LOAD, reg, BPF_REG_10, l->f->count_off, 0);
	emit(l, ADD, reg, 0, 0, step);
	if (l->f->count_reg < 0)
		emit(l, STORE, BPF_REG_10, reg, l->f->count_off, 0);
	if (l->form->stub_first)
		emit(l, UNLESS_EQUAL, reg, 0, 1, out);
	*jump = l->out.n;
	if (l->form->stub_first)
		emit(l, GOTO, 0, 0, 0, 0);
	else
		emit(l, IF_EQUAL, reg, 0, 0, out);
}

/* Returns the register for the check at a cut: the one that keeps the count, else a free one, else
 * -1. r1 is free after a call. */
static int free_reg(const struct layout *l, const struct bb_cut *c)
{
	if (l->f->count_reg >= 0)
		return l->f->count_reg;
	if (c->after)
		return BPF_REG_1;
	for (int r = 0; r < 10; r++)
		if (!(l->live->live[c->slot] & BB_REG(r)))
			return r;
	return -1;
}

static void emit_log(struct layout *l, uint32_t cut)
{
	const struct bb_cut *c = &l->cuts->v[cut];
	uint8_t r[2] = {BPF_REG_1, BPF_REG_2}, save[2] = {0}; /* r1 and r2 are free after a call */

	if (!c->after && bb_registers__two(l->live, c->slot, r, save) == BB_NO_TWO)
		return;
	bb_emit_saves(&l->out, r, save, l->f->save_off + 16, false);
	emit_memory(l, r[0], LOGGED);
	emit(l, LOAD, r[1], r[0], 0, 0);
	emit(l, ADD, r[1], 0, 0, 1);
	emit(l, STORE, r[0], r[1], 0, 0);
	emit(l, BPF_ALU64 | BPF_AND | BPF_K, r[1], 0, 0, (int32_t)BB_CUT_LOG - 1);
	emit(l, BPF_ALU64 | BPF_LSH | BPF_K, r[1], 0, 0, 2);
	emit(l, BPF_ALU64 | BPF_ADD | BPF_X, r[0], r[1], 0, 0);
	emit(l, BPF_ST | BPF_MEM | BPF_W, r[0], 0, LOG - LOGGED, (int32_t)cut + 1);
	bb_emit_saves(&l->out, r, save, l->f->save_off + 16, true);
}

static void emit_check(struct layout *l, uint32_t cut)
{
	const struct bb_cut *c = &l->cuts->v[cut];
	int reg = c->is_off ? -1 : free_reg(l, c);

	l->checks[2 * cut] = l->checks[2 * cut + 1] = NO_CHECK;
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

/* Returns the function that the instruction calls, directly or as a callback, if it has cuts, else
 * -1. */
static int64_t cut_callee(const struct layout *l, uint32_t at)
{
	int64_t func = -1;

	if (bb_insn_is_function_call(&l->code->insns[at]))
		func = bb_cfg__callee(l->g, l->code, at);
	else if (bb_insn_is_call(&l->code->insns[at]))
		func = bb_cuts__called_back(l->code, l->g, at);
	return func >= 0 && l->funcs[func].is_cut ? func : -1;
}

static void emit_before_call(struct layout *l, uint32_t at)
{
	const struct bb_held *h = l->helds->v;
	/* The callee continues the caller's count. Storing the count overwrites r0, which is free
	 * here. If the count is on the stack, storing it also overwrites r1. So r1 is saved if the
	 * program needs its value. */
	bool saves = l->f->count_reg < 0 && l->live->live[at] & l->live->known[at] & BB_REG(1);

	for (uint32_t k = 0; k < l->helds->n; k++)
		if (h[k].at == at && h[k].by == BB_HELD_ARGUMENT)
			emit(l, STORE, BPF_REG_10, h[k].arg, l->held_off[k], 0);
	for (unsigned int i = 0; i < l->times && cut_callee(l, at) >= 0; i++) {
		if (saves)
			emit(l, STORE, BPF_REG_10, BPF_REG_1, l->f->save_off, 0);
		emit_store_count(l, BPF_REG_0, BPF_REG_1);
		if (saves)
			emit(l, LOAD, BPF_REG_1, BPF_REG_10, l->f->save_off, 0);
	}
}

/* Notes on the stack which resource the call acquired and which ones it released. Ends the caller
 * early if the callee ended early. */
static void emit_after_call(struct layout *l, uint32_t at)
{
	const struct bb_held *h = l->helds->v;
	int64_t callee = cut_callee(l, at);

	for (uint32_t k = 0; k < l->helds->n; k++)
		if (h[k].at == at && h[k].by == BB_HELD_RESULT)
			emit(l, STORE, BPF_REG_10, BPF_REG_0, l->held_off[k], 0);
	/* If the callee has a result, the code first compares the result with CUT_SHORT. Where the
	 * verifier knows that the result is another value, it does not follow the early end. */
	if (callee >= 0 && bb_insn_is_function_call(&l->code->insns[at]) &&
	    l->cuts->entered[callee] == BB_ENTERED_BY_CALL && l->funcs[callee].returns &&
	    !l->funcs[callee].returns_held)
		emit(l, UNLESS_EQUAL, BPF_REG_0, 0, 5, CUT_SHORT);
	if (callee >= 0) {
		emit_memory(l, BPF_REG_1, ENDED_AT);
		emit(l, LOAD, BPF_REG_1, BPF_REG_1, 0, 0);
		emit(l, IF_EQUAL, BPF_REG_1, 0, 1, 0);
		l->leaving[l->n_leaving++] = l->out.n;
		emit(l, GOTO, 0, 0, 0, 0);
	}
	for (uint32_t k = 0; k < l->helds->n; k++) {
		if (h[k].at == at && h[k].by != BB_HELD_RESULT)
			emit(l, STORE_NUMBER, BPF_REG_10, 0, held_word(l, k), 1);
		else if (h[k].at != at && l->helds->released[at] & 1U << k)
			emit(l, STORE_NUMBER, BPF_REG_10, 0, held_word(l, k), 0);
	}
	for (unsigned int i = 0; i < l->times && callee >= 0; i++)
		emit_load_count(l, BPF_REG_1, COUNT);
}

static int32_t early_result(const struct layout *l, uint32_t func)
{
	switch (l->cuts->entered[func]) {
	case BB_ENTERED_MAIN: return l->form->retval;
	case BB_ENTERED_BY_LOOP: return 1;
	case BB_ENTERED_BY_ONCE: return 0;
	default: return l->f->returns_held ? 0 : CUT_SHORT;
	}
}

/* Makes r1 depend on all registers in `regs`, by adding them up. */
static void emit_sum(struct layout *l, uint16_t regs)
{
	/* The verifier forbids sums of pointers, but takes the lower half of a pointer for a
	 * number. */
	if (regs & BB_REG(BPF_REG_1))
		emit(l, BPF_ALU | BPF_MOV | BPF_X, BPF_REG_1, BPF_REG_1, 0, 0);
	else
		emit(l, SET, BPF_REG_1, 0, 0, 1);
	for (uint8_t r = 0; r < 10; r++) {
		if (r == BPF_REG_1 || !(regs & BB_REG(r)))
			continue;
		emit(l, BPF_ALU | BPF_MOV | BPF_X, r, r, 0, 0);
		emit(l, BPF_ALU | BPF_ADD | BPF_X, BPF_REG_1, r, 0, 0);
	}
}

static void set_jump(struct layout *l, uint32_t from, uint32_t to)
{
	l->is_too_long |= !bb_rewrite__jump(&l->out, from, to);
}

/* Adds up the registers whose values the CPU may not have computed yet when it reaches an exit
 * path. The cuts [first, end) with the same registers share this code. r0 is added only if the
 * program reads it, because a called function may leave r0 without a value. */
static void emit_sums(struct layout *l, uint32_t first, uint32_t end)
{
	/* The index is a bit mask of registers. sums[] has the first slot of the code that adds up
	 * these registers, and goes_on[] has the slot of the goto after this code. 0 means that no
	 * cut needs this code. */
	uint32_t sums[1U << 10] = {0}, goes_on[1U << 10] = {0};

	for (uint32_t k = first; k < end; k++) {
		uint32_t at = l->cuts->v[k].slot + l->cuts->v[k].after;
		uint16_t regs = at < l->code->n
					? l->live->known[at] &
						  (uint16_t)(l->live->live[at] | ~BB_REG(BPF_REG_0))
					: 0;

		if (l->checks[2 * k + 1] == NO_CHECK)
			continue;
		if (!sums[regs]) {
			sums[regs] = l->out.n;
			emit_sum(l, regs);
			goes_on[regs] = l->out.n;
			emit(l, GOTO, 0, 0, 0, 0);
		}
		set_jump(l, l->stubs[k] + 1, sums[regs]);
	}
	for (uint32_t regs = 0; regs < 1U << 10; regs++)
		if (goes_on[regs])
			set_jump(l, goes_on[regs], l->out.n);
}

static void emit_stubs(struct layout *l, uint32_t func)
{
	const struct bb_cuts *c = l->cuts;
	const struct bb_func *f = &l->g->funcs[func];
	uint32_t first = 0, end;
	uint8_t id = l->f->count_reg >= 0 ? (uint8_t)l->f->count_reg : BPF_REG_3;

	while (first < c->n && c->v[first].slot < f->first)
		first++;
	for (end = first; end < c->n && c->v[end].slot < f->end; end++) {
		if (l->checks[2 * end + 1] == NO_CHECK)
			continue;
		l->stubs[end] = l->out.n;
		if (l->f->count_reg >= 0) /* the count is used up, so its register is free */
			emit(l, SET, id, 0, 0, (int32_t)end + 1);
		else
			emit(l, STORE_NUMBER, BPF_REG_10, 0, l->f->count_off, (int32_t)end + 1);
		emit(l, GOTO, 0, 0, 0, 0);
	}
	emit_sums(l, first, end);
	if (l->f->count_reg < 0)
		emit(l, LOAD, id, BPF_REG_10, l->f->count_off, 0);
	emit_memory(l, BPF_REG_2, ENDED_AT);
	emit(l, STORE, BPF_REG_2, id, 0, 0);
	emit(l, LOAD, BPF_REG_2, BPF_REG_2, IS_BARE - ENDED_AT, 0);
	emit(l, UNLESS_EQUAL, BPF_REG_2, 0, COVER, 0);
	for (int i = 0; i < COVER; i++)
		emit(l, BPF_ALU64 | BPF_MUL | BPF_K, BPF_REG_1, 0, 0, COVER_BY);
	/* release the held resources in reverse order, and return */
	while (l->n_leaving)
		set_jump(l, l->leaving[--l->n_leaving], l->out.n);
	for (uint32_t k = l->helds->n; k-- > 0;) {
		const struct bb_held *h = &l->helds->v[k];
		bool loads = has_flag(h) && h->by != BB_HELD_SECTION;

		if (h->func != func)
			continue;
		emit(l, LOAD, BPF_REG_1, BPF_REG_10, held_word(l, k), 0);
		emit(l, IF_EQUAL, BPF_REG_1, 0, (int16_t)(1 + h->has_flags + loads), 0);
		if (loads)
			emit(l, LOAD, BPF_REG_1, BPF_REG_10, l->held_off[k], 0);
		if (h->has_flags)
			emit(l, SET, BPF_REG_2, 0, 0, h->flags);
		emit(l, BPF_JMP | BPF_CALL, 0, h->is_kfunc ? BPF_PSEUDO_KFUNC_CALL : 0, 0,
		     h->release);
	}
	emit(l, SET, BPF_REG_0, 0, 0, early_result(l, func));
	emit(l, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

static void lay_out(struct layout *l)
{
	const struct bb_cut *cut = l->cuts->v, *end = cut + l->cuts->n;
	struct bb_rewrite *out = &l->out;

	for (uint32_t at = 0; at < l->code->n; at += bb_insn_slots(&l->code->insns[at])) {
		const struct bpf_insn *i = &l->code->insns[at];
		uint32_t func = bb_cfg__func_at(l->g, at);

		l->f = &l->funcs[func];
		bool can_end = !l->form->logs && l->f->is_cut;
		out->moved[at] = out->n;
		if (can_end && at == l->g->funcs[func].first)
			emit_prologue(l, func);
		out->landing[at] = out->n;
		if (cut < end && cut->slot == at && !cut->after)
			emit_check(l, (uint32_t)(cut++ - l->cuts->v));
		if (can_end && bb_insn_is_call(i))
			emit_before_call(l, at);
		if (can_end && func && bb_insn_is_exit(i)) /* r0 is the result, r1 to r5 are free */
			for (unsigned int k = 0; k < l->times; k++)
				emit_store_count(l, BPF_REG_1, BPF_REG_2);
		bb_emit_old(out, at);
		if (can_end && bb_insn_is_call(i))
			emit_after_call(l, at);
		if (cut < end && cut->slot == at && cut->after)
			emit_check(l, (uint32_t)(cut++ - l->cuts->v));
		if (can_end && at + bb_insn_slots(i) == l->g->funcs[func].end)
			emit_stubs(l, func);
	}
	out->moved[l->code->n] = out->n;
}

/* Finds the functions with cuts, or with calls of such functions. Also finds which return a value,
 * and which return a held resource. */
static void find_cut_functions(struct layout *l)
{
	const struct bpf_insn *insns = l->code->insns;
	const struct bb_cuts *c = l->cuts;
	bool found = true;

	l->funcs[0].is_cut = true;
	for (uint32_t k = 0; k < c->n; k++)
		if (!c->v[k].is_off)
			l->funcs[bb_cfg__func_at(l->g, c->v[k].slot)].is_cut = true;
	while (found) {
		found = false;
		for (uint32_t at = 0; at < l->code->n; at += bb_insn_slots(&insns[at])) {
			uint32_t f = bb_cfg__func_at(l->g, at);

			if (!l->funcs[f].is_cut && c->entered[f] != BB_ENTERED_NEVER &&
			    cut_callee(l, at) >= 0)
				l->funcs[f].is_cut = found = true;
		}
	}
	for (uint32_t k = 0; k < l->helds->n; k++)
		if (bb_insn_is_function_call(&insns[l->helds->v[k].at]))
			l->funcs[bb_cfg__callee(l->g, l->code, l->helds->v[k].at)].returns_held =
				true;
	for (uint32_t f = 0; f < l->g->n_funcs; f++)
		l->funcs[f].returns = true;
	for (uint32_t at = 0; at < l->code->n; at += bb_insn_slots(&insns[at]))
		if (bb_insn_is_exit(&insns[at]) && !(l->live->known[at] & BB_REG(BPF_REG_0)))
			l->funcs[bb_cfg__func_at(l->g, at)].returns = false;
}

/* Chooses where a function keeps the count and its held resources. */
static int find_room(struct layout *l, uint32_t func, struct bb_err *err)
{
	struct function *f = &l->funcs[func];
	uint32_t stack = l->parts->stack_bytes[func], depth = (stack + 7) & ~7U;
	uint16_t used = 0;
	bool calls_cut_function = false;

	for (uint32_t at = l->g->funcs[func].first; at < l->g->funcs[func].end;
	     at += bb_insn_slots(&l->code->insns[at])) {
		const struct bpf_insn *i = &l->code->insns[at];

		used |= BB_REG(i->dst_reg);
		if (!bb_insn_is_call(i) && !bb_insn_is_wide(i))
			used |= BB_REG(i->src_reg);
		if (bb_insn_is_packet_load(i))
			used |= BB_REG(BPF_REG_6);
		calls_cut_function |= cut_callee(l, at) >= 0;
	}
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
	if (l->form->logs || (f->count_reg < 0 && calls_cut_function)) {
		depth += 16;
		f->save_off = (int16_t) - (int)depth;
	}
	for (uint32_t k = 0; !l->form->logs && k < l->helds->n; k++) {
		if (l->helds->v[k].func != func)
			continue;
		depth += 8;
		l->held_off[k] = (int16_t) - (int)depth;
		depth += has_flag(&l->helds->v[k]) ? 8 : 0;
	}
	if (depth > BB_STACK_BYTES)
		return bb_fail(err, -ENOTSUP,
			       "'%s' leaves no room for cuts: they need %u bytes of its stack, of "
			       "which it uses %u of %u",
			       l->code->name, depth - stack, stack, BB_STACK_BYTES);
	return 0;
}

static int build(struct layout *l, struct bb_err *err)
{
	const struct bb_code *code = l->code;
	size_t n_cuts = l->cuts->n, n_held = l->helds->n, n_around = l->g->n_funcs, most;
	int rc = 0;

	for (uint32_t at = 0; at < code->n; at += bb_insn_slots(&code->insns[at]))
		n_around += bb_insn_is_exit(&code->insns[at]) || bb_insn_is_call(&code->insns[at]);
	most = code->n * (1 + (n_held ? 2 + n_held : 0)) + n_cuts * (CHECK_SLOTS + STUB_SLOTS) +
	       n_held * PER_HELD + n_around * CALL_SLOTS + (COVER + 32) * (size_t)l->g->n_funcs;
	l->funcs = bb_calloc(l->g->n_funcs, sizeof(*l->funcs));
	l->checks = bb_calloc(2 * n_cuts + 1, sizeof(*l->checks));
	l->stubs = bb_calloc(n_cuts + 1, sizeof(*l->stubs));
	l->leaving = bb_calloc(n_around + 1, sizeof(*l->leaving));
	find_cut_functions(l);
	for (uint32_t f = 0; !rc && f < l->g->n_funcs; f++)
		rc = find_room(l, f, err);
	if (rc)
		return rc;
	bb_rewrite__open(&l->out, most);
	lay_out(l);
	if (l->out.n > BB_MOST_INSNS)
		return bb_fail(err, -ENOTSUP,
			       "'%s' is %u instructions with cuts; more than %u are not tried",
			       code->name, l->out.n, BB_MOST_INSNS);
	l->is_too_long |= !bb_rewrite__mend(&l->out);
	for (uint32_t k = 0; k < 2 * n_cuts; k++)
		if (!l->form->logs && l->checks[k] != NO_CHECK)
			set_jump(l, l->checks[k], l->stubs[k / 2]);
	return l->is_too_long
		       ? bb_fail(err, -ENOTSUP, "'%s' is too long for jumps out of all its cuts",
				 code->name)
		       : 0;
}

int bb_cut_clone__load(const struct bb_cut_parts *parts, const struct bb_cut_form *form,
		       int *ret_prog_fd, struct bb_err *err)
{
	struct layout l = {.code = &parts->code,
			   .g = &parts->cfg,
			   .live = &parts->live,
			   .helds = &parts->helds,
			   .cuts = &parts->cuts,
			   .parts = parts,
			   .form = form,
			   .times = form->doubled ? 2 : 1,
			   .out = {.code = &parts->code, .with = "cuts"}};
	int rc = build(&l, err);

	if (!rc)
		rc = bb_load__program(&parts->code, &l.out, ret_prog_fd, err);
	free(l.funcs);
	free(l.leaving);
	free(l.checks);
	free(l.stubs);
	bb_rewrite__done(&l.out);
	return rc;
}
