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
#include "base/stop.h"
#include "drivers/exact_clones.h"
#include "drivers/fire.h"
#include "drivers/page_fault.h"
#include "drivers/test_run.h"
#include "drivers/turn.h"
#include "exact/counts.h"

/* Long, as a count may depend on how often the program ran before: no other process is to shorten
 * the warm-up of a fast one. */
#define WARMUP_S 1.0

struct slot {
	struct bb_exact exact;
	struct bb_target *target;
	struct bb_test_run_slot *test_run; /* NULL: not by test run */
	struct bb_fire_slot *fire;         /* NULL: not fired where it is attached */
	int event_fd;                      /* -1: not by page fault */
	struct bb_batch *batch;            /* in work */
	uint64_t began_ns;
	size_t warmed; /* runs of its warm-up that were made */
	uint64_t *in;  /* scratch, by block; where others may run it, too */
	bool is_warm;
};

const struct bb_exact *bb_exact__of(const void *slot)
{
	return &((const struct slot *)slot)->exact;
}

static void close_slot(struct slot *s)
{
	if (!s)
		return;
	if (s->event_fd >= 0)
		close(s->event_fd);
	bb_exact__close(&s->exact);
	free(s->in);
	free(s);
}

/* The clone, attached to nothing yet. */
static int open_slot(const struct bb_test_prog *subject, struct slot **ret_slot, struct bb_err *err)
{
	struct slot *s = calloc(1, sizeof(*s));
	int rc = s ? bb_exact__open(subject->target, &s->exact, err) : bb_fail_nomem(err);

	if (rc) {
		free(s);
		return rc;
	}
	s->target = subject->target;
	s->event_fd = -1;
	if (subject->counts_behind)
		bb_exact__open_behind(s->target, &s->exact);
	*ret_slot = s;
	return 0;
}

/* Behind a run: keep what it counted, or in the warm-up throw it away. 1: that was the last. */
static int take(void *arg)
{
	struct slot *s = arg;
	struct bb_exact *e = &s->exact;
	struct bb_batch *b = s->batch;

	bb_target__drain(s->target, !b->drain_each_run);
	if (!s->is_warm) {
		s->is_warm = !bb_batch__warms_up(b, ++s->warmed, s->began_ns, WARMUP_S);
	} else {
		bb_exact__add(e);
		b->paths[b->n] = bb_counts__path(&e->clone.cfg, e->now);
		b->ns[b->n++] = bb_counts__instructions(&e->clone.cfg, e->now);
		b->fired++;
	}
	bb_exact__reset(e);
	return !bb_batch__goes_on(b, s->began_ns);
}

static void begin(struct slot *s, struct bb_batch *b)
{
	b->target_cpu_s = NAN;
	s->batch = b;
	s->began_ns = bb_now_ns();
	s->warmed = 0;
	s->is_warm = !b->warmup;
	bb_exact__reset(&s->exact);
	/* their pages are to be there before an event is on */
	memset(b->ns, 0, b->want * sizeof(*b->ns));
	memset(b->paths, 0, b->want * sizeof(*b->paths));
	memset(s->exact.now, 0, s->exact.clone.cfg.n_blocks * sizeof(*s->exact.now));
}

/* --- by page fault --- */

static int attach_to_faults(void *state, struct bb_test_prog *subject, void **ret_slot,
			    struct bb_err *err)
{
	struct slot *s;
	int rc = open_slot(subject, &s, err);

	(void)state;
	if (rc)
		return rc;
	rc = bb_page_fault__attach(s->exact.clone.prog_fd, &s->event_fd, err);
	if (rc)
		close_slot(s);
	else
		*ret_slot = s;
	return rc;
}

static void detach_from_faults(void *state, void *slot)
{
	(void)state;
	close_slot(slot);
}

/* Can it be counted? */
static int probe_faults(void *state, struct bb_test_prog *subject, struct bb_err *err)
{
	void *slot;
	int rc = attach_to_faults(state, subject, &slot, err);

	if (!rc)
		detach_from_faults(state, slot);
	return rc;
}

static int batch_of_faults(void *state, void *slot, uint32_t param, struct bb_batch *b,
			   struct bb_err *err)
{
	uint64_t began_ns = bb_now_ns();
	struct slot *s = slot;
	int rc;

