/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lines/cuts.h"

/* a cut before the instruction at a slot, or after it */
enum { BEFORE = 1, AFTER = 2 };

struct search {
	const struct bb_code *code;
	const struct bb_cfg *g;
	enum bb_cut_detail detail;
	uint8_t *marks;
	bool *in_loop;
	enum bb_entered *entered;
	/* By function: true if two helpers call the function back that need different return values
	 * when a run ends early. bpf_loop() needs 1, and bpf_find_vma() needs 0. Also true for the
	 * functions that such a function calls. */
	bool *in_two_ways;
	bool again; /* true if in_two_ways has changed, so that `entered` must be found anew */
};

/* Helpers that call a function of the program before they return. */
static const struct {
	int32_t id;
	enum bb_entered by;
} callers[] = {
	{BPF_FUNC_for_each_map_elem, BB_ENTERED_BY_LOOP},
	{BPF_FUNC_loop, BB_ENTERED_BY_LOOP},
	{BPF_FUNC_user_ringbuf_drain, BB_ENTERED_BY_LOOP},
	{BPF_FUNC_find_vma, BB_ENTERED_BY_ONCE},
};

static enum bb_entered calls_back(const struct bpf_insn *i)
{
	for (size_t k = 0; bb_insn_is_helper_call(i) && k < BB_LEN(callers); k++)
		if (callers[k].id == i->imm)
			return callers[k].by;
	return BB_ENTERED_NEVER;
}

int64_t bb_cuts__called_back(const struct bb_code *code, const struct bb_cfg *g, uint32_t at)
{
	uint32_t first = g->funcs[bb_cfg__func_at(g, at)].first;
	const struct bpf_insn *i;

	if (calls_back(&code->insns[at]) == BB_ENTERED_NEVER)
		return -1;
	/* the callback is the last function whose address is loaded before the call */
	while (at-- > first) {
		i = &code->insns[at];
		if (!bb_insn_is_second_half(code->insns, at) && bb_insn_is_function_address(i))
			return bb_cfg__callee(g, code, at);
	}
	return -1;
}

/* Notes that the call at slot `at` enters `func` in the way `by`. Returns true if this changes
 * s->entered. A function that is in s->in_two_ways gets no cuts. Its callee is then put there,
 * too. */
static bool enter(struct search *s, uint32_t at, int64_t func, enum bb_entered by)
{
	uint32_t caller = bb_cfg__func_at(s->g, at);

	if (func < 0 || s->in_two_ways[func])
		return false;
	if (s->in_two_ways[caller]) {
		s->in_two_ways[func] = s->again = true;
		return false;
	}
	enum bb_entered was = s->entered[func];
	if (s->entered[caller] == BB_ENTERED_NEVER || was == by ||
	    (by == BB_ENTERED_BY_CALL && was))
		return false;
	if (was != BB_ENTERED_BY_CALL && was != BB_ENTERED_NEVER)
		s->in_two_ways[func] = s->again = true;
	s->entered[func] = by;
	return true;
}

static bool find_entered(struct search *s)
{
	bool found = false;

	for (uint32_t at = 0; at < s->code->n; at += bb_insn_slots(&s->code->insns[at])) {
		const struct bpf_insn *i = &s->code->insns[at];

		if (bb_insn_is_function_call(i))
			found |= enter(s, at, bb_cfg__callee(s->g, s->code, at),
				       BB_ENTERED_BY_CALL);
		else
			found |= enter(s, at, bb_cuts__called_back(s->code, s->g, at),
				       calls_back(i));
	}
	return found;
}

static bool is_block(const struct search *s, uint32_t at)
{
	return s->g->blocks[s->g->block_of[at]].first == at;
}

/* Marks calls, and starts and exits of functions. Also finds the slots that are in loops. If lines
 * get cuts, marks the edges of loops and, outside loops, the first instruction of each line. */
