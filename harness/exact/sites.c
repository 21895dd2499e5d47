/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "exact/sites.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "bpf/insn.h"

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
