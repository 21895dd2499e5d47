/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "judge/gate.h"

struct bb_gate_program *bb_gate__add(struct bb_gate *g, const char *object, const char *program,
				     enum bb_gate_state state)
{
	struct bb_gate_program *p = bb_append(&g->programs, &g->n_programs, sizeof(*p));

	*p = (struct bb_gate_program){.object = bb_strdup(object),
				      .program = program ? bb_strdup(program) : NULL,
				      .state = state};
	return p;
}

void bb_gate__done(struct bb_gate *g)
{
	for (size_t i = 0; i < g->n_programs; i++) {
		free(g->programs[i].object);
		free(g->programs[i].program);
		free(g->programs[i].label);
		free(g->programs[i].why);
	}
	free(g->programs);
	bb_exact_diff__done(&g->counted);
	bb_exact_diff__done(&g->counted_again);
	bb_time_diff__done(&g->timed);
	free(g->base);
	free(g->head);
	free(g->base_made);
	free(g->head_made);
	*g = (struct bb_gate){0};
}

bool bb_gate__owns(const struct bb_gate_program *p, const char *name)
{
	size_t len = p->label ? strlen(p->label) : 0;

	return len && !strncmp(name, p->label, len) && name[len] == '/';
}

enum bb_gate_verdict bb_gate__verdict(const struct bb_comparison *c, const struct bb_report *again)
{
	if (c->verdict != BB_VERDICT_REGRESSED)
		return BB_GATE_NOT_REGRESSED;
	return again && BB_ANY(again->comparisons, again->n_comparisons,
			       bb_same_text(it->name, c->name) &&
				       it->verdict == BB_VERDICT_REGRESSED)
		       ? BB_GATE_REGRESSED
		       : BB_GATE_UNCONFIRMED;
}

enum bb_gate_verdict bb_gate__exact_verdict(const struct bb_gate *g, const struct bb_exact_row *row)
{
	if (!g->exact || row->verdict != BB_VERDICT_REGRESSED)
		return BB_GATE_NOT_REGRESSED;
	return BB_ANY(g->counted_again.rows, g->counted_again.n_rows,
		      !strcmp(it->name, row->name) && it->verdict == BB_VERDICT_REGRESSED)
		       ? BB_GATE_REGRESSED
		       : BB_GATE_UNCONFIRMED;
}

size_t bb_gate__count_exact(const struct bb_gate *g, enum bb_gate_verdict verdict)
{
	return BB_SUM(g->counted.rows, g->counted.n_rows, bb_gate__exact_verdict(g, it) == verdict);
}

size_t bb_gate__count(const struct bb_report *first, const struct bb_report *again,
		      enum bb_gate_verdict verdict)
{
	return BB_SUM(first->comparisons, first->n_comparisons,
		      bb_gate__verdict(it, again) == verdict);
}

void bb_gate__judge_verified(const struct bb_gate *g, struct bb_gate_verified *v)
{
	v->too_many = g->complexity > 0 && v->insns[1] > g->complexity * BB_VERIFIER_LIMIT;
	v->grew = g->grow > 0 && v->insns[1] > (1 + g->grow) * v->insns[0];
}

struct bb_gate_verified bb_gate__verified(const struct bb_gate *g, const struct bb_gate_program *p,
					  const struct bb_report *r)
{
	struct bb_gate_verified v = {.insns = {NAN, NAN}};

	for (size_t i = 0; i < r->n_programs; i++) {
		const struct bb_program *of = &r->programs[i];

		if (!bb_gate__owns(p, of->name))
			continue;
		if (!strcmp(of->variant, "base"))
			v.insns[0] = of->metrics.verified_insns;
		else if (!strcmp(of->variant, "head"))
			v.insns[1] = of->metrics.verified_insns;
	}
	bb_gate__judge_verified(g, &v);
	return v;
}

