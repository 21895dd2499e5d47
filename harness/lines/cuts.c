/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lines/cuts.h"

#include <stdlib.h>

#include "bpf/insn.h"
#include "exact/source.h"

/* Of a slot: a cut before it, behind it. */
enum { BEFORE = 1, AFTER = 2 };

struct search {
	const struct bb_code *code;
	const struct bb_cfg *g;
	enum bb_cut_detail detail;
	uint32_t end; /* of the main function */
	uint8_t *marks;
	bool *in_loop;
};

static void find_loops(struct search *s)
{
	for (uint32_t at = 0; at < s->end; at++) {
		const struct bpf_insn *i = &s->code->insns[at];
		int64_t to;

		if (bb_insn_is_second_half(s->code->insns, at) || !bb_insn_is_jump(i))
			continue;
		to = bb_insn_jump_target(i, at);
		for (int64_t k = to; k >= 0 && k <= at; k++)
			s->in_loop[k] = true;
	}
}

/* Something else than the instruction before it leads there. */
static bool is_block(const struct search *s, uint32_t at)
{
	return s->g->blocks[s->g->block_of[at]].first == at;
}

static void mark_calls(struct search *s)
{
	s->marks[0] |= BEFORE;
	for (uint32_t at = 0; at < s->end; at++) {
		const struct bpf_insn *i = &s->code->insns[at];

		if (bb_insn_is_second_half(s->code->insns, at))
			continue;
		if (bb_insn_is_exit(i))
			s->marks[at] |= BEFORE;
		if (bb_insn_is_call(i) && (s->detail >= BB_CUT_ALL || !s->in_loop[at]))
			s->marks[at] |= BEFORE | AFTER;
	}
}

/* The edges of loops, and outside of them where another line begins. */
static void mark_lines(struct search *s)
{
	uint32_t line = 0;

	for (uint32_t at = 1; at < s->end; at++)
		if (s->in_loop[at] != s->in_loop[at - 1] &&
		    !bb_insn_is_second_half(s->code->insns, at) &&
		    (!s->in_loop[at] || !is_block(s, at)))
			s->marks[at] |= BEFORE;
	for (uint32_t i = 0; i < s->code->n_lines; i++) {
		uint32_t at = s->code->lines[i].insn_off,
			 now = BB_SOURCE_LINE(s->code->lines[i].line_col);

		if (at >= s->end || !now || s->in_loop[at])
			continue;
		if (now != line || is_block(s, at))
			s->marks[at] |= BEFORE;
		line = now;
	}
}

/* A cut before an instruction that comes right behind a call, and from nowhere else, is the call's.
 */
static void drop_doubles(struct search *s)
{
	for (uint32_t at = 0; at + 1 < s->end; at++)
		if (s->marks[at] & AFTER && !is_block(s, at + 1))
			s->marks[at + 1] &= (uint8_t)~BEFORE;
}

static void put_cuts(const struct search *s, const uint64_t *ran, struct bb_cuts *c)
{
	for (uint32_t at = 0; at < s->end; at++) {
		if (ran && !ran[s->g->block_of[at]])
			continue;
		if (s->marks[at] & BEFORE)
			c->v[c->n++] = (struct bb_cut){.slot = at};
		if (s->marks[at] & AFTER)
			c->v[c->n++] = (struct bb_cut){.slot = at, .after = true};
	}
}

int bb_cuts__find(const struct bb_code *code, const struct bb_cfg *g, enum bb_cut_detail detail,
		  const uint64_t *ran, struct bb_cuts *ret_cuts, struct bb_err *err)
{
	struct search s = {.code = code, .g = g, .detail = detail, .end = g->funcs[0].end};
	struct bb_cuts c = {0};

	s.marks = calloc(s.end, sizeof(*s.marks));
	s.in_loop = c.in_loop = calloc(s.end, sizeof(*s.in_loop));
	c.v = calloc(2 * (size_t)s.end, sizeof(*c.v));
	if (!s.marks || !c.in_loop || !c.v) {
		free(s.marks);
		bb_cuts__done(&c);
		return bb_fail_nomem(err);
	}
	find_loops(&s);
	mark_calls(&s);
	if (detail >= BB_CUT_LINES)
		mark_lines(&s);
	drop_doubles(&s);
	put_cuts(&s, ran, &c);
	free(s.marks);
	*ret_cuts = c;
	return 0;
}

void bb_cuts__done(struct bb_cuts *c)
{
	if (!c)
		return;
	free(c->v);
	free(c->in_loop);
	*c = (struct bb_cuts){0};
}