static void mark(struct search *s)
{
	uint32_t line = 0;

	for (uint32_t f = 0; f < s->g->n_funcs; f++)
		s->marks[s->g->funcs[f].first] |= BEFORE;
	for (uint32_t at = 0; at < s->code->n; at += bb_insn_slots(&s->code->insns[at]))
		if (bb_insn_is_jump(&s->code->insns[at]))
			for (int64_t k = bb_insn_jump_target(&s->code->insns[at], at);
			     k >= 0 && k <= at; k++)
				s->in_loop[k] = true;
	for (uint32_t at = 0; at < s->code->n; at += bb_insn_slots(&s->code->insns[at])) {
		const struct bpf_insn *i = &s->code->insns[at];

		if (bb_insn_is_exit(i))
			s->marks[at] |= BEFORE;
		if (bb_insn_is_call(i) && (s->detail >= BB_CUT_LOOPS || !s->in_loop[at]))
			s->marks[at] |= BEFORE | AFTER;
	}
	if (s->detail < BB_CUT_LINES)
		return;
	for (uint32_t at = 1; at < s->code->n; at++)
		if (s->in_loop[at] != s->in_loop[at - 1] &&
		    !bb_insn_is_second_half(s->code->insns, at) &&
		    (!s->in_loop[at] || !is_block(s, at)))
			s->marks[at] |= BEFORE;
	for (uint32_t i = 0; i < s->code->n_lines; i++) {
		uint32_t at = s->code->lines[i].insn_off,
			 now = BB_SOURCE_LINE(s->code->lines[i].line_col);

		if (at >= s->code->n || !now || s->in_loop[at])
			continue;
		if (now != line || is_block(s, at))
			s->marks[at] |= BEFORE;
		line = now;
	}
}

/* Makes cuts at all starts and exits of functions, and at each `every`th of the other marked slots.
 * A call gets both cuts or none. */
static void take_cuts(const struct search *s, uint32_t every, struct bb_cuts *c)
{
	uint32_t n = 0;

	for (uint32_t at = 0; at < s->code->n; at++) {
		uint32_t func = bb_cfg__func_at(s->g, at);

		if (s->marks[at] && s->g->funcs[func].first != at &&
		    !bb_insn_is_exit(&s->code->insns[at]) && n++ % every)
			s->marks[at] = 0;
		/* within a basic block, a cut after a call also serves as the cut before the next
		 * instruction */
		if (at && s->marks[at - 1] & AFTER && !is_block(s, at))
			s->marks[at] &= (uint8_t)~BEFORE;
		if (s->entered[func] == BB_ENTERED_NEVER)
			continue;
		if (s->marks[at] & BEFORE)
			c->v[c->n++] = (struct bb_cut){.slot = at};
		if (s->marks[at] & AFTER)
			c->v[c->n++] = (struct bb_cut){.slot = at, .after = true};
	}
}

void bb_cuts__find(const struct bb_code *code, const struct bb_cfg *g, enum bb_cut_detail detail,
		   uint32_t every, struct bb_cuts *ret_cuts)
{
	struct search s = {.code = code, .g = g, .detail = detail};
	struct bb_cuts c = {0};

	s.marks = bb_calloc(code->n, sizeof(*s.marks));
	s.in_loop = c.in_loop = bb_calloc(code->n, sizeof(*s.in_loop));
	s.entered = c.entered = bb_calloc(g->n_funcs, sizeof(*s.entered));
	s.in_two_ways = bb_calloc(g->n_funcs, sizeof(*s.in_two_ways));
	c.v = bb_calloc(2 * (size_t)code->n, sizeof(*c.v));
	do {
		s.again = false;
		memset(s.entered, 0, g->n_funcs * sizeof(*s.entered));
		s.entered[0] = BB_ENTERED_MAIN;
		while (detail >= BB_CUT_ALL && find_entered(&s))
			;
	} while (s.again);
	mark(&s);
	take_cuts(&s, every, &c);
	free(s.marks);
	free(s.in_two_ways);
	*ret_cuts = c;
}

void bb_cuts__done(struct bb_cuts *c)
{
	free(c->v);
	free(c->in_loop);
	free(c->entered);
	*c = (struct bb_cuts){0};
}
