/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The drive `pipeline`: measures a profiler as a whole. A clock samples a workload on one CPU, and
 * the program puts each stack sample into its ring. On another CPU, a consumer takes the stack
 * samples out and processes them. A sample of this drive is the lag of one stack sample: the time
 * from the event until it was processed. The fill level of the ring is recorded, too. */

#include "base/child.h"
#include "base/deadline.h"
#include "base/io.h"
#include "bpf/attach.h"
#include "drivers/consumer.h"
#include "drivers/windows.h"
#include "drivers/workload_loop.h"

/* the most executions of the workload in one batch, in case it always ends at once */
#define MAX_PASSES 1000
#define LEAST_LOOK_S 1e-3 /* shortest time between two readings of the ring, s */

struct flow_run {
	struct bb_workload_loop *loop;
	struct bb_target *target;
	const struct bb_ring *ring;
	/* NULL if the variant has no consumer */
	const struct bb_sample_processor *processor;
	uint32_t freq_hz;
	struct bb_batch *batch;
	int event_fd; /* -1 if not open */
	struct bb_consumer consumer;
	uint64_t began_ns;
	double cpu_before_s; /* CPU time of the workload when it was last started or resumed, s */
	/* lag_ns[room]: lags of processed stack samples, then ages of those left in the ring */
	uint64_t *lag_ns;
	size_t room;
};

static int pipeline_probe(void *, struct bb_test_prog *prog, struct bb_err *err)
{
	if (bb_target__ring(prog->target))
		return 0;
	return bb_fail(err, -ENOTSUP, "program '%s' has no ring buffer map for a consumer to read",
		       prog->target->program);
}

/* Leaves the workload paused, with an enabled event on it. */
static int begin_pass(struct flow_run *r, struct bb_err *err)
{
	struct bb_workload_loop *l = r->loop;
	int rc = bb_workload_loop__start(l, true, err);

	if (rc)
		return rc;
	r->cpu_before_s = bb_process_cpu_s(l->workload.pid);
	rc = bb_command__open_clock(&l->workload, l->common.spec->event, r->freq_hz,
				    r->target->prog_fd, &r->event_fd, err);
	return rc ? rc : bb_command__start_clock(r->event_fd, err);
}

static void end_pass(struct flow_run *r)
{
	if (r->event_fd >= 0)
		bb_perf_event__disable(r->event_fd);
	bb_close(&r->event_fd);
	if (r->loop->workload.pid)
		r->batch->target_cpu_s += bb_process_cpu_s(r->loop->workload.pid) - r->cpu_before_s;
	bb_command__pause(&r->loop->workload);
}

static void record_ring(struct flow_run *r)
{
	bb_ring_use__add_point(r->batch->flow, (bb_now_ns() - r->began_ns) / 1000,
			       bb_ring__bytes_held(r->ring->consumer, r->ring->producer));
}

static int watch(struct flow_run *r, struct bb_err *err)
{
	double look_s = fmax(r->batch->max_s / (BB_FLOW_MAX_POINTS - 2), LEAST_LOOK_S);
	const struct timespec pause = {(time_t)look_s, (long)(fmod(look_s, 1) * 1e9)};
	int rc = begin_pass(r, err), passes = 1;

	r->began_ns = bb_now_ns();
	bb_command__resume(&r->loop->workload);
	while (!rc && !bb_deadline_has_passed && bb_seconds_since(r->began_ns) < r->batch->max_s) {
		record_ring(r);
		nanosleep(&pause, NULL);
		if (bb_stop_signal)
			rc = -EINTR;
		if (!rc && r->consumer.pid)
			rc = bb_consumer__check(&r->consumer, err);
		if (!rc)
			rc = bb_command__ended(&r->loop->workload, err);
		if (rc == 1) {
			end_pass(r);
			rc = ++passes > MAX_PASSES ? bb_fail(err, -ESRCH,
							     "workload '%s' ends before it can be "
							     "sampled",
							     r->loop->common.spec->target.workload)
						   : begin_pass(r, err);
			bb_command__resume(&r->loop->workload);
		}
	}
	end_pass(r);
	r->batch->elapsed_s = bb_seconds_since(r->began_ns);
	record_ring(r);
	return rc;
}

