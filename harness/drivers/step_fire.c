/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * step by fire: the program is attached where its section says, something is done that makes its
 * event happen (fire/trigger.h), and its counters are read: by the process that does it, so that
 * the program and the reading find the caches as the event left them. A window between two readings
 * with as many runs as a firing brings is a sample: of one run, or the mean of those that a firing
 * cannot do without. Runs that others bring into a window make it none.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "drivers/fire.h"
#include "drivers/turn.h"

/* A slow trigger takes fewer samples in a row, unless the scenario says how many. */
#define SLOW_S 0.1
#define FEWEST 4u
/* So long a batch waits for a process that fires itself. */
#define WAIT_S 1.0

struct shot {
	struct bb_fire_slot *slot;
	struct bb_fire_shared *shared;
	struct bb_fire_task *task;
	struct bb_prog_stats last;
	bool waits; /* for a process that does it when it likes */
};

static int fire_once(const struct shot *s)
{
	int rc = bb_target__reset_for_run(s->slot->target);

	if (rc)
		return rc;
	if (s->slot->state->cold)
		bb_cold__empty(s->slot->state->cold);
	rc = bb_firing__fire(&s->slot->firing);
	if (rc) {
		s->shared->trigger_rc = rc;
		s->shared->refused++;
	}
	s->task->beats++;
	return 0;
}

static int look(struct shot *s, struct bb_prog_stats *ret_window)
{
	struct bb_prog_stats now;
	int rc = bb_stats_reader__info(bb_target__reader(s->slot->target), &now);

	if (rc)
		return rc;
	*ret_window = bb_prog_stats__since(&now, &s->last);
	s->last = now;
	return 0;
}

static int warm_up(struct shot *s, struct bb_batch *b)
{
	uint64_t began_ns = bb_now_ns();
	struct bb_prog_stats window;
	size_t i = 0;
	int rc = look(s, &window);

	/* one at the least: the first reading is no window's beginning for a program that runs by
	 * it */
	if (!b->warmup)
		b->warmup = 1;
	while (!rc && bb_batch__warms_up(b, i, began_ns, BB_WARMUP_S)) {
		rc = fire_once(s);
		if (!rc)
			rc = look(s, &window);
		bb_target__drain(s->slot->target, !b->drain_each_run);
		i++;
	}
	b->warmup = i;
	return rc;
}

static int sample_once(struct shot *s, struct bb_batch *b)
{
	uint32_t each = s->slot->found->runs_each;
	struct bb_prog_stats window;
	int rc = fire_once(s);

	if (!rc)
		rc = look(s, &window);
	bb_target__drain(s->slot->target, !b->drain_each_run);
	/* nothing was fired, if a process that does it when it likes did not */
	if (rc || (s->waits && !window.run_cnt))
		return rc;
	b->fired++;
	/* all runs of an iterator are ours, and it goes as far as there is something to go over */
	if (s->slot->found->point.kind == BB_AT_ITER && window.run_cnt)
		each = (uint32_t)window.run_cnt;
	if (window.run_cnt != each) {
		b->multi += window.run_cnt;
		return 0;
	}
	b->run_cnt += each;
	b->run_time_ns += window.run_time_ns;
	b->ns[b->n++] = (window.run_time_ns + each / 2) / each;
	return 0;
}

static bool goes_on(const struct shot *s, const struct bb_batch *b, uint64_t began_ns)
{
	if (!bb_batch__goes_on(b, began_ns))
		return false;
	if (s->waits && bb_seconds_since(began_ns) > WAIT_S)
		return false;
	return s->slot->state->spec->samples || s->slot->state->cold || b->fired < FEWEST ||
	       bb_seconds_since(began_ns) < SLOW_S;
}

static int work(void *arg, struct bb_fire_task *t, void *shared)
{
	struct shot s = {.slot = arg, .shared = shared, .task = t};
	struct bb_batch *b = &s.shared->batch;
	uint64_t began_ns = bb_now_ns();
	int rc = bb_fire__trigger(s.slot, t);

	s.waits = s.slot->found->point.pid != 0;
	if (!rc) {
		bb_batch__look_cold(b, s.slot->state->cold);
		rc = warm_up(&s, b);
	}
	while (!rc && goes_on(&s, b, began_ns))
		rc = sample_once(&s, b);
	b->elapsed_s = bb_seconds_since(began_ns);
	return rc;
}

static int batch(void *state, void *slot, uint32_t param, struct bb_batch *b, struct bb_err *err)
{
	int rc;

	(void)state;
	(void)param;
	b->target_cpu_s = NAN;
	rc = bb_fire__batch(slot, work, b, err);
	if (rc == -ESRCH) {
		snprintf(b->void_why, sizeof(b->void_why), "%.190s", err->msg);
		rc = 0;
	}
	return rc;
}

const struct bb_driver bb_driver_step_fire = {
	.kind =
		{
			.with = "step",
			.by_key = "trigger",
			.by = {"fire"},
			.title = "step by fire",
			.doc = "attach it where its section says, do what makes its event happen, "
			       "and read the counters after each: every run is a sample",
			.keys = bb_fire_keys,
			.pace = BB_STEP_PACE,
			.cold_name = "step-cold",
			.cold = BB_COLD_PACE,
			.sample = BB_SAMPLE_RUN,
			.needs_bpf = true,
			.shares_events = true,
			.one_by_one = true,
			.whole_object = true,
		},
	.executed_by = &bb_driver_exact_fire,
	.open = bb_fire__open,
	.probe = bb_fire__probe,
	.attach = bb_fire__attach,
	.batch = batch,
	.fired_by = bb_fire__words,
	.detach = bb_fire__detach,
	.close = bb_fire__close,
};
