/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The drive `slope`: measures how the wall time of a test run grows with its `repeat`, while
 * bpf_stats is off. A sample is the slope of a line through calls with few and with many runs
 * (drivers/fit_line.h). This is the cost of one more run in production.
 *
 * Runs follow each other without a pause, so caches and branch history are at their best. The
 * output of a run is the input of the next. A queue or ring that the program fills is emptied only
 * after `repeat` runs.
 *
 * A run that takes milliseconds needs no line. Its sample is the time of one call with one run.
 */

#include <linux/perf_event.h>

#include "base/io.h"
#include "drivers/fit_line.h"
#include "drivers/trigger_test_run.h"
#include "stats/quantile.h"

#define MAX_REPEAT 100000u
/* If a run takes at least this long, ns, a sample is the time of one call with one run. The system
 * call takes 1 to 3 us of this time. */
#define SLOW_NS 5e6

static const struct bb_pmu_event pmu_events[BB_PMU_COUNTERS] = {
	[BB_PMU_CYCLES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	[BB_PMU_INSTRUCTIONS] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
	[BB_PMU_LLC_MISSES] = {PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_LL |
							   PERF_COUNT_HW_CACHE_OP_READ << 8 |
							   PERF_COUNT_HW_CACHE_RESULT_MISS << 16},
};

void bb_pmu__open(const struct bb_pmu_event events[BB_PMU_COUNTERS], struct bb_pmu *ret_pmu)
{
	for (size_t i = 0; i < BB_PMU_COUNTERS; i++) {
		struct perf_event_attr attr = {
			.type = events[i].type,
			.size = sizeof(attr),
			.config = events[i].config,
			.exclude_user = 1,
			.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
				       PERF_FORMAT_TOTAL_TIME_RUNNING,
		};

		ret_pmu->fds[i] = (int)syscall(__NR_perf_event_open, &attr, 0, -1, -1,
					       PERF_FLAG_FD_CLOEXEC);
	}
}

void bb_pmu__close(struct bb_pmu *p)
{
	for (size_t i = 0; i < BB_PMU_COUNTERS; i++)
		bb_close(&p->fds[i]);
}

/* Reads the counts since the counters were opened. A count is NAN if there is no such counter, or
 * if the kernel lent the counter to other users for part of the time. */
static void pmu_read(const struct bb_pmu *p, double ret_counts[BB_PMU_COUNTERS])
{
	for (size_t i = 0; i < BB_PMU_COUNTERS; i++) {
		uint64_t v[3]; /* count, time enabled, time running */

		ret_counts[i] = NAN;
		if (p->fds[i] >= 0 && read(p->fds[i], v, sizeof(v)) == sizeof(v) && v[1] == v[2])
			ret_counts[i] = (double)v[0];
	}
}

struct line {
	struct bb_fitted_line time;
	double pmu[BB_PMU_COUNTERS];
};

/* Makes the call again if a signal interrupts it. */
static int time_call(struct bb_test_call *s, uint32_t repeat, struct bb_batch *b, double *ret_ns)
{
	union bpf_attr attr;
	uint64_t before_ns, after_ns;
	int rc;

	s->attr.test.repeat = repeat;
	do {
		before_ns = bb_now_ns();
		rc = bb_test_call__fire(s, &attr);
		after_ns = bb_now_ns();
		bb_target__drain(s->target, false);
		b->retries += rc == -EINTR;
	} while (rc == -EINTR && !bb_must_end());
	if (rc)
		return rc;
	bb_test_call__judge_retval(s, attr.test.retval, b);
	*ret_ns = (double)(after_ns - before_ns);
	return 0;
}

/* Makes the packets of a call come in by the device `ingress_ifindex`, and the kernel do with them
 * what the program returns. A call then has no return value. `md` must outlive it. */
static void go_live(struct bb_test_call *s, uint32_t ingress_ifindex, struct xdp_md *md)
{
	if (s->input->ctx && s->input->ctx_len <= sizeof(*md))
		memcpy(md, s->input->ctx, s->input->ctx_len);
	md->data_end = (__u32)s->input->len;
	md->ingress_ifindex = ingress_ifindex;
	md->rx_queue_index = 0;
	s->attr.test.ctx_in = (__u64)(uintptr_t)md;
	s->attr.test.ctx_size_in = sizeof(*md);
	s->attr.test.flags = BPF_F_TEST_XDP_LIVE_FRAMES;
	s->is_judged = false;
}

/* Finds the `repeat` of a line's longer calls. *ret_repeat is 1 if the program is so slow that a
 * sample needs no line. If it is very slow, its first run is the first sample. */
static int calibrate(struct bb_test_call *s, uint32_t ingress_ifindex, struct xdp_md *md,
		     uint32_t most, struct bb_batch *b, struct line *lines, uint32_t *ret_repeat)
{
	uint32_t first = most < 64 ? most : 64;
	uint64_t began_ns = bb_now_ns();
	/* this call also checks the output of the program */
	int rc = bb_test_call__fire_checked(s, b);
	double one_ns = (double)(bb_now_ns() - began_ns), many_ns = INFINITY;

	if (!rc && ingress_ifindex)
		go_live(s, ingress_ifindex, md);
	if (rc == -EINTR && !bb_must_end())
		rc = 0;
	/* An interrupt may have made the first run slow, so it is repeated. But if it took
	 * BB_WARMUP_NS or more, only the program can be the reason. */
	if (!rc && one_ns >= SLOW_NS && one_ns < BB_WARMUP_NS)
		rc = time_call(s, 1, b, &one_ns);
	*ret_repeat = 1;
	if (!rc && one_ns >= BB_WARMUP_NS && b->want) {
		lines->time = (struct bb_fitted_line){one_ns, NAN};
		for (size_t k = 0; k < BB_PMU_COUNTERS; k++)
			lines->pmu[k] = NAN;
		b->fired++;
		b->ns[b->n++] = (uint64_t)(one_ns * BB_PS_PER_NS + 0.5);
	}
	if (rc || one_ns >= SLOW_NS)
		return rc;
	if (one_ns > BB_LINE_NS && first > 8)
		first = 8;
	/* The shortest times count, because an interrupted single run would make further runs look
	 * free. `repeat` would then be so large that a call takes seconds. */
	for (int i = 0; !rc && i < 3; i++) {
		double ns = 0;

		rc = time_call(s, 1, b, &ns);
		one_ns = fmin(one_ns, ns);
		if (!rc)
			rc = time_call(s, first, b, &ns);
		many_ns = fmin(many_ns, ns);
	}
	if (rc)
		return rc;
	*ret_repeat = bb_fit_line_longer(fmax((many_ns - one_ns) / (first - 1), 1), most);
	return 0;
}

struct calls {
	const struct bb_pmu *pmu;
	struct bb_test_call *call;
	struct bb_batch *batch;
	unsigned int n;
	double counts[BB_PMU_COUNTERS][2][BB_LINE_TIMES];
};

static int count_call(void *arg, uint32_t repeat, double *ret_ns)
{
	double before[BB_PMU_COUNTERS], after[BB_PMU_COUNTERS];
	struct calls *c = arg;
	int rc = bb_must_end_why();

	if (rc)
		return rc;
	pmu_read(c->pmu, before);
	rc = time_call(c->call, repeat, c->batch, ret_ns);
	pmu_read(c->pmu, after);
	for (size_t k = 0; k < BB_PMU_COUNTERS; k++)
		c->counts[k][bb_fit_line_is_longer(c->n)][c->n / 2] = after[k] - before[k];
	c->n++;
	return rc;
}

/* Returns the median over all lines of the double at `offset` in struct line. */
static double median_of(const struct line *lines, size_t n, size_t offset, double *scratch)
{
	for (size_t i = 0; i < n; i++)
		scratch[i] = *(const double *)((const char *)&lines[i] + offset);
	return bb_median(scratch, n);
}

static int take_lines(const struct bb_pmu *pmu, struct bb_test_call *s, uint32_t repeat,
		      struct line *lines, struct bb_batch *b, uint64_t began_ns)
{
	struct calls calls = {.pmu = pmu, .call = s, .batch = b};
	uint32_t shorter = bb_fit_line_shorter(repeat);
	int rc = 0;

	while (bb_batch__goes_on(b, began_ns)) {
		struct line *line = &lines[b->n];

		calls.n = 0;
		line->time.intercept_ns = NAN;
		rc = repeat == 1 ? count_call(&calls, 1, &line->time.slope_ns)
				 : bb_fit_line__take(count_call, &calls, repeat, &line->time);
		if (rc)
			break;
		for (size_t k = 0; k < BB_PMU_COUNTERS; k++)
			line->pmu[k] = repeat == 1 ? calls.counts[k][0][0]
						   : bb_fit_line_slope(calls.counts[k],
								       repeat - shorter);
		b->fired++;
		if (line->time.slope_ns >= 0)
			b->ns[b->n++] = (uint64_t)(line->time.slope_ns * BB_PS_PER_NS + 0.5);
		else if (!b->void_why[0])
			snprintf(b->void_why, sizeof(b->void_why),
				 "%u runs took less time than %u: the clock or the machine is too "
				 "unsteady",
				 repeat, shorter);
	}
	return rc;
}

int bb_slope__batch(void *slot_, uint32_t param, struct bb_batch *b, struct bb_err *err)
{
	const struct bb_drive_slot *slot = slot_;
	const struct bb_slope_state *state = (const struct bb_slope_state *)slot->state;
	uint32_t most = state->common.spec->slope.repeat;
	struct line *lines = bb_calloc(b->want, sizeof(*lines));
	double *scratch = bb_calloc(b->want, sizeof(*scratch));
	uint64_t began_ns = bb_now_ns();
	uint32_t repeat = 0;
	struct bb_test_call s = {0};
	struct xdp_md md = {0};
	int rc = bb_test_run__aim(slot->attached, param, &s, err);

	if (rc)
		goto out;
	b->warmup = 0;
	rc = bb_must_end_why();
	if (!rc)
		rc = calibrate(&s, state->ingress_ifindex, &md, most ? most : MAX_REPEAT, b, lines,
			       &repeat);
	if (!rc)
		rc = take_lines(&state->pmu, &s, repeat, lines, b, began_ns);
	if (rc == -EINTR || rc == -ETIME) /* not an error: the unfinished line gives no sample */
		rc = bb_stop_signal ? -EINTR : 0;
	b->slope.intercept_ns = median_of(lines, b->n, offsetof(struct line, time.intercept_ns),
					  scratch);
	for (size_t i = 0; i < BB_PMU_COUNTERS; i++)
		b->slope.pmu[i] = median_of(lines, b->n,
					    offsetof(struct line, pmu) + i * sizeof(double),
					    scratch);
	if (rc)
		rc = bb_test_call__say_failed(&s, rc, err);
	bb_test_call__close(&s);
out:
	free(scratch);
	free(lines);
	return rc;
}

int bb_slope__open(void *state, struct bb_err *)
{
	struct bb_slope_state *s = state;

	((struct bb_test_run *)s->common.fired)->repeats = true;
	bb_pmu__open(pmu_events, &s->pmu);
	return 0;
}

void bb_slope__close(void *state)
{
	struct bb_slope_state *s = state;

	if (s->common.fired) /* the trigger is open, so bb_slope__open() has run */
		bb_pmu__close(&s->pmu);
}

const struct bb_driver bb_driver_slope = {
	.kind.with = "slope",
	.kind.doc = "wall time of a test run against its repeat, bpf_stats off: the "
		    "cost of one more run, to fractions of a nanosecond",
	.kind.keys = {{"inputs"}, {"repeat"}, {"samples"}},
	.kind.takes_inputs = true,
	.kind.pace = BB_SLOPE_PACE(6e-4),
	.kind.sample = BB_SAMPLE_RUN,
	.kind.units_per_ns = BB_PS_PER_NS,
	.kind.fills = BB_FILLS_PMU,
	.kind.agrees_with = "step",
	.kind.needs_bpf = true,
	.kind.fires = true,
	.kind.read_only = true,
	.kind.stats_off = true,
	.trigger = &bb_trigger_test_run,
	.state_bytes = sizeof(struct bb_slope_state),
	.open = bb_slope__open,
	.batch = bb_slope__batch,
	.fired_by = bb_test_run__words,
	.close = bb_slope__close,
};
