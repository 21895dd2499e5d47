/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "bpf/own_runs.h"
#include "drivers/driver.h"

/* Polls the counters of a program that runs by itself. The time between two readings is a window.
 * Polling is so fast that nearly every window with a run has exactly one, whose time is a sample.
 * Several runs in a window are counted, but give no sample. */
struct bb_windows {
	struct bb_target *target;
	struct bb_prog_stats last;
	/* Runs of the program that our own readings cause, which the batch does not count. From a
	 * window that also has other runs, we subtract the mean time of our own runs. */
	struct bb_own_runs own;
	uint32_t mean_of; /* a window with this many runs gives a sample; 0 means 1 */
	/* n_by_runs[k - 1]: number of windows with k runs; may be NULL */
	uint64_t *n_by_runs;
	double alone_ns; /* total time of the n_alone windows with only our own runs, ns */
	uint64_t n_alone;
};

#define BB_WINDOWS_MEAN_OF_MAX 64u

/* Chooses the number of runs that a window must have to give a sample. n[k - 1] is the number of
 * windows with k runs. Mostly returns 1. If windows with k > 1 runs hold more than twice as many
 * runs as windows with one run, returns the k whose windows hold the most runs. That happens with a
 * profiler that samples all CPUs at the same instant. Returns 0 if no window had runs. */
uint32_t bb_windows_mean_of(const uint64_t n[BB_WINDOWS_MEAN_OF_MAX]);

/* Begins a window now, so that earlier runs give no sample. */
int bb_windows__begin(struct bb_target *target, struct bb_windows *ret_windows, struct bb_err *err);

/* Finds the runs that our readings cause, so that the batch does not count them. If they cannot be
 * told from other runs, the batch becomes void. Returns 0, or -errno with a message. */
int bb_windows__find_own(struct bb_windows *w, struct bb_batch *b, struct bb_err *err);

/* Polls about a thousand times (0.3 ms), or until the batch is full, and empties the program's
 * rings. Returns 0; -EINTR or -ETIME (base/deadline.h); or another -errno with a message. */
int bb_windows__poll(struct bb_windows *w, struct bb_batch *b, struct bb_err *err);

/* Counts the runs since the last poll, which give no samples. */
int bb_windows__rest(struct bb_windows *w, struct bb_batch *b, struct bb_err *err);

int bb_read_counters(const struct bb_target *t, struct bb_prog_stats *ret_stats,
		     struct bb_err *err);
