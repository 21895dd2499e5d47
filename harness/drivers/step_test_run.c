/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * step by test run: the kernel runs the program once (BPF_PROG_TEST_RUN, repeat 1) on an input of
 * ours, and its counters are read after each call: a per-invocation distribution for types that no
 * event of ours can fire.
 *
 * repeat stays 1: no run sees what the one before it wrote, and the counters time each alone. The
 * kernel's own figure, `duration`, is whole nanoseconds over a window that preemption and the loop
 * itself are in.
 */
#include <errno.h>
#include <math.h>

#include "base/clock.h"
#include "base/stop.h"
#include "drivers/test_run.h"
#include "drivers/turn.h"

/* The warm-up, at least one run of it: the first has its output looked at. */
static int warm_up(const struct bb_test_call *s, struct bb_batch *b, struct bb_prog_stats *ret_last)
{
	const struct bb_stats_reader *reader = bb_target__reader(s->target);
	uint64_t began_ns = bb_now_ns();
	struct bb_prog_stats before;
	union bpf_attr attr;
	int rc = bb_stats_reader__info(reader, &before);
	size_t i = 0;

	if (!b->warmup)
		b->warmup = 1;
	while (!rc && bb_batch__warms_up(b, i, began_ns, BB_WARMUP_S)) {
		rc = bb_target__reset_for_run(s->target);
		if (!rc)
			rc = i ? bb_test_call__fire(s, &attr)
			       : bb_test_call__fire_checked(s, b->void_why, sizeof(b->void_why));
		bb_target__drain(s->target, !b->drain_each_run);
		if (!rc) {
			i++;
		} else if (rc == -EINTR && !bb_stop_signal) {
			b->retries++;
			rc = 0;
		}
	}
	if (!rc)
		rc = bb_stats_reader__info(reader, ret_last);
	if (!rc && i == 1 && !b->retries && ret_last->run_cnt - before.run_cnt == 1 &&
	    ret_last->run_time_ns - before.run_time_ns >= BB_WARMUP_NS) {
		b->ns[b->n++] = b->run_time_ns = ret_last->run_time_ns - before.run_time_ns;
		b->fired = b->run_cnt = 1;
		i = 0;
	}
	if (!rc) /* what a call ran that a signal broke off is discarded, too */
		b->warmup = b->retries ? ret_last->run_cnt - before.run_cnt : i;
	return rc;
}

/* One sample: a run, and how far the counters moved. */
static inline int sample_once(const struct bb_test_call *s, struct bb_cold *cold,
			      struct bb_batch *b, struct bb_prog_stats *last)
{
	struct bb_prog_stats now;
	uint64_t runs, ns;
	union bpf_attr attr;
	int fire_rc, rc = bb_target__reset_for_run(s->target);

	if (rc)
		return rc;
	if (cold)
		bb_cold__empty(cold);
	fire_rc = bb_test_call__fire(s, &attr);
	rc = bb_stats_reader__info(bb_target__reader(s->target), &now);
	bb_target__drain(s->target, !b->drain_each_run);
	runs = now.run_cnt - last->run_cnt;
	ns = now.run_time_ns - last->run_time_ns;
	if (rc || (fire_rc && fire_rc != -EINTR))
		return rc ? rc : fire_rc;
	*last = now;
	/* broken off by a signal: discarded, as if it were part of the warm-up */
	if (fire_rc) {
		b->retries++;
		b->warmup += runs;
		return bb_stop_signal ? -EINTR : 0;
	}
	bb_test_call__judge_retval(s, attr.test.retval, b->void_why, sizeof(b->void_why));
	b->fired++;
	bb_batch__take(b, runs, ns, 1);
	return 0;
}

static int batch(void *state, void *slot, uint32_t param, struct bb_batch *b, struct bb_err *err)
{
	const struct bb_test_run *t = state;
	uint64_t began_ns = bb_now_ns();
	struct bb_prog_stats last;
	struct bb_test_call s;
	int rc = bb_test_run__aim(t, slot, param, &s, err);

	if (rc)
		return rc;
	b->target_cpu_s = NAN;
	bb_batch__look_cold(b, t->cold);
	rc = warm_up(&s, b, &last);
	while (!rc && bb_batch__goes_on(b, began_ns))
		rc = sample_once(&s, t->cold, b, &last);
	b->elapsed_s = bb_seconds_since(began_ns);
	if (rc)
		rc = bb_test_call__say_failed(&s, rc, err);
	bb_test_call__close(&s);
	return rc ? rc : bb_stop_signal ? -EINTR : 0;
}

const struct bb_driver bb_driver_step_test_run = {
	.kind =
		{
			.with = "step",
			.by_key = "trigger",
			.by = {"test-run"},
			.title = "step by test-run",
			.doc = "have the kernel run it on one input at a time and read the "
			       "counters after each: every run is a sample",
			.keys = bb_test_run_keys,
			.takes_inputs = true,
			.pace = BB_STEP_PACE,
			.cold_name = "step-cold",
			.cold = BB_COLD_PACE,
			.sample = BB_SAMPLE_RUN,
			.needs_bpf = true,
			.fires = true,
			.one_by_one = true,
			.read_only = true,
		},
	.executed_by = &bb_driver_exact_test_run,
	.open = bb_test_run__open,
	.probe = bb_test_run__probe,
	.attach = bb_test_run__attach,
	.batch = batch,
	.detach = bb_test_run__detach,
	.close = bb_test_run__close,
};
