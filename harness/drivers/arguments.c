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

/* n_reached[set] receives how many different instructions the runs with a set executed. */
static int try_on_clone(void *arg, struct bb_fire_task *t, void *n_reached)
{
	struct trial *c = arg;
	int rc = bb_fire__trigger(&c->slot, t);

	for (unsigned int set = 0; !rc && set < BB_N_ARGUMENT_SETS; set++, t->beats++) {
		if (!c->is_there[set])
			continue;
		/* the trigger reads the arguments from here, in this child process's own copy */
		c->prog->fire.point = c->points[set];
		bb_clone__reset(&c->clone);
		for (unsigned int i = 0; i < RUNS; i++)
			bb_firing__fire(&c->slot.firing);
		bb_target__drain(c->prog->target, true);
		bb_clone__read(&c->clone, c->counts);
		((uint32_t *)n_reached)[set] = bb_counts__reached(&c->clone.cfg, NULL, c->counts);
	}
	return rc;
}

/* --- in the parent process --- */

static bool share_arguments(const struct bb_live_objects *live, struct bb_test_prog *prog)
{
	struct bb_attach_point *p = &prog->fire.point;
	const char *program = prog->target->program;
	const struct bb_test_prog *alike =
		BB_FIND(prog->all, prog->n_all,
			it != prog && it->fire.trigger && it->fire.point.kind == p->kind &&
				it->fire.point.is_return == p->is_return &&
				!strcmp(it->fire.point.target, p->target) &&
				(*p->target || !strcmp(it->target->program, program)));

	return alike && bb_live_objects__make_arguments(live, alike->fire.point.argument_set, p);
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
	if (!bb_fire__do(&c->slot, try_on_clone, NULL)) {
		const uint32_t *n_reached = c->slot.firer.shared;
		unsigned int best = 0;

		for (unsigned int set = 1; set < BB_N_ARGUMENT_SETS; set++)
			if (n_reached[set] > n_reached[best])
				best = set;
		c->prog->fire.point = c->points[best];
	}
	bb_fire__detach_program(&c->slot);
}

void bb_arguments__choose(struct bb_fire_state *s, struct bb_test_prog *prog)
{
	struct trial *c = NULL;
	struct bb_code code;

	if ((prog->fire.point.kind != BB_AT_OWN_FUNCTION &&
	     prog->fire.point.kind != BB_AT_OWN_RUN) ||
	    share_arguments(s->live, prog) || bb_must_end() ||
	    bb_target__code(prog->target, prog->target->prog_fd, &code, NULL))
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