	begin(s, b);
	rc = bb_page_fault__aim(state, param, err);
	if (rc)
		return rc;
	rc = bb_page_fault__run(state, s->target, s->event_fd, take, s);
	b->warmup = s->warmed;
	b->elapsed_s = bb_seconds_since(began_ns);
	if (rc)
		return bb_fail(err, rc, "counting '%s': %s", bb_target__program(s->target),
			       strerror(-rc));
	return bb_stop_signal ? -EINTR : 0;
}

#define EXACT_KIND                                                                                 \
	.with = "exact", .by_key = "trigger",                                                      \
	.pace = {.samples = 10,                                                                    \
		 .turn = 100,                                                                      \
		 .warmup_first = 100,                                                              \
		 .warmup_turn = 8,                                                                 \
		 .sample_s = 5e-6},                                                                \
	.sample = {"run", "instructions per run", false}, .needs_bpf = true, .counts = true,       \
	.stats_off = true

const struct bb_driver bb_driver_exact_page_fault = {
	.kind =
		{
			EXACT_KIND,
			.by = {"page-fault"},
			.title = "exact by page-fault",
			.doc = "count the instructions of every run, by a clone of the program "
			       "with counters in it, fired as by step",
			.keys = bb_page_fault_keys,
			.param = "stack_depth",
			.param_default = 8,
			.fires = true,
		},
	.open = bb_page_fault__open,
	.probe = probe_faults,
	.attach = attach_to_faults,
	.batch = batch_of_faults,
	.detach = detach_from_faults,
	.close = bb_page_fault__close,
};

/* --- by test run --- */

static int attach_to_runs(void *state, struct bb_test_prog *subject, void **ret_slot,
			  struct bb_err *err)
{
	struct slot *s;
	int rc = open_slot(subject, &s, err);

	if (rc)
		return rc;
	rc = bb_test_run__attach_program(state, subject, s->exact.clone.prog_fd, &s->test_run, err);
	if (rc)
		close_slot(s);
	else
		*ret_slot = s;
	return rc;
}

static void detach_from_runs(void *state, void *slot)
{
	struct slot *s = slot;

	if (s)
		bb_test_run__detach(state, s->test_run);
	close_slot(s);
}

static int probe_runs(void *state, struct bb_test_prog *subject, struct bb_err *err)
{
	void *slot;
	int rc = bb_test_run__probe(state, subject, err);

	if (!rc)
		rc = attach_to_runs(state, subject, &slot, err);
	if (!rc)
		detach_from_runs(state, slot);
	return rc;
}

/* One run; what a signal breaks off is made again, and does not count. */
static int run_once(struct slot *s, const struct bb_test_call *shot, struct bb_batch *b)
{
	union bpf_attr attr;
	int rc = bb_target__reset_for_run(s->target);

	if (!rc)
		rc = bb_test_call__fire(shot, &attr);
	if (rc == -EINTR && !bb_stop_signal) {
		b->retries++;
		bb_exact__reset(&s->exact);
		return 0;
	}
	if (rc)
		return rc;
	bb_test_call__judge_retval(shot, attr.test.retval, b->void_why, sizeof(b->void_why));
	return take(s);
}

static int batch_of_runs(void *state, void *slot, uint32_t param, struct bb_batch *b,
			 struct bb_err *err)
{
	uint64_t began_ns = bb_now_ns();
	struct slot *s = slot;
	struct bb_test_call shot;
	int rc = bb_test_run__aim(state, s->test_run, param, &shot, err);

	if (rc)
		return rc;
	begin(s, b);
	rc = bb_target__reset_for_run(s->target);
	if (!rc && !bb_must_end())
		rc = bb_test_call__fire_checked(&shot, b->void_why, sizeof(b->void_why));
	rc = rc == -EINTR && !bb_stop_signal ? 0 : rc;
	bb_exact__reset(&s->exact);
	s->is_warm |= bb_seconds_since(s->began_ns) >= WARMUP_S;
	while (!rc && !bb_must_end())
		rc = run_once(s, &shot, b);
	b->warmup = s->warmed;
	b->elapsed_s = bb_seconds_since(began_ns);
	if (rc < 0)
		rc = bb_test_call__say_failed(&shot, rc, err);
	bb_test_call__close(&shot);
	return rc < 0 ? rc : bb_stop_signal ? -EINTR : 0;
}

