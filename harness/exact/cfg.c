/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "exact/cfg.h"

/* Marks of a slot: a basic block or a function begins there. */
enum {
	NOTHING = 0,
	BLOCK = 1,
	FUNC = 2,
	HALF = 4 /* second half of a 64-bit constant, where nothing can begin */
};

static int mark_slot(uint8_t *marks, uint32_t n, uint32_t at, int64_t slot, uint8_t what,
		     struct bb_err *err)
{
	if (slot < 0 || slot >= n || marks[slot] & HALF)
		return bb_fail(err, -EINVAL,
			       "instruction %u leads to slot %lld, where there is no instruction",
			       at, (long long)slot);
	marks[slot] |= what;
	return 0;
}

/* Marks where the functions and blocks begin. */
static int mark_all(const struct bb_code *code, uint8_t *marks, struct bb_err *err)
{
	int rc = 0;

	for (uint32_t i = 0; i < code->n; i++) {
		if (!bb_insn_is_wide(&code->insns[i]))
			continue;
		if (i + 1 == code->n)
			return bb_fail(err, -EINVAL, "'%s' ends in the middle of an instruction",
				       code->name);
		marks[++i] = HALF;
	}
	marks[0] |= FUNC;
	for (uint32_t i = 0; !rc && i < code->n_funcs; i++)
		rc = mark_slot(marks, code->n, 0, code->funcs[i].insn_off, FUNC, err);
	for (uint32_t at = 0; !rc && at < code->n; at += bb_insn_slots(&code->insns[at])) {
		const struct bpf_insn *i = &code->insns[at];
		bool ends = bb_insn_is_jump(i) || bb_insn_is_exit(i) || bb_insn_may_leave(i);

		if (bb_insn_is_indirect_goto(i))
			return bb_fail(err, -ENOTSUP,
				       "instruction %u of '%s' is an indirect jump; a program that "
				       "has one cannot be counted",
				       at, code->name);
		if (bb_insn_is_function_call(i) || bb_insn_is_function_address(i))
			rc = mark_slot(marks, code->n, at, bb_insn_function_target(i, at), FUNC,
				       err);
		if (!rc && bb_insn_is_jump(i))
			rc = mark_slot(marks, code->n, at, bb_insn_jump_target(i, at), BLOCK, err);
		if (!rc && ends && at + 1 < code->n)
			marks[at + 1] |= BLOCK;
		if (!rc && at + 1 == code->n && !bb_insn_is_exit(i) && !bb_insn_is_goto(i))
			rc = bb_fail(err, -EINVAL, "'%s' does not end with an exit or a jump",
				     code->name);
	}
	return rc;
}

int bb_cfg__make(const struct bb_code *code, struct bb_cfg *ret_cfg, struct bb_err *err)
{
	struct bb_cfg g = {0};
	struct bb_basic_block *b = NULL;
	size_t n_funcs = 0, n_blocks = 0;

	if (!code->n)
		return bb_fail(err, -EINVAL, "'%s' has no instructions", code->name);
	uint8_t *marks = bb_calloc(code->n, sizeof(*marks));
	int rc = mark_all(code, marks, err);
	if (rc) {
		free(marks);
		return rc;
	}
	for (uint32_t i = 0; i < code->n; i++) {
		n_funcs += (marks[i] & FUNC) != 0;
		n_blocks += (marks[i] & (FUNC | BLOCK)) != 0;
	}
	g.funcs = bb_calloc(n_funcs, sizeof(*g.funcs));
	g.blocks = bb_calloc(n_blocks, sizeof(*g.blocks));
	g.block_of = bb_calloc(code->n, sizeof(*g.block_of));
	for (uint32_t i = 0; i < code->n; i++) {
		if (marks[i] & FUNC)
			g.funcs[g.n_funcs++] = (struct bb_func){.first = i};
		if (marks[i] & (FUNC | BLOCK)) {
			b = &g.blocks[g.n_blocks++];
			*b = (struct bb_basic_block){.first = i, .func = g.n_funcs - 1};
		}
		if (!(marks[i] & HALF)) {
			b->last = i;
			b->n_insns++;
			g.n_insns++;
		}
		b->end = i + 1;
		g.funcs[g.n_funcs - 1].end = i + 1;
		g.block_of[i] = g.n_blocks - 1;
	}
	for (uint32_t i = 0; i < code->n_funcs; i++)
		g.funcs[g.blocks[g.block_of[code->funcs[i].insn_off]].func].type_id =
			code->funcs[i].type_id;
	for (b = g.blocks; b < g.blocks + g.n_blocks; b++) {
		const struct bpf_insn *i = &code->insns[b->last];

		if (!bb_insn_is_exit(i) && !bb_insn_is_goto(i))
			b->next[b->n_next++] = g.block_of[b->end];
		if (bb_insn_is_jump(i))
			b->next[b->n_next++] = g.block_of[bb_insn_jump_target(i, b->last)];
	}
	free(marks);
	*ret_cfg = g;
	return 0;
}