/* Takes the consumer's lags, and the ages of the stack samples left in the ring. */
static int take_results(struct flow_run *r, const struct bb_prog_stats *before, struct bb_err *err)
{
	struct bb_batch *b = r->batch;
	uint64_t now_ns = bb_now_ns();
	struct bb_consumed done = {0};
	struct bb_prog_stats after;
	size_t waiting = 0, n;
	int rc = r->consumer.pid ? bb_consumer__stop(&r->consumer, &done, err) : 0;

	if (rc)
		return rc;
	if (done.n)
		memcpy(r->lag_ns, done.lag_ns, done.n * sizeof(*r->lag_ns));
	rc = bb_ring_ages(r->ring->map_fd, now_ns, r->lag_ns + done.n, r->room - done.n, &waiting,
			  err);
	if (rc)
		return rc;
	b->flow->consumed = done.samples;
	b->flow->waiting = waiting;
	b->flow->ring_bytes = r->ring->size_bytes;
	b->flow->consumer_cpu_s = r->processor ? done.cpu_s : NAN;
	rc = bb_read_counters(r->target, &after, err);
	if (rc)
		return rc;
	/* if there are too many lags, take b->want of them, evenly spaced */
	n = done.n + waiting < r->room ? done.n + waiting : r->room;
	b->n = n < b->want ? n : b->want;
	for (size_t i = 0; i < b->n; i++)
		b->ns[i] = r->lag_ns[i * n / b->n];
	b->run_cnt = after.run_cnt - before->run_cnt;
	b->run_time_ns = after.run_time_ns - before->run_time_ns;
	if (b->flow->consumed + b->flow->waiting > b->run_cnt)
		snprintf(b->void_why, sizeof(b->void_why),
			 "%llu samples came out of the ring, the program ran %llu times",
			 (unsigned long long)(b->flow->consumed + b->flow->waiting),
			 (unsigned long long)b->run_cnt);
	return 0;
}

static int pipeline_batch(void *slot_, uint32_t param, struct bb_batch *b, struct bb_err *err)
{
	const struct bb_drive_slot *slot = slot_;
	const struct bb_driver_opts *opts = &slot->state->opts;
	const struct bb_child_place place = {opts->poll_cpu, opts->uid, opts->gid, NULL};
	struct bb_target *target = slot->prog->target;
	struct bb_prog_stats before;
	struct flow_run r = {.loop = (struct bb_workload_loop *)slot->state,
			     .target = target,
			     .ring = bb_target__ring(target),
			     .processor = bb_sample_processor_find(slot->prog->spec->consumer),
			     .freq_hz = param,
			     .batch = b,
			     .event_fd = -1};
	int rc, taken = 0;

	r.room = (size_t)(2 * b->max_s * param) + 64;
	r.lag_ns = bb_calloc(r.room, sizeof(*r.lag_ns));
	b->flow = bb_calloc(1, sizeof(*b->flow));
	b->flow->consumer_cpu_s = NAN;
	b->target_cpu_s = 0;
	rc = bb_read_counters(target, &before, err);
	bb_target__drain(target, false);
	if (!rc && r.processor)
		rc = bb_consumer__start(r.processor, r.ring->map_fd, r.room, &place, &r.consumer,
					err);
	if (!rc) {
		rc = watch(&r, err);
		if (!rc || rc == -EINTR)
			taken = take_results(&r, &before, err);
		rc = rc ? rc : taken;
	}
	/* ring_bytes is 0 if an error came before the results */
	if (!b->flow->ring_bytes) {
		free(b->flow);
		b->flow = NULL;
	}
	bb_consumer__close(&r.consumer);
	free(r.lag_ns);
	return rc;
}

const struct bb_driver bb_driver_pipeline = {
	.kind.with = "pipeline",
	.kind.doc = "a profiler as a whole: a clock samples a workload, a consumer "
		    "reads the ring; lags, backlog, drops",
	.kind.keys = {{"event", bb_clock_name}, {"workload"}, {"args"}, {"freq_hz"}, {"seconds"}},
	.kind.param = "freq_hz",
	.kind.param_default = 100,
	.kind.seconds = 3,
	.kind.pace = BB_TIMED_PACE,
	.kind.samples_per_event = 2,
	.kind.sample = {"lag", "us, lag of a sample until its line is logged", true, 1e3},
	.kind.is_whole = true,
	.kind.needs_bpf = true,
	.polls = true,
	.state_bytes = sizeof(struct bb_workload_loop),
	.open = bb_workload_loop__open,
	.probe = pipeline_probe,
	.batch = pipeline_batch,
	.close = bb_workload_loop__close,
};
