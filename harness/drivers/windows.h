/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "bpf/own_runs.h"
#include "drivers/driver.h"

/*
 * Polls the counters of a program that runs by itself. The time between two readings is a window.
 * If the polling is much faster than the program's runs, nearly every window that is not empty
 * holds one run, which is a sample. Runs that share a window are only counted in the batch; they
 * are not samples.
 */
struct bb_windows {
	struct bb_target *target; /* borrowed; its counters are polled */
	struct bb_prog_stats last;
	/* Runs that our readings cause; none, unless bb_windows__find_own() has found some. No
	 * figure contains them. If a window has other runs, too, we assume the same time for each
	 * run of ours: the mean over the windows that have only runs of ours, without outliers. */
	struct bb_own_runs own;
	uint32_t mean_of; /* a window with this many runs is a sample; 0 means 1 */
	/* n_by_runs[k - 1]: number of windows with k runs, k <= BB_WINDOWS_MEAN_OF_MAX; NULL:
	 * not counted */
	uint64_t *n_by_runs;
	double alone_ns; /* total time of the n_alone windows that have only our own runs */
	uint64_t n_alone;
};

#define BB_WINDOWS_MEAN_OF_MAX 64u

/*
 * Returns the k for which windows with k runs tell most about a program. n[k - 1] windows had k
 * runs. k is 1, unless windows with k runs cover more than twice as many runs as windows with one
 * run. This happens, for example, with a profiler that samples all CPUs at the same instant.
 * Returns 0 if no window had runs.
 */
uint32_t bb_windows_mean_of(const uint64_t n[BB_WINDOWS_MEAN_OF_MAX]);

/* Begins windows now, so that earlier runs are not samples. Returns 0, or -errno with a message. */
int bb_windows__begin(struct bb_target *target, struct bb_windows *ret_windows, struct bb_err *err);

/* Finds the runs that our readings cause, which are left out from then on. If they cannot be
 * told from others, the batch is void. Returns 0, or -errno with a message. */
int bb_windows__find_own(struct bb_windows *w, struct bb_batch *b, struct bb_err *err);

/*
 * Polls about a thousand times (0.3 ms), or until the batch is full. The program's rings are
 * emptied after each window with a run. Returns 0; -EINTR or -ETIME (base/deadline.h); or another
 * -errno with a message.
 */
int bb_windows__poll(struct bb_windows *w, struct bb_batch *b, struct bb_err *err);

/* Takes the runs after the last poll, which count as runs that shared a window. Returns 0, or
 * -errno with a message. */
int bb_windows__rest(struct bb_windows *w, struct bb_batch *b, struct bb_err *err);

/* Reads the program's counters. Returns 0, or -errno with a message. */
int bb_read_counters(const struct bb_target *t, struct bb_prog_stats *ret_stats,
		     struct bb_err *err);
