/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "exact/origin.h"

#include <stdbool.h>

#include "bpf/insn.h"
#include "exact/liveness.h"

/* Blocks that are looked at for one answer, each with one register: compilers load a map where it
 * is used, or once before a loop. */
#define MOST_STEPS 64u

/* A block and the register that is followed to its end. */
struct step {
	uint32_t block;
	uint8_t reg;
	bool is_inner; /* the register holds the outer map */
};

struct walk {
	const struct bb_code *code;
	const struct bb_cfg *g;
	struct step steps[MOST_STEPS]; /* each is taken once */
	uint32_t n_steps;
	bool is_lost; /* some way does not show it, or two differ */
	struct bb_origin found;
};

static void note_origin(struct walk *w, enum bb_origin_kind kind, int32_t value)
{
	if (kind == BB_ORIGIN_UNKNOWN || (w->found.kind != BB_ORIGIN_UNKNOWN &&
					  (w->found.kind != kind || w->found.value != value)))
		w->is_lost = true;
	w->found = (struct bb_origin){kind, value};
}

static void add_step(struct walk *w, struct step s)
{
	for (uint32_t i = 0; i < w->n_steps; i++)
		if (w->steps[i].block == s.block && w->steps[i].reg == s.reg &&
		    w->steps[i].is_inner == s.is_inner)
			return;
	if (w->n_steps == MOST_STEPS)
		w->is_lost = true;
	else
		w->steps[w->n_steps++] = s;
}

/* To the ends of the blocks that lead to this one. */
static void go_before(struct walk *w, struct step s)
{
	bool any = false;

	for (uint32_t b = 0; b < w->g->n_blocks; b++) {
		uint32_t next[2];
		unsigned int n = bb_cfg__next(w->g, w->code, b, next);

		if ((n && next[0] == s.block) || (n == 2 && next[1] == s.block)) {
			any = true;
			add_step(w, (struct step){b, s.reg, s.is_inner});
		}
	}
	/* the arguments of a function, and what nothing leads to */
	if (!any || w->g->blocks[s.block].first == w->g->funcs[w->g->blocks[s.block].func].first)
		w->is_lost = true;
}

/* The instruction writes the register that is followed. True: another one is followed from here
 * on. */
static bool follow(struct walk *w, const struct bpf_insn *i, struct step *s)
{
	unsigned int op = i->code & ~(unsigned int)BPF_X;

	if (bb_insn_is_wide(i) && i->src_reg == BPF_PSEUDO_MAP_FD) {
		note_origin(w, s->is_inner ? BB_ORIGIN_INNER_MAP : BB_ORIGIN_MAP, i->imm);
		return false;
	}
	if (op == (BPF_ALU64 | BPF_MOV) && !i->off && i->code & BPF_X) {
		s->reg = i->src_reg;
		return true;
	}
	if (!s->reg && bb_insn_is_helper_call(i) && i->imm == BPF_FUNC_map_lookup_elem &&
	    !s->is_inner) {
		s->reg = BPF_REG_1;
		s->is_inner = true;
		return true;
	}
	if ((op == (BPF_ALU64 | BPF_MOV) || op == (BPF_ALU | BPF_MOV)) && !(i->code & BPF_X) &&
	    !s->is_inner)
		note_origin(w, BB_ORIGIN_NUMBER, i->imm);
	else
		note_origin(w, BB_ORIGIN_UNKNOWN, 0);
	return false;
}

/* Backwards from slot `at` to the beginning of its block. */
static void go_back(struct walk *w, uint32_t at, struct step s)
{
	while (at-- > w->g->blocks[s.block].first) {
		const struct bpf_insn *i = &w->code->insns[at];

		if (bb_insn_is_second_half(w->code->insns, at) ||
		    !(bb_insn_writes(i) & BB_REG(s.reg)))
			continue;
		if (!follow(w, i, &s))
			return;
	}
	go_before(w, s);
}

struct bb_origin bb_origin_of(const struct bb_code *code, const struct bb_cfg *g, uint32_t at,
			      uint8_t reg)
{
	struct walk w = {.code = code, .g = g};

	go_back(&w, at, (struct step){g->block_of[at], reg, false});
	for (uint32_t i = 0; i < w.n_steps && !w.is_lost; i++)
		go_back(&w, g->blocks[w.steps[i].block].end, w.steps[i]);
	return w.is_lost ? (struct bb_origin){BB_ORIGIN_UNKNOWN, 0} : w.found;
}