const struct bb_driver bb_driver_exact_test_run = {
	.kind =
		{
			EXACT_KIND,
			.by = {"test-run"},
			.title = "exact by test-run",
			.doc = "count the instructions of every run, by a clone of the program "
			       "with counters in it, run as by step",
			.keys = bb_test_run_keys,
			.takes_inputs = true,
			.fires = true,
		},
	.open = bb_test_run__open,
	.probe = probe_runs,
	.attach = attach_to_runs,
	.batch = batch_of_runs,
	.detach = detach_from_runs,
	.close = bb_test_run__close,
};

/* --- fired where it is attached --- */

/* Firings in vain, one after the other: others make it run so often that none is alone. */
#define IN_VAIN 1000u

static void detach_fired(void *state, void *slot)
{
	struct slot *s = slot;

	if (s && s->fire)
		bb_fire__detach(state, s->fire);
	close_slot(s);
}

static int attach_to_fire(void *state, struct bb_test_prog *subject, void **ret_slot,
			  struct bb_err *err)
{
	struct slot *s;
	int rc = bb_fire__probe(state, subject, err);

	if (!rc)
		rc = open_slot(subject, &s, err);
	if (rc)
		return rc;
	s->fire = calloc(1, sizeof(*s->fire));
	s->in = calloc(s->exact.clone.cfg.n_blocks, sizeof(*s->in));
	rc = s->fire && s->in ? bb_fire__attach_program(state, subject, s->exact.clone.prog_fd, s,
							sizeof(struct bb_fire_shared), s->fire, err)
			      : bb_fail_nomem(err);
	if (rc) {
		free(s->fire);
		close_slot(s);
	} else {
		*ret_slot = s;
	}
	return rc;
}

static int probe_fire(void *state, struct bb_test_prog *subject, struct bb_err *err)
{
	void *slot;
	int rc = attach_to_fire(state, subject, &slot, err);

	if (!rc)
		detach_fired(state, slot);
	return rc;
}

/* Are those of a firing counted, and of nobody else? A run begins in the first block. */
static bool are_ours(const struct slot *s)
{
	const struct bb_exact *e = &s->exact;
	uint64_t runs = s->fire->found->runs_each;

	return e->now[0] >= runs &&
	       bb_counts__are_whole(&e->clone.cfg, &e->code, runs, e->now, s->in);
}

/* In the process that fires. */
static int work(void *arg, struct bb_fire_task *t, void *shared)
{
	struct bb_batch *b = &((struct bb_fire_shared *)shared)->batch;
	struct slot *s = arg;
	struct bb_exact *e = &s->exact;
	const struct bb_fire_found *found = s->fire->found;
	struct bb_prog_stats unused;
	size_t in_vain = 0;
	bool is_last = false;
	int rc = bb_fire__trigger(s->fire, t);

	begin(s, b);
	while (!rc && !is_last && in_vain < IN_VAIN) {
		rc = bb_target__reset_for_run(s->target);
		bb_exact__reset(e);
		if (!rc && found->trigger->fire)
			bb_firing__fire(&s->fire->firing);
		else if (!rc)
			rc = bb_stats_reader__info(bb_target__reader(s->target), &unused);
		t->beats++;
		bb_clone__read(&e->clone, e->now);
		in_vain = are_ours(s) ? 0 : in_vain + 1;
		if (in_vain) {
			bb_target__drain(s->target, !b->drain_each_run);
			continue;
		}
		is_last = take(s) == 1;
		if (s->is_warm && b->n) /* of one run, as by step */
			b->ns[b->n - 1] /= found->runs_each;
	}
	b->warmup = s->warmed;
	return rc;
}

static int batch_of_fire(void *state, void *slot, uint32_t param, struct bb_batch *b,
			 struct bb_err *err)
{
	uint64_t began_ns = bb_now_ns();
	int rc;

	(void)state;
	(void)param;
	rc = bb_fire__batch(((struct slot *)slot)->fire, work, b, err);
	b->elapsed_s = bb_seconds_since(began_ns);
	return rc;
}

const struct bb_driver bb_driver_exact_fire = {
	.kind =
		{
			EXACT_KIND,
			.by = {"fire"},
			.title = "exact by fire",
			.doc = "count the instructions of every run, by a clone of the program "
			       "with counters in it, fired as by step",
			.keys = bb_fire_keys,
			.shares_events = true,
			.whole_object = true,
		},
	.open = bb_fire__open,
	.probe = probe_fire,
	.attach = attach_to_fire,
	.batch = batch_of_fire,
	.fired_by = bb_fire__words,
	.detach = detach_fired,
	.close = bb_fire__close,
};
