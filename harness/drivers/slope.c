/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slope: the wall time of a test run against its `repeat`, with bpf_stats off. A call takes a + n b
 * for n runs: b is what one more run costs, as the program runs in production, without the
 * statistics; a is the system call. Both come from a robust line through calls at two values of
 * `repeat` (Theil 1950, Sen 1968: the median of the slopes of all pairs), so that a call with an
 * interrupt in it does not matter. Every sample is such a line.
 *
 * Runs follow each other at once: caches and branch history are at their best, the output of a run
 * is the input of the next, and what the program fills (a queue, a ring) fills `repeat` times
 * before it is emptied.
 *
 * A run that takes milliseconds needs no line: a sample is then one call of one run, of which the
 * system call is less than a thousandth.
 */

#include "base/clock.h"
#include "base/deadline.h"
#include "drivers/fit_line.h"
#include "drivers/trigger_test_run.h"
#include "stats/quantile.h"

#define MAX_REPEAT 100000u
#define PS_PER_NS 1000.0
#define SLOW_NS 5e6 /* a call of one run is a sample; the system call takes 1 to 3 us of it */

struct line {
	struct bb_fitted_line time;
	double pmu[BB_PMU_COUNTERS]; /* counts of a run */
};

/* The calls of a line, shorter and longer: what each took, and what it counted. */
struct calls {
	double ns[2][BB_LINE_TIMES];
	double pmu[BB_PMU_COUNTERS][2][BB_LINE_TIMES];
};

/* Wall time of one call of `repeat` runs; made again when a signal breaks it off. */
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
	bb_test_call__judge_retval(s, attr.test.retval, b->void_why, sizeof(b->void_why));
	*ret_ns = (double)(after_ns - before_ns);
	return 0;
}

/*
 * The `repeat` of the longer call, from a first look at what a run costs; 1: it is slow, and has no
 * use for lines. Of a very slow one, that look is the first sample.
 */
static int calibrate(struct bb_test_call *s, uint32_t most, struct bb_batch *b, struct line *lines,
		     uint32_t *ret_repeat)
{
	uint32_t first = most < 64 ? most : 64;
	uint64_t began_ns = bb_now_ns();
	/* the first call's output is looked at */
	int rc = bb_test_call__fire_checked(s, b->void_why, sizeof(b->void_why));
	double one_ns = (double)(bb_now_ns() - began_ns), many_ns = 0;

	if (rc == -EINTR && !bb_must_end())
		rc = 0;
	/* Once more, unless nothing but the program can have taken that long. */
	if (!rc && one_ns >= SLOW_NS && one_ns < BB_WARMUP_NS)
		rc = time_call(s, 1, b, &one_ns);
	*ret_repeat = 1;
	if (!rc && one_ns >= BB_WARMUP_NS && b->want) {
		lines->time = (struct bb_fitted_line){one_ns, NAN};
		for (size_t k = 0; k < BB_PMU_COUNTERS; k++)
			lines->pmu[k] = NAN;
		b->fired++;
		b->ns[b->n++] = (uint64_t)(one_ns * PS_PER_NS + 0.5);
	}
	if (rc || one_ns >= SLOW_NS)
		return rc;
	if (one_ns > BB_LINE_NS && first > 8)
		first = 8;
	/* the last counts: by then the program is warm */
	for (int i = 0; !rc && i < 3; i++) {
		rc = time_call(s, 1, b, &one_ns);
		if (!rc)
			rc = time_call(s, first, b, &many_ns);
	}
	if (rc)
		return rc;
	*ret_repeat = bb_fit_line_longer(fmax((many_ns - one_ns) / (first - 1), 1), most);
	return 0;
}

/* Call `i` of the shorter or the longer ones. */
static int count_call(const struct bb_pmu *pmu, struct bb_test_call *s, uint32_t repeat,
		      struct bb_batch *b, unsigned int longer, unsigned int i, struct calls *calls)
{
	double before[BB_PMU_COUNTERS], after[BB_PMU_COUNTERS];
	int rc;

	bb_pmu__read(pmu, before);
	rc = time_call(s, repeat, b, &calls->ns[longer][i]);
	bb_pmu__read(pmu, after);
	for (size_t k = 0; k < BB_PMU_COUNTERS; k++)
		calls->pmu[k][longer][i] = after[k] - before[k];
	return rc;
}

/* One sample: the calls in a line's order, and the line through them. */
static int take_line(const struct bb_pmu *pmu, struct bb_test_call *s, uint32_t repeat,
		     struct bb_batch *b, struct line *ret_line)
{
	uint32_t shorter = bb_fit_line_shorter(repeat);
	struct calls calls;
	int rc = 0;

	for (unsigned int i = 0; !rc && i < 2 * BB_LINE_TIMES; i++) {
		unsigned int longer = bb_fit_line_is_longer(i);

		rc = bb_must_end_why();
		if (!rc)
			rc = count_call(pmu, s, longer ? repeat : shorter, b, longer, i / 2,
					&calls);
	}
	if (rc)
		return rc;
	bb_fit_line_fit(calls.ns, shorter, repeat, &ret_line->time);
	for (size_t k = 0; k < BB_PMU_COUNTERS; k++)
		ret_line->pmu[k] =
			bb_fit_line_slope(calls.pmu[k],
					  repeat - shorter); /* NAN where it does not count */
	return 0;
}

