/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * step by page fault: fire one event (page_fault.h), read the counters, again and again: a
 * per-invocation distribution from bpf_stats alone.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/stop.h"
#include "drivers/page_fault.h"
#include "drivers/turn.h"

struct slot {
	struct bb_target *target;
	int event_fd;
	struct bb_prog_stats last;
	struct bb_batch *batch; /* in work */
	uint64_t began_ns;
	size_t warmed; /* runs of its warm-up that were made */
	bool is_warm;
};

/* One sample, behind its run. */
static int sample(void *arg)
{
	struct slot *slot = arg;
	struct bb_batch *b = slot->batch;
	struct bb_prog_stats now;
	bool was_warmup = false, is_first = false;
	int rc;

	if (!slot->is_warm) {
		slot->warmed++;
		slot->is_warm = !bb_batch__warms_up(b, slot->warmed, slot->began_ns, BB_WARMUP_S);
		if (!slot->is_warm) { /* nothing to read yet */
			bb_target__drain(slot->target, !b->drain_each_run);
			return 0;
		}
		is_first = slot->warmed == 1;
		was_warmup = true;
	}
	rc = bb_stats_reader__info(bb_target__reader(slot->target), &now);
	if (rc)
		return rc;
	bb_target__drain(slot->target, !b->drain_each_run);
	if (is_first && now.run_time_ns - slot->last.run_time_ns >= BB_WARMUP_NS) {
		slot->warmed = 0;
		was_warmup = false;
	}
	if (!was_warmup) {
		b->fired++;
		bb_batch__take(b, now.run_cnt - slot->last.run_cnt,
			       now.run_time_ns - slot->last.run_time_ns, 1);
	}
	slot->last = now;
	return !bb_batch__goes_on(b, slot->began_ns);
}

static void detach(void *state, void *slot_)
{
	struct slot *slot = slot_;

	(void)state;
	if (!slot)
		return;
	close(slot->event_fd);
	free(slot);
}

static int attach(void *state, struct bb_test_prog *subject, void **ret_slot, struct bb_err *err)
{
	struct slot *slot = calloc(1, sizeof(*slot));
	int rc;

	(void)state;
	if (!slot)
		return bb_fail_nomem(err);
	slot->target = subject->target;
	rc = bb_page_fault__attach(bb_target__prog_fd(subject->target), &slot->event_fd, err);
	if (rc) {
		free(slot);
		return rc;
	}
	*ret_slot = slot;
	return 0;
}

static int batch(void *state, void *slot_, uint32_t param, struct bb_batch *b, struct bb_err *err)
{
	struct slot *slot = slot_;
	uint64_t began_ns = bb_now_ns();
	int rc;

	b->target_cpu_s = NAN;
	slot->batch = b;
	slot->began_ns = began_ns;
	slot->warmed = 0;
	slot->is_warm = !b->warmup;
	/* its pages are to be there before the event is on */
	memset(b->ns, 0, b->want * sizeof(*b->ns));
	rc = bb_page_fault__aim(state, param, err);
	if (rc)
		return rc;
	bb_page_fault__look_cold(state, b);
	rc = bb_stats_reader__info(bb_target__reader(slot->target), &slot->last);
	if (!rc)
		rc = bb_page_fault__run(state, slot->target, slot->event_fd, sample, slot);
	b->warmup = slot->warmed;
	b->elapsed_s = bb_seconds_since(began_ns);
	if (rc)
		return bb_fail(err, rc, "stepping '%s': %s", bb_target__program(slot->target),
			       strerror(-rc));
	return bb_stop_signal ? -EINTR : 0;
}

const struct bb_driver bb_driver_step_page_fault = {
	.kind =
		{
			.with = "step",
			.by_key = "trigger",
			.by = {"page-fault"},
			.title = "step by page-fault",
			.doc = "fire one synthetic perf event at a time and read the counters "
			       "after each: every run is a sample",
			.keys = bb_page_fault_keys,
			.param = "stack_depth",
			.param_default = 8,
			.pace = BB_STEP_PACE,
			.cold_name = "step-cold",
			.cold = BB_COLD_PACE,
			.sample = BB_SAMPLE_RUN,
			.needs_bpf = true,
			.fires = true,
			.one_by_one = true,
		},
	.executed_by = &bb_driver_exact_page_fault,
	.open = bb_page_fault__open,
	.attach = attach,
	.batch = batch,
	.detach = detach,
	.close = bb_page_fault__close,
};
