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
#define STACK_BYTES 512u  /* MAX_BPF_STACK */
#define CHECK_SLOTS 10u   /* at most: doubled, with the count on the stack */
#define PER_HELD 8u       /* to zero, to keep, to give back */
#define MOST_INSNS 65536u /* see exact/clone.c */
#define MEMORY_LEFT 0     /* byte offsets in the memory */
#define MEMORY_ENDED_AT 8

int bb_cut_memory__open(struct bb_cut_memory *ret_memory, struct bb_err *err)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	struct bb_cut_memory m = {.fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "bb_cut",
						       sizeof(uint32_t), 2 * sizeof(uint64_t), 1,
						       &opts)};
	void *shared;
	int rc;

	if (m.fd < 0) {
		rc = -errno;
		return bb_fail(err, rc == -EINVAL ? -ENOTSUP : rc,
			       "a map that can be mapped into memory (Linux 5.5): %s",
			       strerror(-rc));
	}
	shared = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE, MAP_SHARED, m.fd,
		      0);
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
	munmap((void *)(uintptr_t)m->v, (size_t)sysconf(_SC_PAGESIZE));
	close(m->fd);
	*m = (struct bb_cut_memory){.fd = -1};
}

void bb_cut_memory__end_at(const struct bb_cut_memory *m, uint64_t nth)
{
	m->v[0] = OUT + 1 + nth;
	m->v[1] = 0;
}

void bb_cut_memory__end_nowhere(const struct bb_cut_memory *m)
{
	m->v[0] = m->v[1] = 0;
}

int64_t bb_cut_memory__ended_at(const struct bb_cut_memory *m)
{
	return (int64_t)m->v[1] - 1;
}