size_t bb_gate__count_complex(const struct bb_gate *g, const struct bb_report *r)
{
	size_t n = 0;

	for (size_t i = 0; (g->complexity > 0 || g->grow > 0) && i < g->n_programs; i++) {
		struct bb_gate_verified v = bb_gate__verified(g, &g->programs[i], r);

		n += v.too_many || v.grew || g->programs[i].state == BB_GATE_FAILED;
	}
	return n;
}

bool bb_gate__any(const struct bb_gate *g, enum bb_gate_state state)
{
	return BB_ANY(g->programs, g->n_programs, it->state == state);
}

enum bb_exit bb_gate__exit(const struct bb_gate *g, const struct bb_report *first,
			   const struct bb_report *again)
{
	if (bb_gate__count(first, again, BB_GATE_REGRESSED) ||
	    bb_gate__count_exact(g, BB_GATE_REGRESSED) || bb_gate__count_complex(g, first))
		return BB_EXIT_REGRESSION;
	if (bb_gate__any(g, BB_GATE_FAILED))
		return BB_EXIT_FAILURE;
	return !bb_gate__any(g, BB_GATE_SKIPPED) || bb_gate__any(g, BB_GATE_COMPARED) ||
			       bb_gate__any(g, BB_GATE_SAME)
		       ? BB_EXIT_OK
		       : BB_EXIT_UNSUPPORTED;
}

static const struct bb_gate_program *owner(const struct bb_gate *g, const char *name)
{
	return BB_FIND(g->programs, g->n_programs, bb_gate__owns(it, name));
}

/* Turns "object.program/variant/REST" into "object/program/REST". free() it. */
static char *plain_name(const struct bb_gate_program *p, const char *name, const char *variant)
{
	return bb_asprintf("%.*s/%s%s", (int)(p->program_at - 1), p->label,
			   p->label + p->program_at, name + strlen(p->label) + 1 + strlen(variant));
}

void bb_gate__side(const struct bb_gate *g, const struct bb_report *r, const char *variant,
		   struct bb_report *ret_side)
{
	struct bb_report side = *r;

	side.n_comparisons = 0;
	side.cases = bb_memdup(r->cases, r->n_cases * sizeof(*r->cases));
	side.programs = bb_memdup(r->programs, r->n_programs * sizeof(*r->programs));
	side.counted = bb_memdup(r->counted, r->n_counted * sizeof(*r->counted));
	BB_KEEP(side.cases, side.n_cases, owner(g, it->name) && !strcmp(it->variant, variant));
	BB_KEEP(side.programs, side.n_programs,
		owner(g, it->name) && !strcmp(it->variant, variant));
	BB_KEEP(side.counted, side.n_counted, owner(g, it->name) && !strcmp(it->variant, variant));
	for (struct bb_case *c = side.cases; c < side.cases + side.n_cases; c++) {
		c->floor = BB_NO_FLOOR;
		c->name = plain_name(owner(g, c->name), c->name, variant);
	}
	for (struct bb_program *p = side.programs; p < side.programs + side.n_programs; p++)
		p->name = plain_name(owner(g, p->name), p->name, variant);
	for (struct bb_counted *c = side.counted; c < side.counted + side.n_counted; c++) {
		const struct bb_gate_program *p = owner(g, c->name);

		c->cases = bb_memdup(c->cases, c->n_cases * sizeof(*c->cases));
		for (size_t k = 0; k < c->n_cases; k++)
			c->cases[k].name = plain_name(p, c->cases[k].name, variant);
	}
	*ret_side = side;
}

void bb_gate__side_done(struct bb_report *side)
{
	for (size_t i = 0; i < side->n_cases; i++)
		free(side->cases[i].name);
	for (size_t i = 0; i < side->n_programs; i++)
		free(side->programs[i].name);
	for (size_t i = 0; i < side->n_counted; i++) {
		for (size_t k = 0; k < side->counted[i].n_cases; k++)
			free(side->counted[i].cases[k].name);
		free(side->counted[i].cases);
	}
	free(side->counted);
	free(side->cases);
	free(side->programs);
	*side = (struct bb_report){0};
}
