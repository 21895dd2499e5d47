/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "bpf/own_runs.h"
#include "drivers/driver.h"

/*
 * Polls the counters of a program that runs by itself. The time between two readings is a window.
 * If the polling is much faster than the program's runs, nearly every window with a run has exactly
 * one run, and its time is a sample. If a window has several runs, these runs are counted in the
 * batch, but give no sample.
 */
struct bb_windows {
	struct bb_target *target;  /* the program whose counters are polled; borrowed */
	struct bb_prog_stats last; /* the last reading of the counters */
	/* Runs of the program that our own readings cause; none, unless bb_windows__find_own() has
	 * found some. The batch does not count them. If a window also has other runs, we subtract
	 * for each run of ours the mean time of such a run: the mean over the windows that have
	 * only our own runs, without outliers. */
	struct bb_own_runs own;
	uint32_t mean_of; /* a window with this many runs gives a sample; 0 means 1 */
	/* n_by_runs[k - 1]: number of windows with k runs, k <= BB_WINDOWS_MEAN_OF_MAX; NULL:
	 * windows are not counted */
	uint64_t *n_by_runs;
	double alone_ns; /* total time of the n_alone windows that have only our own runs, ns */
	uint64_t n_alone;
};

#define BB_WINDOWS_MEAN_OF_MAX 64u

/*
 * Chooses the number of runs that a window must have to give a sample. n[k - 1] is the number of
 * windows with k runs. Returns 1, except if for some k > 1 the windows with k runs hold together
 * more than twice as many runs as the windows with one run: then returns the k whose windows hold
 * the most runs. That happens, for example, with a profiler that samples all CPUs at the same
 * instant. Returns 0 if no window had runs.
 */
uint32_t bb_windows_mean_of(const uint64_t n[BB_WINDOWS_MEAN_OF_MAX]);

/* Begins a window now, so that earlier runs give no sample. Returns 0, or -errno with a message. */
int bb_windows__begin(struct bb_target *target, struct bb_windows *ret_windows, struct bb_err *err);

/* Finds the runs that our readings cause; from then on the batch does not count them. If these runs
 * cannot be told from other runs, the batch becomes void. Returns 0, or -errno with a message. */
int bb_windows__find_own(struct bb_windows *w, struct bb_batch *b, struct bb_err *err);

/*
 * Polls about a thousand times (0.3 ms), or until the batch is full. Empties the program's rings
 * after each window with a run. Returns 0; -EINTR or -ETIME (base/deadline.h); or another -errno
 * with a message.
 */
int bb_windows__poll(struct bb_windows *w, struct bb_batch *b, struct bb_err *err);

/* Adds the runs since the last poll to the counts of the batch; these runs give no sample. Returns
 * 0, or -errno with a message. */
int bb_windows__rest(struct bb_windows *w, struct bb_batch *b, struct bb_err *err);

/* Reads the program's counters. Returns 0, or -errno with a message. */
int bb_read_counters(const struct bb_target *t, struct bb_prog_stats *ret_stats,
		     struct bb_err *err);
