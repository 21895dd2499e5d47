/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "exact/sites.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "bpf/insn.h"

#define N_REGS 10 /* r10 is the frame */
#define WANTED 2
#define IMPOSSIBLE (WANTED + 1)

/* How many registers a counter before slot `at` would have to save. */
static int cost_at(const struct bb_liveness *l, uint32_t at)
{
	int n_free = N_REGS - __builtin_popcount(l->live[at]);
	int n_saveable = __builtin_popcount(l->live[at] & l->known[at]);
	int cost = n_free >= WANTED ? 0 : WANTED - n_free;

	return cost <= n_saveable ? cost : IMPOSSIBLE;
}

/* Free ones first, from r0 on: the JIT pushes r6 to r9 in functions that use them. */
static struct bb_site take_registers(const struct bb_liveness *l, uint32_t at)
{
	struct bb_site p = {.at = at};
	int n = 0;

	for (uint8_t r = 0; r < N_REGS && n < WANTED; r++)
		if (!(l->live[at] & BB_REG(r)))
			p.reg[n++] = r;
	for (uint8_t r = N_REGS, slot = 1; r-- > 0 && n < WANTED;) {
		if (!(l->live[at] & l->known[at] & BB_REG(r)))
			continue;
		p.reg[n] = r;
		p.save[n++] = slot++;
	}
	return p;
}

static int find_in_block(const struct bb_code *code, const struct bb_basic_block *b,
			 const struct bb_liveness *l, struct bb_site *ret_point, struct bb_err *err)
{
	int least = IMPOSSIBLE;
	uint32_t best = b->first;

	for (uint32_t at = b->first; at <= b->last && least; at++) {
		int cost = bb_insn_is_second_half(code->insns, at) ? IMPOSSIBLE : cost_at(l, at);

		if (cost < least) {
			least = cost;
			best = at;
		}
	}
	if (least == IMPOSSIBLE)
		return bb_fail(err, -ENOTSUP, "'%s' has no register to spare at instruction %u",
			       code->name, b->first);
	*ret_point = take_registers(l, best);
	return 0;
}

static bool may_be_in_vain(const struct bb_code *code, uint32_t at)
{
	const struct bpf_insn *i = &code->insns[at];

	return !bb_insn_is_second_half(code->insns, at) && bb_insn_is_helper_call(i) &&
	       (i->imm == BPF_FUNC_map_lookup_elem || i->imm == BPF_FUNC_map_lookup_percpu_elem ||
		i->imm == BPF_FUNC_tail_call);
}

static int find_vain(const struct bb_code *code, struct bb_sites *p, struct bb_err *err)
{
	for (uint32_t at = 0; at < code->n; at++)
		p->n_vain += may_be_in_vain(code, at);
	p->vain = calloc(p->n_vain + 1, sizeof(*p->vain));
	if (!p->vain)
		return bb_fail_nomem(err);
	p->n_vain = 0;
	for (uint32_t at = 0; at < code->n; at++)
		if (may_be_in_vain(code, at))
			p->vain[p->n_vain++] = at;
	return 0;
}

int bb_sites__find(const struct bb_code *code, const struct bb_cfg *g, const struct bb_liveness *l,
		   struct bb_sites *ret_sites, struct bb_err *err)
{
	struct bb_sites p = {0};
	int rc;

	p.of = calloc(g->n_blocks, sizeof(*p.of));
	p.saves = calloc(g->n_funcs, sizeof(*p.saves));
	rc = p.of && p.saves ? find_vain(code, &p, err) : bb_fail_nomem(err);
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