/* One sample of a slow program: a call of one run, all of which is the run's. */
static int take_run(const struct bb_pmu *pmu, struct bb_test_call *s, struct bb_batch *b,
		    struct line *ret_line)
{
	struct calls calls;
	int rc = count_call(pmu, s, 1, b, 0, 0, &calls);

	if (rc)
		return rc;
	ret_line->time = (struct bb_fitted_line){calls.ns[0][0], NAN};
	for (size_t k = 0; k < BB_PMU_COUNTERS; k++)
		ret_line->pmu[k] = calls.pmu[k][0][0];
	return 0;
}

/* The median over lines of the double at `offset` in each. */
static double median_of(const struct line *lines, size_t n, size_t offset, double *scratch)
{
	for (size_t i = 0; i < n; i++)
		scratch[i] = *(const double *)((const char *)&lines[i] + offset);
	return bb_median(scratch, n);
}

static int take_lines(const struct bb_pmu *pmu, struct bb_test_call *s, uint32_t repeat,
		      struct line *lines, struct bb_batch *b, uint64_t began_ns)
{
	int rc = 0;

	while (bb_batch__goes_on(b, began_ns)) {
		struct line *line = &lines[b->n];

		rc = repeat == 1 ? take_run(pmu, s, b, line) : take_line(pmu, s, repeat, b, line);
		if (rc)
			break;
		b->fired++;
		if (line->time.slope_ns >= 0)
			b->ns[b->n++] = (uint64_t)(line->time.slope_ns * PS_PER_NS + 0.5);
		else if (!b->void_why[0])
			snprintf(b->void_why, sizeof(b->void_why),
				 "%u runs took less time than %u: the clock or the machine is too "
				 "unsteady",
				 repeat, bb_fit_line_shorter(repeat));
	}
	return rc;
}

static int batch(void *state, void *slot, uint32_t param, struct bb_batch *b, struct bb_err *err)
{
	const struct bb_test_run *t = state;
	uint32_t most = t->common.spec->slope.repeat;
	struct line *lines = calloc(b->want, sizeof(*lines));
	double *scratch = calloc(b->want, sizeof(*scratch));
	uint64_t began_ns = bb_now_ns();
	uint32_t repeat = 0;
	struct bb_test_call s = {0};
	int rc = lines && scratch ? bb_test_run__aim(slot, param, &s, err) : bb_fail_nomem(err);

	if (rc)
		goto out;
	b->target_cpu_s = NAN;
	b->warmup = 0;
	rc = bb_must_end_why();
	if (!rc)
		rc = calibrate(&s, most ? most : MAX_REPEAT, b, lines, &repeat);
	if (!rc)
		rc = take_lines(&t->pmu, &s, repeat, lines, b, began_ns);
	if (rc == -EINTR || rc == -ETIME) /* a line that is not whole is no sample */
		rc = bb_stop_signal ? -EINTR : 0;
	b->elapsed_s = bb_seconds_since(began_ns);
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

static int open_slope(const struct bb_drive_spec *spec, const struct bb_driver_opts *opts,
		      void **ret_state, struct bb_err *err)
{
	struct bb_test_run *t;
	int rc = bb_trigger__open(spec, opts, ret_state, err);

	if (rc)
		return rc;
	t = *ret_state;
	t->repeats = true;
	bb_pmu__open(bb_pmu_events, &t->pmu);
	return 0;
}

static void close_slope(void *state)
{
	struct bb_test_run *t = state;

	if (t)
		bb_pmu__close(&t->pmu);
	bb_trigger__close(t);
}

static int attach(void *state, struct bb_test_prog *prog, void **ret_slot, struct bb_err *err)
{
	struct bb_attached *a;
	int rc = bb_trigger_test_run.attach(state, prog, prog->target->prog_fd, &a, err);

	if (!rc)
		*ret_slot = a;
	return rc;
}

static void detach(void *state, void *slot)
{
	(void)state;
	if (slot)
		bb_trigger_test_run.detach(slot);
}

static const struct bb_drive_key keys[] = {
	{.name = "inputs"},
	{.name = "repeat"},
	{.name = "samples"},
	{0},
};

const struct bb_driver bb_driver_slope = {
	.kind =
		{
			.with = "slope",
			.doc = "wall time of a test run against its repeat, bpf_stats off: the "
			       "cost of one more run, to fractions of a nanosecond",
			.keys = keys,
			.takes_inputs = true,
			.pace = {.samples = 480,
				 .turn = 100,
				 .pair_turn = 4,
				 .warmup_first = 100,
				 .warmup_turn = 8,
				 .pair_warmup = 4,
				 .sample_s = 6e-4},
			.sample = BB_SAMPLE_RUN,
			.units_per_ns = (uint32_t)PS_PER_NS,
			.fills = BB_FILLS_PMU,
			.agrees_with = "step",
			.needs_bpf = true,
			.fires = true,
			.read_only = true,
			.stats_off = true,
		},
	.trigger = &bb_trigger_test_run,
	.open = open_slope,
	.probe = bb_trigger__probe,
	.attach = attach,
	.batch = batch,
	.detach = detach,
	.fired_by = bb_test_run__words,
	.close = close_slope,
};
