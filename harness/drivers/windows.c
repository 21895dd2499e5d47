/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "drivers/windows.h"

#include "base/deadline.h"

#define POLLS 1024u

uint32_t bb_windows_mean_of(const uint64_t n[BB_WINDOWS_MEAN_OF_MAX])
{
	uint64_t covered = 2 * n[0];
	uint32_t best = n[0] ? 1 : 0;

	for (uint32_t k = 2; k <= BB_WINDOWS_MEAN_OF_MAX; k++)
		if (k * n[k - 1] > covered) {
			covered = k * n[k - 1];
			best = k;
		}
	return best;
}

static int say_unreadable(const struct bb_target *t, int rc, struct bb_err *err)
{
	return bb_fail(err, rc, "cannot read the counters of '%s': %m", t->program);
}

int bb_read_counters(const struct bb_target *t, struct bb_prog_stats *ret_stats, struct bb_err *err)
{
	int rc = bb_stats_reader__info(&t->reader, ret_stats);

	return rc ? say_unreadable(t, rc, err) : 0;
}

int bb_windows__begin(struct bb_target *target, struct bb_windows *ret_windows, struct bb_err *err)
{
	*ret_windows = (struct bb_windows){.target = target};
	return bb_read_counters(target, &ret_windows->last, err);
}

int bb_windows__find_own(struct bb_windows *w, struct bb_batch *b, struct bb_err *err)
{
	int rc = bb_own_runs__find(&w->target->reader, &w->own);

	if (rc)
		return say_unreadable(w->target, rc, err);
	if (w->own.unclear)
		snprintf(b->void_why, sizeof(b->void_why),
			 "bpfbench's own readings make it run, and these runs cannot be told from "
			 "the others");
	return bb_read_counters(w->target, &w->last, err);
}

/* Adds a window with only our own runs to the mean of such windows, unless it is an outlier. */
static void take_own(struct bb_windows *w, const struct bb_prog_stats *now)
{
	double ns = (double)(now->run_time_ns - w->last.run_time_ns);

	if (ns <= 2 * w->own.ns * w->own.by_read) {
		w->alone_ns += ns;
		w->n_alone++;
	}
	w->last = *now;
}

/* Adds the runs since the last reading, without the `own` runs that our readings caused. */
static void take_window(struct bb_batch *b, struct bb_windows *w, const struct bb_prog_stats *now,
			uint64_t own)
{
	struct bb_prog_stats window = bb_prog_stats__since(now, &w->last);
	uint64_t runs = window.run_cnt, ns = window.run_time_ns;

	w->last = *now;
	if (own) {
		double each_ns = w->n_alone ? w->alone_ns / (double)(w->n_alone * w->own.by_read)
					    : w->own.ns;

		own = bb_own_runs__left(&window, own);
		uint64_t own_ns = (uint64_t)((double)own * each_ns + 0.5);
		ns -= own_ns < ns ? own_ns : ns;
		if (runs <= own) { /* only our readings caused runs */
			/* too few runs: not every reading causes the same number of runs */
			if (runs < own && !b->void_why[0])
				snprintf(b->void_why, sizeof(b->void_why),
					 "bpfbench's own readings make it run, but not equally "
					 "often: %llu runs, %llu expected",
					 (unsigned long long)runs, (unsigned long long)own);
			return;
		}
		runs -= own;
	}
	if (w->n_by_runs && runs <= BB_WINDOWS_MEAN_OF_MAX)
		w->n_by_runs[runs - 1]++;
	bb_batch__take(b, runs, ns, w->mean_of ? w->mean_of : 1);
}

int bb_windows__poll(struct bb_windows *w, struct bb_batch *b, struct bb_err *err)
{
	for (unsigned int i = 0; i < POLLS && b->n < b->want && !bb_must_end(); i++) {
		struct bb_prog_stats now;
		int rc = bb_read_counters(w->target, &now, err);

		if (rc)
			return rc;
		if (now.run_cnt == w->last.run_cnt + w->own.by_read) {
			if (w->own.by_read)
				take_own(w, &now);
			continue;
		}
		/* The kernel counts a run before it adds the run's time, and readers take no lock.
		 * A reading between these two steps would see a run of 0 ns, and the next run would
		 * get the time of both. So the counters are read again, when both are there. */
		rc = bb_read_counters(w->target, &now, err);
		if (rc)
			return rc;
		take_window(b, w, &now, 2 * (uint64_t)w->own.by_read);
		bb_target__drain(w->target, !b->drain_each_run);
	}
	return bb_must_end_why();
}

int bb_windows__rest(struct bb_windows *w, struct bb_batch *b, struct bb_err *err)
{
	struct bb_prog_stats now;
	int rc = bb_read_counters(w->target, &now, err);

	if (rc)
		return rc;
	b->multi += now.run_cnt - w->last.run_cnt;
	b->run_cnt += now.run_cnt - w->last.run_cnt;
	b->run_time_ns += now.run_time_ns - w->last.run_time_ns;
	w->last = now;
	bb_target__drain(w->target, !b->drain_each_run);
	return 0;
}
