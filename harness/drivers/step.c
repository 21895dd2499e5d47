/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The drive `step`: the process that fires reads the program's counters after each firing (in the
 * warm-up, only after the last one). So the program and the reading find the caches as the event
 * left them. A window is the time between two readings. If it has as many runs as a firing causes,
 * the mean time of these runs is a sample. A window in which other processes caused runs, too,
 * gives none. */

#include "bpf/marks.h"
#include "drivers/trigger.h"

/* With a slow trigger, a turn of 100 samples ends after this time, s, but not before it has FEWEST
 * samples. Larger turns have proportionally more time. */
#define SLOW_S 0.1
#define FEWEST 4u
/* Longest time that a batch waits for runs that another process causes, s. */
#define WAIT_S 1.0

struct slot {
	struct bb_drive_slot common;
	struct bb_prog_stats last;
	uint64_t began_ns;
	size_t warmed;
	bool is_warm;
	/* For a guest that traces runs (bpf/marks.h). `traces` is true while the present run is
	 * traced. `is_described` is true once the guest has described the program to the host. */
	uint32_t traced;
	bool traces, is_described;
};

static int begin(const struct bb_attached *a, void *arg, struct bb_batch *b)
{
	struct slot *slot = arg;

	slot->began_ns = bb_now_ns();
	slot->warmed = 0;
	slot->is_warm = !b->warmup;
	if (a->state->cold) {
		b->line_ns = bb_cold__line_ns(a->state->cold);
		b->emptied = bb_cold__emptied(a->state->cold);
	}
	return bb_stats_reader__info(&a->target->reader, &slot->last);
}

/* Counts a firing of the warm-up. Returns true if the warm-up needs another one. */
static bool warms_up(struct slot *slot, const struct bb_batch *b)
{
	slot->warmed++;
	slot->is_warm = !bb_batch__warms_up(b, slot->warmed, slot->began_ns, BB_WARMUP_S);
	return !slot->is_warm;
}

static void take_window(const struct bb_attached *a, struct bb_batch *b,
			const struct bb_prog_stats *window)
{
	uint64_t each = a->runs_each;

	/* not a sample: the process that causes the runs caused none in this window */
	if (a->waits && !window->run_cnt)
		return;
	b->fired++;
	if (a->takes_all && window->run_cnt)
		each = window->run_cnt;
	if (window->run_cnt != each && a->state->trigger->shares_events)
		b->multi += window->run_cnt;
	else
		bb_batch__take(b, window->run_cnt, window->run_time_ns, each);
}

static bool goes_on(const struct bb_attached *a, const struct bb_batch *b, uint64_t began_ns)
{
	if (!bb_batch__goes_on(b, began_ns))
		return false;
	if (a->waits && bb_seconds_since(began_ns) > WAIT_S)
		return false;
	return !a->state->trigger->may_be_slow || a->state->spec->samples || a->state->cold ||
	       b->fired < FEWEST ||
	       bb_seconds_since(began_ns) < SLOW_S * fmax(1, (double)b->want / 100);
}

static int after(const struct bb_attached *a, void *arg, struct bb_batch *b, bool is_whole)
{
	struct slot *slot = arg;
	bool was_warm = slot->is_warm, is_sample = was_warm && is_whole;
	bool warms = !was_warm && warms_up(slot, b);
	struct bb_prog_stats now, window;

	if (slot->traces)
		bb_marks__end();
	if (warms && !a->state->trigger->reading_may_fire) {
		/* only the last run of the warm-up is read */
		bb_target__drain(a->target, !b->drain_each_run);
		return 0;
	}
	int rc = bb_stats_reader__info(&a->target->reader, &now);
	bb_target__drain(a->target, !b->drain_each_run);
	if (rc && slot->traces)
		bb_marks__write_run(0);
	if (rc)
		return rc;
	window = bb_prog_stats__since(&now, &slot->last);
	slot->last = now;
	if (warms)
		return 0;
	if (slot->traces) {
		bool is_one = is_whole && window.run_cnt == 1;

		slot->traces = false;
		slot->traced += is_one;
		bb_marks__write_run(is_one ? window.run_time_ns : 0);
	}
	if (!was_warm) {
		/* a first run that took so long is a sample in spite of the warm-up */
		is_sample = is_whole && slot->warmed == 1 && window.run_cnt == a->runs_each &&
			    window.run_time_ns >= BB_WARMUP_NS;
		b->warmup = is_sample ? 0 : slot->warmed;
	} else if (!is_whole) { /* a signal interrupted the firing: its runs count as warm-up */
		b->warmup += window.run_cnt;
	}
	if (is_sample)
		take_window(a, b, &window);
	if (!goes_on(a, b, slot->began_ns))
		return 1;
	if (bb_marks__are_enabled() && slot->traced < BB_MARKS_RUNS) {
		slot->traces = true;
		bb_marks__begin();
	}
	return 0;
}

static int batch(void *slot, uint32_t param, struct bb_batch *b, struct bb_err *err)
{
	const struct bb_instrument_part part = {begin, after, slot, .reads_counters = true};
	struct slot *own = slot;
	const struct bb_drive_slot *s = &own->common;

	if (bb_marks__are_enabled() && !own->is_described) {
		bb_marks__describe(s->attached->prog_fd, s->attached->target->program,
				   s->attached->target->where);
		own->is_described = true;
	}
	/* touch the memory now, because a page fault during the batch may run the program */
	memset(b->ns, 0, b->want * sizeof(*b->ns));
	int rc = s->state->driver->trigger->fire(s->attached, param, &part, b, err);
	return bb_batch__void_if_gone(b, rc, err);
}

const struct bb_driver bb_driver_step = {
	.kind.with = "step",
	.kind.doc = "read the counters after each: every run is a sample",
	.kind.pace = BB_STEP_PACE,
	.kind.cold_name = "step-cold",
	.kind.cold = {.samples = 240,
		      .sweep_samples = 3072,
		      .turn = 10,
		      .pair_turn = 4,
		      .sample_s = BB_COLD_GUESS_S},
	.kind.sample = BB_SAMPLE_RUN,
	.kind.needs_bpf = true,
	.kind.one_by_one = true,
	.kind.read_only = true,
	.kind.whole_object = true,
	.is_instrument = true,
	.slot_bytes = sizeof(struct slot),
	.batch = batch,
};
