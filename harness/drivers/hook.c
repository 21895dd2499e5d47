/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The drive `hook`: the cost of a hook to the process that fires it. It is the wall time of the
 * trigger with a program attached, minus its wall time with nothing attached. So it contains the
 * program and everything around it, such as the breakpoint, the trampoline and the tracepoint's own
 * code. bpf_stats is off, as in production.
 *
 * A sample comes from a block of six turns, N E P P E N, so that a drift affects all alike. N has
 * nothing attached, E has an empty program of the same type on the same hook, and P has the
 * program. A turn gives the median time of a firing. P - N is the sample. E - N is the cost of an
 * empty program.
 */
#include <linux/bpf.h>

#include "base/io.h"
#include "drivers/trigger_fire.h"
#include "exact/rewrite.h"
#include "stats/quantile.h"

#define TURN_NS 4000000u /* shortest turn, ns; a turn also has at least FEWEST goes */
#define GO_NS 20000.0    /* wall time of a go, ns; a go is a few firings that are timed together */
#define MOST_GOES 1000u
#define FEWEST 8u
#define MOST_IN_A_GO 10000u

/* Memory that our process shares with the child process that fires. */
struct shared {
	uint32_t in_a_go; /* firings in one go; 0 if not known yet */
	size_t n;
	double firing_ns[MOST_GOES];
	/* true if the program's ring is emptied after each firing, because the kernel wakes only a
	 * reader that has caught up. Turns without the program empty it, too, to be comparable. */
	bool drains;
};

struct slot {
	struct bb_drive_slot common;
	/* fire.hook is not used: each block of turns opens a hook */
	struct bb_fire_slot fire;
	int empty_fd; /* -1 if there is none */
};

/* Mean times of a firing without a program, with an empty one, and with the program, ns, or NAN. */
struct block {
	double none_ns, empty_ns, full_ns;
};

/* --- in the child process that fires --- */

static int fire_many(struct slot *s, struct shared *shared, uint32_t n, double *ret_ns)
{
	uint64_t began_ns = bb_now_ns();
	struct bb_prog_stats unused;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < n; i++) {
		if (s->fire.found->trigger->fire)
			bb_firing__fire(&s->fire.firing);
		else
			rc = bb_stats_reader__info(&s->fire.common.target->reader, &unused);
		if (shared->drains)
			bb_target__drain(s->fire.common.target, false);
	}
	*ret_ns = (double)(bb_now_ns() - began_ns) / n;
	return rc;
}

static int fire_turn(void *arg, struct bb_fire_task *t, void *memory)
{
	struct shared *shared = memory;
	struct slot *s = arg;
	int rc = bb_fire__trigger(&s->fire, t);
	double ns = 0;

	if (!rc && !shared->in_a_go) {
		/* the first four firings do not count: they are slower or faster than later ones */
		rc = fire_many(s, shared, 4, &ns);
		if (!rc)
			rc = fire_many(s, shared, 8, &ns);
		shared->in_a_go = (uint32_t)fmin(fmax(GO_NS / fmax(ns, 1), 1), MOST_IN_A_GO);
	}
	if (!rc)
		rc = fire_many(s, shared, shared->in_a_go, &ns);
	uint64_t began_ns = bb_now_ns();
	for (shared->n = 0; !rc && shared->n < MOST_GOES && !bb_must_end(); shared->n++) {
		if (shared->n >= FEWEST && bb_now_ns() - began_ns > TURN_NS)
			break;
		rc = fire_many(s, shared, shared->in_a_go, &shared->firing_ns[shared->n]);
		bb_target__drain(s->fire.common.target, true);
		t->beats++;
	}
	return rc;
}

/* --- in the parent process --- */

static int take_turn(struct slot *s, double *sum_ns, struct bb_err *err)
{
	struct shared *shared = s->fire.firer.shared;
	int rc = bb_must_end_why();

	bb_give_way();
	if (!rc)
		rc = bb_firer__do(&s->fire.firer, fire_turn, err);
	/* a turn that was cut short does not count */
	if (!rc)
		rc = bb_must_end_why();
	if (!rc)
		*sum_ns += bb_median(shared->firing_ns, shared->n);
	return rc;
}

/* The turns are E P P E, or P P if there is no empty program. */
static int take_attached(struct slot *s, const struct bb_hook *hook, struct block *b,
			 struct bb_err *err)
{
	const int full_fd = s->fire.common.prog_fd,
		  turns[] = {s->empty_fd, full_fd, full_fd, s->empty_fd};
	int link_fd = -1, attached_fd = -1, rc = 0;

	for (size_t i = 0; !rc && i < BB_LEN(turns); i++) {
		if (turns[i] < 0)
			continue;
		/* Detach first, because a perf event has room for only one program. Also, detaching
		 * slows down other programs on a tracepoint for some time (by 13 ns here). */
		if (turns[i] != attached_fd) {
			if (hook->n_events)
				bb_hook__take_off(hook, link_fd);
			else
				bb_close(&link_fd);
			rc = bb_hook__put(hook, turns[i], &link_fd, err);
			if (rc)
				link_fd = -1;
		}
		attached_fd = turns[i];
		if (!rc)
			rc = take_turn(s, i == 1 || i == 2 ? &b->full_ns : &b->empty_ns, err);
	}
	bb_close(&link_fd);
	return rc;
}