/* The clone while it is laid out. */
struct layout {
	const struct bb_cut_parts *parts;
	const struct bb_cut_form *form;
	uint32_t end;      /* of the main function */
	int count_reg;     /* register that it does not use, which keeps the count; -1: none */
	int16_t count_off; /* then it is on the stack */
	int16_t held_off[BB_MAX_HELD];
	uint32_t *landing; /* by old slot: where jumps to it lead */
	uint32_t *at;      /* by old slot: where the instruction is */
	uint32_t *checks;  /* by cut: where its jump out is; by twos */
	uint32_t *stubs;   /* by cut */
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

/* Only r1 has a value here. */
static void emit_prologue(struct layout *l)
{
	uint8_t reg = l->count_reg >= 0 ? (uint8_t)l->count_reg : BPF_REG_2;

	emit_memory(l, BPF_REG_2, MEMORY_LEFT);
	emit(l, BPF_LDX | BPF_MEM | BPF_DW, reg, BPF_REG_2, 0, 0);
	if (l->count_reg < 0)
		emit(l, BPF_STX | BPF_MEM | BPF_DW, BPF_REG_10, reg, l->count_off, 0);
	for (uint32_t k = 0; k < l->parts->helds->n; k++)
		emit(l, BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, tell_off(l, k), 0);
}

static void emit_one_check(struct layout *l, uint8_t reg, uint32_t *jump, int32_t step, int32_t out)
{
	if (l->count_reg < 0)
		emit(l, BPF_LDX | BPF_MEM | BPF_DW, reg, BPF_REG_10, l->count_off, 0);
	emit(l, BPF_ALU64 | BPF_ADD | BPF_K, reg, 0, 0, step);
	if (l->count_reg < 0)
		emit(l, BPF_STX | BPF_MEM | BPF_DW, BPF_REG_10, reg, l->count_off, 0);
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

	if (l->count_reg >= 0)
		return l->count_reg;
	if (c->after)
		return BPF_REG_1;
	for (int r = 0; r < 10; r++)
		if (!(live & BB_REG(r)))
			return r;
	return -1;
}

static void emit_check(struct layout *l, uint32_t cut)
{
	const struct bb_cut *c = &l->parts->cuts->v[cut];
	int reg = c->is_off ? -1 : free_reg(l, c);

	l->checks[2 * cut] = l->checks[2 * cut + 1] = UINT32_MAX;
	if (reg < 0)
		return;
	if (l->form->doubled)
		emit_one_check(l, (uint8_t)reg, &l->checks[2 * cut], 0, NEVER);
	emit_one_check(l, (uint8_t)reg, &l->checks[2 * cut + 1], -1, OUT);
}

/* What a call takes is kept, and no longer told of what it gives back. */
static void emit_after_call(struct layout *l, uint32_t at)
{
	const struct bb_helds *h = l->parts->helds;

	for (uint32_t k = 0; k < h->n; k++) {
		if (h->v[k].at == at && h->v[k].by == BB_HELD_RESULT)
			emit(l, BPF_STX | BPF_MEM | BPF_DW, BPF_REG_10, BPF_REG_0, l->held_off[k],
			     0);
		else if (h->v[k].at == at)
			emit(l, BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, tell_off(l, k), 1);
		else if (h->released[at] & 1U << k)
			emit(l, BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, tell_off(l, k), 0);
	}
}

static void emit_before_call(struct layout *l, uint32_t at)
{
	const struct bb_helds *h = l->parts->helds;

	for (uint32_t k = 0; k < h->n; k++)
		if (h->v[k].at == at && h->v[k].by == BB_HELD_ARGUMENT)
			emit(l, BPF_STX | BPF_MEM | BPF_DW, BPF_REG_10, h->v[k].arg, l->held_off[k],
			     0);
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

/* Behind the main function: a way out of each cut, which all end in one. */
static void emit_stubs(struct layout *l)
{
	const struct bb_cuts *c = l->parts->cuts;

	for (uint32_t k = 0; k < c->n; k++) {
		if (l->checks[2 * k + 1] == UINT32_MAX)
			continue;
		l->stubs[k] = l->out.n;
		emit(l, BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_1, 0, 0, (int32_t)k + 1);
		emit(l, BPF_JMP | BPF_JA, 0, 0, 0, 0);
	}
	for (uint32_t k = 0; k < c->n; k++)
		if (l->checks[2 * k + 1] != UINT32_MAX)
			l->out.insns[l->stubs[k] + 1].off = (int16_t)(l->out.n - l->stubs[k] - 2);
	emit_memory(l, BPF_REG_2, MEMORY_ENDED_AT);
	emit(l, BPF_STX | BPF_MEM | BPF_DW, BPF_REG_2, BPF_REG_1, 0, 0);
	for (uint32_t k = l->parts->helds->n; k-- > 0;) /* the last that was taken first */
		emit_release(l, k);
	emit(l, BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, l->form->retval);
	emit(l, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

static void lay_out(struct layout *l)
{
	const struct bb_code *code = l->parts->code;
	const struct bb_cuts *cuts = l->parts->cuts;
	uint32_t cut = 0;

	for (uint32_t at = 0; at < code->n; at++) {
		const struct bpf_insn *i = &code->insns[at];
		bool is_call = at < l->end && !bb_insn_is_second_half(code->insns, at) &&
			       bb_insn_is_call(i);

		if (at == l->end)
			emit_stubs(l);
		l->out.moved[at] = l->out.n;
		if (!at)
			emit_prologue(l);
		l->landing[at] = l->out.n;
		if (cut < cuts->n && cuts->v[cut].slot == at && !cuts->v[cut].after)
			emit_check(l, cut++);
		if (is_call)
			emit_before_call(l, at);
		l->at[at] = l->out.n;
		l->out.insns[l->out.n++] = *i;
		if (is_call)
			emit_after_call(l, at);
		if (cut < cuts->n && cuts->v[cut].slot == at && cuts->v[cut].after)
			emit_check(l, cut++);
	}
	if (l->end == code->n)
		emit_stubs(l);
	l->out.moved[code->n] = l->out.n;
}

static int set_distance(struct bpf_insn *i, int64_t distance)
{
	if (bb_insn_is_long_goto(i)) {
		i->imm = (int32_t)distance;
		return 0;
	}
	i->off = (int16_t)distance;
	return distance < INT16_MIN || distance > INT16_MAX ? -E2BIG : 0;
}

static int mend(struct layout *l, struct bb_err *err)
{
	const struct bb_code *code = l->parts->code;
	int rc = 0;

	for (uint32_t at = 0; at < code->n; at++) {
		const struct bpf_insn *old = &code->insns[at];
		uint32_t here = l->at[at];

		if (bb_insn_is_second_half(code->insns, at))
			continue;
		if (bb_insn_is_jump(old))
			rc |= set_distance(&l->out.insns[here],
					   (int64_t)l->landing[bb_insn_jump_target(old, at)] -
						   here - 1);
		else if (bb_insn_is_function_call(old) || bb_insn_is_function_address(old))
			l->out.insns[here].imm =
				(int32_t)(l->out.moved[bb_insn_function_target(old, at)] - here -
					  1);
	}
	for (uint32_t k = 0; k < 2 * l->parts->cuts->n; k++)
		if (l->checks[k] != UINT32_MAX)
			rc |= set_distance(&l->out.insns[l->checks[k]],
					   (int64_t)l->stubs[k / 2] - l->checks[k] - 1);
	if (rc)
		return bb_fail(err, -ENOTSUP, "'%s' is too long for jumps out of all its cuts",
			       code->name);
	return 0;
}

static uint16_t used_registers(const struct layout *l)
{
	const struct bb_code *code = l->parts->code;
	uint16_t used = 0;

	for (uint32_t at = 0; at < l->end; at++) {
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

/* Where the count and what is held are kept. */
static int find_room(struct layout *l, struct bb_err *err)
{
	uint16_t used = used_registers(l);
	uint32_t depth = (l->parts->stack_bytes[0] + 7) & ~7U;

	l->count_reg = -1;
	for (int r = BPF_REG_9; r >= BPF_REG_6 && l->count_reg < 0; r--)
		if (!(used & BB_REG(r)))
			l->count_reg = r;
	if (l->count_reg < 0) {
		depth += 8;
		l->count_off = (int16_t) - (int)depth;
	}
	for (uint32_t k = 0; k < l->parts->helds->n; k++) {
		depth += 8;
		l->held_off[k] = (int16_t) - (int)depth;
		depth += has_flag(&l->parts->helds->v[k]) ? 8 : 0;
	}
	if (depth > STACK_BYTES)
		return bb_fail(err, -ENOTSUP,
			       "'%s' leaves no room for cuts: they need %u bytes of its stack, of "
			       "which it uses %u of %u",
			       l->parts->code->name, depth - l->parts->stack_bytes[0],
			       l->parts->stack_bytes[0], STACK_BYTES);
	return 0;
}

static int build(struct layout *l, struct bb_err *err)
{
	const struct bb_code *code = l->parts->code;
	size_t n_cuts = l->parts->cuts->n, n_held = l->parts->helds->n,
	       most = code->n * (1 + (n_held ? 2 + n_held : 0)) + n_cuts * (CHECK_SLOTS + 2) +
		      n_held * PER_HELD + 16;

	l->landing = calloc(code->n, sizeof(*l->landing));
	l->at = calloc(code->n, sizeof(*l->at));
	l->checks = calloc(2 * n_cuts + 1, sizeof(*l->checks));
	l->stubs = calloc(n_cuts + 1, sizeof(*l->stubs));
	l->out.insns = calloc(most, sizeof(*l->out.insns));
	l->out.moved = calloc(code->n + 1, sizeof(*l->out.moved));
	l->out.with = "cuts";
	if (!l->landing || !l->at || !l->checks || !l->stubs || !l->out.insns || !l->out.moved)
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
	struct layout l = {.parts = parts, .form = form, .end = parts->cfg->funcs[0].end};
	int rc = find_room(&l, err);

	if (!rc)
		rc = build(&l, err);
	if (!rc)
		rc = bb_load__program(parts->code, &l.out, ret_prog_fd, err);
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
