/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/gate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bb_gate_program *bb_gate__add(struct bb_gate *g, const char *object, const char *program,
				     enum bb_gate_state state)
{
	struct bb_gate_program *programs = reallocarray(g->programs, g->n_programs + 1, sizeof(*programs)), *p;

	if (!programs)
		return NULL;
	g->programs = programs;
	p = &programs[g->n_programs++];
	*p = (struct bb_gate_program){.object = strdup(object), .program = program ? strdup(program) : NULL, .state = state};
	return p->object && (p->program || !program) ? p : NULL;
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
	free(g->base);
	free(g->head);
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
	for (size_t i = 0; again && i < again->n_comparisons; i++)
		if (bb_same_text(again->comparisons[i].name, c->name) &&
		    again->comparisons[i].verdict == BB_VERDICT_REGRESSED)
			return BB_GATE_REGRESSED;
	return BB_GATE_UNCONFIRMED;
}

size_t bb_gate__count(const struct bb_report *first, const struct bb_report *again, enum bb_gate_verdict verdict)
{
	size_t n = 0;

	for (size_t i = 0; i < first->n_comparisons; i++)
		n += bb_gate__verdict(&first->comparisons[i], again) == verdict;
	return n;
}

bool bb_gate__any(const struct bb_gate *g, enum bb_gate_state state)
{
	for (size_t i = 0; i < g->n_programs; i++)
		if (g->programs[i].state == state)
			return true;
	return false;
}

static const struct bb_gate_program *owner(const struct bb_gate *g, const char *name)
{
	for (size_t i = 0; i < g->n_programs; i++)
		if (bb_gate__owns(&g->programs[i], name))
			return &g->programs[i];
	return NULL;
}

/* "object.program/variant/REST" as "object/program/REST"; NULL when out of memory. */
static char *plain_name(const struct bb_gate_program *p, const char *name, const char *variant)
{
	char *plain = NULL;

	if (asprintf(&plain, "%.*s/%s%s", (int)(p->program_at - 1), p->label, p->label + p->program_at,
		     name + strlen(p->label) + 1 + strlen(variant)) < 0)
		return NULL;
	return plain;
}

int bb_gate__side(const struct bb_gate *g, const struct bb_report *r, const char *variant, struct bb_report *ret_side)
{
	struct bb_report side = *r;
	bool ok;

	side.n_cases = side.n_programs = side.n_comparisons = 0;
	side.cases = calloc(r->n_cases + 1, sizeof(*side.cases));
	side.programs = calloc(r->n_programs + 1, sizeof(*side.programs));
	ok = side.cases && side.programs;
	for (size_t i = 0; ok && i < r->n_cases; i++) {
		const struct bb_gate_program *p = owner(g, r->cases[i].name);
		struct bb_case *c = &side.cases[side.n_cases];

		if (!p || strcmp(r->cases[i].variant, variant))
			continue;
		*c = r->cases[i];
		c->floor = BB_NO_FLOOR;
		c->name = plain_name(p, r->cases[i].name, variant);
		ok = c->name != NULL;
		side.n_cases += ok;
	}
	for (size_t i = 0; ok && i < r->n_programs; i++) {
		const struct bb_gate_program *p = owner(g, r->programs[i].name);
		struct bb_program *program = &side.programs[side.n_programs];

		if (!p || strcmp(r->programs[i].variant, variant))
			continue;
		*program = r->programs[i];
		program->name = plain_name(p, r->programs[i].name, variant);
		ok = program->name != NULL;
		side.n_programs += ok;
	}
	if (!ok)
		bb_gate__side_done(&side);
	else
		*ret_side = side;
	return ok ? 0 : -ENOMEM;
}

void bb_gate__side_done(struct bb_report *side)
{
	for (size_t i = 0; i < side->n_cases; i++)
		free(side->cases[i].name);
	for (size_t i = 0; i < side->n_programs; i++)
		free(side->programs[i].name);
	free(side->cases);
	free(side->programs);
	*side = (struct bb_report){0};
}
