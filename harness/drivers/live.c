/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The drive `live`: measures a program of another process while that process does its usual work.
 * The program's counters are polled. Nothing is attached, and no maps are read. The program cannot
 * be loaded again, so slices of time take the place of loads.
 *
 * The poller has normal priority, because a higher one would disturb the process that is measured.
 * If it has to wait for its CPU, several runs may come between two of its readings, and give no
 * sample. A single run between two readings is timed exactly, because the kernel times it.
 *
 * With a profiler that samples all CPUs at the same instant, there is hardly ever a single run
 * between two readings. The driver then finds the usual number of runs k. Their mean time is a
 * sample when exactly k runs are between two readings.
 */

#include "drivers/windows.h"

/* limits of live_probe(): samples, and time in s */
#define LOOK_SAMPLES 256u
#define LOOK_S 0.5

static int watch_as_everybody(const struct bb_driver_opts *opts, const struct bb_test_prog *prog,
			      uint64_t *n_by_runs, struct bb_batch *b, struct bb_err *err)
{
	const struct sched_param as_everybody = {0};
	struct sched_param before;
	struct bb_windows windows;
	int policy = sched_getscheduler(0), rc;

	if (policy < 0 || sched_getparam(0, &before) ||
	    sched_setscheduler(0, SCHED_OTHER, &as_everybody))
		return bb_fail(err, -errno, "cannot go back to normal priority: %m");
	rc = bb_pin_to_cpu(opts->poll_cpu, err);
	if (!rc)
		rc = bb_windows__begin(prog->target, &windows, err);
	if (!rc)
		rc = bb_windows__find_own(&windows, b, err);
	windows.mean_of = prog->live_mean_of;
	windows.n_by_runs = n_by_runs;
	uint64_t began_ns = bb_now_ns();
	while (!rc && !windows.own.unclear && b->n < b->want &&
	       bb_seconds_since(began_ns) < b->max_s)
		rc = bb_windows__poll(&windows, b, err);
	b->elapsed_s = bb_seconds_since(began_ns);
	if (rc == -ETIME)
		rc = 0;
	if (sched_setscheduler(0, policy, &before) && !rc) {
		rc = -errno;
		bb_fail(err, rc, "cannot take up priority again: %m");
	}
	return rc;
}

/* Finds how many runs usually come between two readings (bb_windows_mean_of()). */
static int live_probe(void *state, struct bb_test_prog *prog, struct bb_err *err)
{
	const struct bb_drive_state *s = state;
	uint64_t samples[LOOK_SAMPLES], n[BB_WINDOWS_MEAN_OF_MAX] = {0};
	struct bb_batch b = {.ns = samples, .want = LOOK_SAMPLES, .max_s = LOOK_S};
	struct bb_stats_enable stats;

	if (!bb_target__is_live(prog->target))
		return bb_fail(err, -ENOTSUP,
			       "'%s' is loaded by bpfbench and attached to nothing; 'with: live' "
			       "measures variants that have an id or a pin",
			       prog->target->program);
	if (prog->live_mean_of)
		return 0;
	int rc = bb_stats_enable__on(&stats, err);
	if (rc)
		return rc;
	rc = watch_as_everybody(&s->opts, prog, n, &b, err);
	bb_stats_enable__off(&stats);
	prog->live_mean_of = bb_windows_mean_of(n);
	return rc;
}

static void live_fired_by(const struct bb_input *, const struct bb_test_prog *prog, char *ret_words,
			  size_t size)
{
	ret_words[0] = '\0';
	if (prog->live_mean_of > 1)
		snprintf(ret_words, size, "the load that it has (samples are means of %u runs)",
			 prog->live_mean_of);
}

static int live_batch(void *slot, uint32_t, struct bb_batch *b, struct bb_err *err)
{
	const struct bb_drive_slot *s = slot;
	int rc = watch_as_everybody(&s->state->opts, s->prog, NULL, b, err);

	if (!rc && !b->run_cnt && !b->void_why[0])
		snprintf(b->void_why, sizeof(b->void_why), BB_NO_RUN "%.3g s", b->elapsed_s);
	return rc;
}

const struct bb_driver bb_driver_live = {
	.kind.with = "live",
	.kind.doc = "a program that is loaded already, by its id or pin, under the load "
		    "that it has; counters are polled",
	.kind.keys = {{"seconds"}},
	.kind.seconds = 6,
	.kind.pace = BB_TIMED_PACE,
	.kind.batch_samples = 1u << 18,
	.kind.sample = BB_SAMPLE_RUN,
	.kind.fills = BB_FILLS_RUN_RATE,
	.kind.needs_bpf = true,
	.kind.read_only = true,
	.probe = live_probe,
	.batch = live_batch,
	.fired_by = live_fired_by,
};