void bb_cfg__done(struct bb_cfg *g)
{
	free(g->funcs);
	free(g->blocks);
	free(g->block_of);
	*g = (struct bb_cfg){0};
}

uint64_t bb_counts__instructions(const struct bb_cfg *g, const uint64_t *counts)
{
	return BB_SUM(g->blocks, g->n_blocks, counts[it - g->blocks] * it->n_insns);
}

uint32_t bb_counts__reached(const struct bb_cfg *g, const uint64_t *before, const uint64_t *counts)
{
	uint32_t n = 0;

	for (uint32_t b = 0; b < g->n_blocks; b++)
		if (counts[b] != (before ? before[b] : 0))
			n += g->blocks[b].n_insns;
	return n;
}

struct search {
	const struct bb_cfg *g;
	uint32_t *queue, n; /* blocks that the present search has found */
	uint32_t *found_by; /* by block: number of the last search that found it */
	uint32_t number;    /* number of the present search, from 1 on */
};

#define EXECUTED UINT32_MAX /* in found_by: the block was executed, so no search enters it */

static void add_found(struct search *s, uint32_t block)
{
	if (s->found_by[block] == s->number || s->found_by[block] == EXECUTED)
		return;
	s->found_by[block] = s->number;
	s->queue[s->n++] = block;
}

static uint32_t search_behind(struct search *s, const struct bb_code *code, uint32_t from)
{
	uint32_t n_insns = 0;

	s->n = 0;
	s->number++;
	add_found(s, from);
	for (uint32_t i = 0; i < s->n; i++) {
		const struct bb_basic_block *b = &s->g->blocks[s->queue[i]];

		n_insns += b->n_insns;
		for (uint32_t k = 0; k < b->n_next; k++)
			add_found(s, b->next[k]);
		for (uint32_t at = b->first; at <= b->last; at += bb_insn_slots(&code->insns[at]))
			if (bb_insn_is_function_call(&code->insns[at]) ||
			    bb_insn_is_function_address(&code->insns[at]))
				add_found(s,
					  s->g->block_of[bb_insn_function_target(&code->insns[at],
										 at)]);
	}
	return n_insns;
}

uint32_t bb_counts__turned_away(const struct bb_cfg *g, const struct bb_code *code,
				const uint64_t *before, const uint64_t *counts, uint32_t *ret_at)
{
	uint32_t *memory = bb_calloc(2 * (size_t)g->n_blocks, sizeof(*memory)), most = 0;
	struct search s = {.g = g, .queue = memory, .found_by = memory + g->n_blocks};

	for (uint32_t b = 0; b < g->n_blocks; b++)
		s.found_by[b] = counts[b] != (before ? before[b] : 0) ? EXECUTED : 0;
	for (uint32_t b = 0; b < g->n_blocks; b++) {
		const uint32_t *next = g->blocks[b].next;
		uint32_t n_insns = 0;

		if (s.found_by[b] != EXECUTED || g->blocks[b].n_next != 2)
			continue;
		for (unsigned int k = 0; k < 2; k++)
			if (s.found_by[next[k]] != EXECUTED && s.found_by[next[!k]] == EXECUTED)
				n_insns = search_behind(&s, code, next[k]);
		/* of several jumps to the same instructions, the last one decides whether they are
		 * executed */
		if (n_insns && n_insns >= most) {
			most = n_insns;
			*ret_at = g->blocks[b].last;
		}
	}
	free(memory);
	return most;
}

