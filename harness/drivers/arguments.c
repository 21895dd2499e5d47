/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "drivers/trigger_fire.h"

#include "exact/clone.h"

/* runs with each set of arguments; later runs may take another path than the first run */
#define RUNS 3u

struct trial {
	struct bb_test_prog *prog;
	/* points[set]: the program's attach point, with the arguments of that set */
	struct bb_attach_point points[BB_N_ARGUMENT_SETS];
	bool is_there[BB_N_ARGUMENT_SETS];
	struct bb_clone clone;
	uint64_t *counts; /* counts[block]: executions */
	struct bb_fire_slot slot;
};

/* --- in the child process that fires the program --- */

static uint32_t reached_with(struct trial *c, unsigned int set)
{
	/* the trigger reads the arguments from here, in this child process's own copy */
	c->prog->fire.point = c->points[set];
	bb_clone__reset(&c->clone);
	for (unsigned int i = 0; i < RUNS; i++)
		bb_firing__fire(&c->slot.firing);
	bb_target__drain(c->prog->target, true);
	bb_clone__read(&c->clone, c->counts);
	return bb_counts__reached(&c->clone.cfg, NULL, c->counts);
}

/* n_reached[set] receives how many different instructions the runs with a set executed. */
static int try_on_clone(void *arg, struct bb_fire_task *t, void *n_reached)
{
	struct trial *c = arg;
	int rc = bb_fire__trigger(&c->slot, t);

	for (unsigned int set = 0; !rc && set < BB_N_ARGUMENT_SETS; set++, t->beats++)
		if (c->is_there[set])
			((uint32_t *)n_reached)[set] = reached_with(c, set);
	return rc;
}

/* --- in the parent process --- */

static bool is_alike(const struct bb_test_prog *a, const struct bb_test_prog *b)
{
	const struct bb_attach_point *p = &a->fire.point, *q = &b->fire.point;

	return a != b && b->fire.trigger && p->kind == q->kind && p->is_return == q->is_return &&
	       !strcmp(p->target, q->target) &&
	       (*p->target || !strcmp(a->target->source->program, b->target->source->program));
}

static bool share_arguments(const struct bb_live_objects *live, struct bb_test_prog *prog)
{
	for (size_t i = 0; i < prog->n_all; i++)
		if (is_alike(prog, &prog->all[i]))
			return bb_live_objects__make_arguments(live,
							       prog->all[i].fire.point.argument_set,
							       &prog->fire.point);
	return false;
}

static void keep_best(struct trial *c)
{
	const uint32_t *n_reached = c->slot.firer.shared;
	unsigned int best = 0;

	for (unsigned int set = 1; set < BB_N_ARGUMENT_SETS; set++)
		if (n_reached[set] > n_reached[best])
			best = set;
	c->prog->fire.point = c->points[best];
}

static void try_sets(struct bb_fire_state *s, struct trial *c)
{
	for (unsigned int set = 0; set < BB_N_ARGUMENT_SETS; set++) {
		c->points[set] = c->prog->fire.point;
		c->is_there[set] = bb_live_objects__make_arguments(s->live, set, &c->points[set]);
	}
	if (bb_fire__attach_program(s, c->prog, c->clone.prog_fd, c,
				    BB_N_ARGUMENT_SETS * sizeof(uint32_t), &c->slot, NULL))
		return;
	if (!bb_fire__do(&c->slot, try_on_clone, NULL))
		keep_best(c);
	bb_fire__detach_program(&c->slot);
}

void bb_arguments__choose(struct bb_fire_state *s, struct bb_test_prog *prog)
{
	struct trial *c = NULL;
	struct bb_code code;

	if ((prog->fire.point.kind != BB_AT_OWN_FUNCTION &&
	     prog->fire.point.kind != BB_AT_OWN_RUN) ||
	    share_arguments(s->live, prog) || bb_must_end() ||
	    bb_target__code(prog->target, &code, NULL))
		return;
	c = bb_calloc(1, sizeof(*c));
	if (!bb_clone__load(&code, false, &c->clone, NULL)) {
		c->prog = prog;
		c->counts = bb_calloc(c->clone.cfg.n_blocks, sizeof(*c->counts));
		try_sets(s, c);
		free(c->counts);
		bb_clone__done(&c->clone);
	}
	free(c);
	bb_code__done(&code);
}
