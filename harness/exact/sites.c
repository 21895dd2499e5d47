/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "exact/sites.h"

#include <errno.h>
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

int bb_sites__find(const struct bb_code *code, const struct bb_cfg *g, const struct bb_liveness *l,
		   struct bb_sites *ret_sites, struct bb_err *err)
{
	struct bb_sites p = {0};
	int rc;

	p.of = calloc(g->n_blocks, sizeof(*p.of));
	p.saves = calloc(g->n_funcs, sizeof(*p.saves));
	rc = p.of && p.saves ? 0 : bb_fail_nomem(err);
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

void bb_sites__done(struct bb_sites *p)
{
	if (!p)
		return;
	free(p->of);
	free(p->saves);
	*p = (struct bb_sites){0};
}