/* Returns the block from which the run came to `block`, or `block` if only one block leads there or
 * the counts do not tell. */
static uint32_t step_back(const struct bb_cfg *g, const bool *ran, uint32_t block)
{
	uint32_t n_ways = 0, n_ran = 0, n_sure = 0, from = block, sure = block;

	for (uint32_t b = 0; b < g->n_blocks; b++) {
		if (!bb_cfg__leads_to(g, b, block))
			continue;
		n_ways++;
		if (!ran[b])
			continue;
		n_ran++;
		from = b;
		if (!BB_ANY(g->blocks[b].next, g->blocks[b].n_next, *it != block && ran[*it])) {
			n_sure++;
			sure = b;
		}
	}
	if (n_ways < 2)
		return block;
	return n_ran == 1 ? from : n_sure == 1 ? sure : block;
}

/* most instructions of a common end of several paths: an exit, and one that sets the return
 * value */
#define SHARED_END 2u

bool bb_counts__returned_at(const struct bb_cfg *g, const struct bb_code *code,
			    const uint64_t *before, const uint64_t *counts, uint32_t *ret_at)
{
	bool *ran = bb_calloc(g->n_blocks, sizeof(*ran));
	uint32_t n_exits = 0, block = 0;

	for (uint32_t b = 0; b < g->n_blocks; b++) {
		ran[b] = counts[b] != before[b];
		if (!g->blocks[b].func && bb_insn_is_exit(&code->insns[g->blocks[b].last])) {
			n_exits += (uint32_t)(counts[b] - before[b]);
			block = ran[b] ? b : block;
		}
	}
	for (uint32_t b = g->n_blocks; n_exits == 1 && b != block;) {
		b = block;
		if (g->blocks[b].n_insns <= SHARED_END)
			block = step_back(g, ran, b);
	}
	free(ran);
	*ret_at = g->blocks[block].last;
	if (bb_insn_is_goto(&code->insns[*ret_at]) && *ret_at > g->blocks[block].first)
		--*ret_at;
	return n_exits == 1;
}

uint64_t bb_counts__path(const struct bb_cfg *g, const uint64_t *counts)
{
	uint64_t hash = 14695981039346656037U;

	for (uint32_t b = 0; b < g->n_blocks; b++)
		for (unsigned int shift = 0; shift < 64; shift += 8)
			hash = (hash ^ (counts[b] >> shift & 0xff)) * 1099511628211U;
	return hash;
}

bool bb_counts__are_whole(const struct bb_cfg *g, const struct bb_code *code, uint64_t runs,
			  const uint64_t *counts, uint64_t *in)
{
	bool comes_back = true;
	uint64_t exits = 0;

	/* A run may also end without an exit: by a tail call, by BPF_LD_ABS on a packet that is too
	 * short, or by an exception in a kfunc. There may then be fewer exits than runs. */
	for (uint32_t at = 0; at < code->n; at += bb_insn_slots(&code->insns[at]))
		comes_back &= !bb_insn_may_leave(&code->insns[at]);
	/* in[b] = sum of the counts of the blocks that lead to b */
	memset(in, 0, g->n_blocks * sizeof(*in));
	for (uint32_t b = 0; b < g->n_blocks; b++) {
		const uint32_t *next = g->blocks[b].next;
		unsigned int n = g->blocks[b].n_next;
		uint64_t out = 0;

		if (n == 2 && next[0] == next[1])
			n = 1;
		for (unsigned int k = 0; k < n; k++) {
			in[next[k]] += counts[b];
			out += counts[next[k]];
		}
		if (n && comes_back && out < counts[b])
			return false; /* control left the block, but reached no successor */
		if (!n && !g->blocks[b].func)
			exits += counts[b];
	}
	if (comes_back ? exits != runs : exits > runs)
		return false;
	in[0] += runs;
	for (uint32_t b = 0; b < g->n_blocks; b++) {
		/* not checked at the start of a called function, because `in` does not count
		 * calls */
		bool is_called = b && g->blocks[b].first == g->funcs[g->blocks[b].func].first;

		if (!is_called && counts[b] > in[b])
			return false;
	}
	return true;
}