static int take_block(struct slot *s, struct block *ret_block, struct bb_err *err)
{
	const struct bb_fire_state *state = s->fire.state;
	struct block b = {0};
	struct bb_hook hook;
	int rc = take_turn(s, &b.none_ns, err);

	if (!rc)
		rc = bb_hook__open(&s->fire.found->point,
				   bb_firer__probed(&s->fire.firer, &s->fire.found->point),
				   state->site, false, &hook, err);
	if (rc)
		return rc;
	rc = take_attached(s, &hook, &b, err);
	bb_hook__close_now(&hook);
	if (!rc)
		rc = take_turn(s, &b.none_ns, err);
	*ret_block = (struct block){b.none_ns / 2, s->empty_fd < 0 ? NAN : b.empty_ns / 2,
				    b.full_ns / 2};
	return rc;
}

/* Stores each block as one sample, and updates the batch's mean cost of the empty program. If the
 * trigger's time varies more than the program costs, the cost may be negative. It is then stored as
 * 0, because samples have no sign. The median over loads does not depend on how negative it was. */
static int batch(void *slot, uint32_t, struct bb_batch *b, struct bb_err *err)
{
	uint64_t began_ns = bb_now_ns();
	struct slot *s = slot;
	uint32_t runs_each = s->fire.found->runs_each;
	struct block block;
	double cost_ns, floor_ns;
	int rc = 0;

	b->warmup = 0;
	((struct shared *)s->fire.firer.shared)->drains = b->drain_each_run &&
							  bb_target__ring(s->fire.common.target);
	while (!rc && bb_batch__goes_on(b, began_ns)) {
		rc = take_block(s, &block, err);
		if (rc)
			break;
		cost_ns = (block.full_ns - block.none_ns) / runs_each;
		floor_ns = (block.empty_ns - block.none_ns) / runs_each;
		b->floor_ns = b->n ? (b->floor_ns * (double)b->n + floor_ns) / (double)(b->n + 1)
				   : floor_ns;
		b->fired++;
		b->ns[b->n++] = (uint64_t)(fmax(cost_ns, 0) * BB_PS_PER_NS + 0.5);
	}
	return bb_batch__void_if_gone(b, rc, err);
}

static void detach(void *slot)
{
	struct slot *s = slot;

	bb_firer__stop(&s->fire.firer);
	bb_close(&s->empty_fd);
}

static int probe(void *, struct bb_test_prog *prog, struct bb_err *err)
{
	if (prog->fire.point.kind != BB_AT_STRUCT_OPS)
		return 0;
	return bb_fail(err, -ENOTSUP,
		       "a connection keeps its congestion control: there is no time without the "
		       "program");
}

static int attach(void *slot, struct bb_err *err)
{
	struct slot *s = slot;
	struct bb_fire_state *fire = (struct bb_fire_state *)s->common.state->fired;
	struct bb_test_prog *prog = s->common.prog;
	struct bb_code code;

	s->empty_fd = -1;
	int rc = bb_driver__probe(s->common.state, prog, err);
	if (rc)
		return rc;
	bb_fire_slot__init(&s->fire, fire, prog, prog->target->prog_fd);
	if (!bb_target__code(prog->target, prog->target->prog_fd, &code, NULL)) {
		/* the empty program returns the value that lets the event go on */
		if (bb_load__empty(&code, prog->fire.point.kind == BB_AT_CGROUP, &s->empty_fd,
				   NULL))
			s->empty_fd = -1;
		bb_code__done(&code);
	}
	bb_fire__close_hooks();
	rc = bb_pin_to_cpu(fire->common.opts.cpu, err);
	return rc ? rc
		  : bb_firer__start(fire->site, &prog->fire.point, s, sizeof(struct shared),
				    &s->fire.firer, err);
}

const struct bb_driver bb_driver_hook = {
	.kind.with = "hook",
	.kind.doc = "wall time of a trigger with the program attached against nothing "
		    "attached, bpf_stats off: the whole cost of an event to its target",
	.kind.keys = {{"samples"}},
	.kind.pace = {.samples = 28, .turn = 1, .pair_turn = 1, .sample_s = 0.2},
	.kind.sample = {"event", "ns per event", false},
	.kind.units_per_ns = BB_PS_PER_NS,
	.kind.agrees_with = "step",
	.kind.own_floor = true,
	.kind.needs_bpf = true,
	.kind.shares_events = true,
	.kind.stats_off = true,
	.trigger = &bb_trigger_fire,
	.slot_bytes = sizeof(struct slot),
	.probe = probe,
	.attach = attach,
	.batch = batch,
	.fired_by = bb_fire__words_alone,
	.detach = detach,
};
