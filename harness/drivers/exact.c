/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exact: how many instructions each run executes, by a clone of the program with a counter in every
 * block (exact/clone.h). It is fired as step fires the program: same inputs, same stack, same
 * warm-up, same reader of its rings. The counters are read and set back between runs. Nothing is
 * timed.
 */
#include "drivers/exact.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "drivers/exact_clones.h"
#include "drivers/trigger.h"
#include "drivers/turn.h"
#include "exact/counts.h"

/* Long, as a count may depend on how often the program ran before: no other process is to shorten
 * the warm-up of a fast one. */
#define WARMUP_S 1.0

/* Firings in vain, one after the other: others make it run so often that none is alone. */
#define IN_VAIN 1000u

struct slot {
	struct bb_exact exact;
	struct bb_attached *attached;
	uint64_t began_ns;
	size_t warmed;  /* runs of its warm-up that were made */
	size_t in_vain; /* firings, one after the other */
	uint64_t *in;   /* scratch, by block */
	bool is_warm;
};

const struct bb_exact *bb_exact__of(const void *slot)
{
	return &((const struct slot *)slot)->exact;
}

static void detach(void *state, void *slot)
{
	struct slot *s = slot;

	if (!s)
		return;
	if (s->attached)
		((struct bb_trigger_state *)state)->trigger->detach(s->attached);
	bb_exact__close(&s->exact);
	free(s->in);
	free(s);
}

static int attach(void *state, struct bb_test_prog *subject, void **ret_slot, struct bb_err *err)
{
	const struct bb_drive_trigger *trigger = ((struct bb_trigger_state *)state)->trigger;
	struct slot *s = calloc(1, sizeof(*s));
	int rc = s ? bb_exact__open(subject->target, &s->exact, err) : bb_fail_nomem(err);

	if (rc) {
		free(s);
		return rc;
	}
	if (subject->counts_behind)
		bb_exact__open_behind(subject->target, &s->exact);
	s->in = calloc(s->exact.clone.cfg.n_blocks, sizeof(*s->in));
	rc = s->in ? trigger->attach(state, subject, s->exact.clone.prog_fd, &s->attached, err)
		   : bb_fail_nomem(err);
	if (rc)
		detach(state, s);
	else
		*ret_slot = s;
	return rc;
}

/* Can it be fired, and counted? */
static int probe(void *state, struct bb_test_prog *subject, struct bb_err *err)
{
	void *slot;
	int rc = bb_trigger__probe(state, subject, err);

	if (!rc)
		rc = attach(state, subject, &slot, err);
	if (!rc)
		detach(state, slot);
	return rc;
}

static int begin(const struct bb_attached *a, void *arg, struct bb_batch *b)
{
	struct slot *s = arg;

	(void)a;
	s->began_ns = bb_now_ns();
	s->warmed = s->in_vain = 0;
	s->is_warm = !b->warmup;
	/* its pages are to be there before an event is on */
	memset(s->exact.now, 0, s->exact.clone.cfg.n_blocks * sizeof(*s->exact.now));
	bb_exact__reset(&s->exact);
	return 0;
}

/* Are those of a firing counted, and of nobody else? A run begins in the first block. */
static bool are_ours(const struct bb_attached *a, struct slot *s)
{
	const struct bb_exact *e = &s->exact;

	if (!a->state->trigger->shares_events)
		return true;
	bb_clone__read(&e->clone, e->now);
	return e->now[0] >= a->runs_each &&
	       bb_counts__are_whole(&e->clone.cfg, &e->code, a->runs_each, e->now, s->in);
}

/* What a firing counted, of one run, as by step. */
static void take(const struct bb_attached *a, struct slot *s, struct bb_batch *b)
{
	struct bb_exact *e = &s->exact;

	bb_exact__add(e);
	b->paths[b->n] = bb_counts__path(&e->clone.cfg, e->now);
	b->ns[b->n++] = bb_counts__instructions(&e->clone.cfg, e->now) / a->runs_each;
	b->fired++;
}

/* Keep what was counted, or in the warm-up throw it away. */
static int after(const struct bb_attached *a, void *arg, struct bb_batch *b, bool is_whole)
{
	struct slot *s = arg;
	bool is_last;

	s->in_vain = !is_whole || are_ours(a, s) ? 0 : s->in_vain + 1;
	bb_target__drain(a->target, !b->drain_each_run);
	if (is_whole && !s->in_vain && s->is_warm) {
		take(a, s, b);
	} else if (is_whole && !s->in_vain) {
		s->is_warm = !bb_batch__warms_up(b, ++s->warmed, s->began_ns, WARMUP_S);
		if (s->is_warm)
			b->warmup = s->warmed;
	}
	is_last = !bb_batch__goes_on(b, s->began_ns);
	/* last, so that in a process that fires nobody else's run comes before ours */
	bb_exact__reset(&s->exact);
	return is_last || s->in_vain == IN_VAIN;
}

static int batch(void *state, void *slot, uint32_t param, struct bb_batch *b, struct bb_err *err)
{
	const struct bb_trigger_state *s = state;
	const struct bb_instrument_part part = {begin, after, slot, .reads_counters = false};

	b->target_cpu_s = NAN;
	/* as in begin() */
	memset(b->ns, 0, b->want * sizeof(*b->ns));
	memset(b->paths, 0, b->want * sizeof(*b->paths));
	return s->trigger->fire(((struct slot *)slot)->attached, param, &part, b, err);
}

const struct bb_driver bb_driver_exact = {
	.kind =
		{
			.with = "exact",
			.doc = "count the instructions of every run, by a clone of the program "
			       "with counters in it",
			.pace = {.samples = 10,
				 .turn = 100,
				 .warmup_first = 100,
				 .warmup_turn = 8,
				 .sample_s = 5e-6},
			.sample = {"run", "instructions per run", false},
			.needs_bpf = true,
			.counts = true,
			.stats_off = true,
			.whole_object = true,
		},
	.is_instrument = true,
	.open = bb_trigger__open,
	.probe = probe,
	.attach = attach,
	.batch = batch,
	.detach = detach,
	.close = bb_trigger__close,
};
