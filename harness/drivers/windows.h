/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_DRIVERS_WINDOWS_H
#define BB_DRIVERS_WINDOWS_H

#include "base/err.h"
#include "bpf/own_runs.h"
#include "bpf/target.h"
#include "drivers/driver.h"

/*
 * Polling the counters of a program that runs by itself: the time between two readings is a window.
 * Polled much faster than the program runs, nearly every window that is not empty holds one run,
 * which is a sample; runs that share a window are counted in the batch and are no samples.
 */
struct bb_windows {
	struct bb_target *target; /* borrowed */
	struct bb_prog_stats last;
	/*
	 * Runs that our readings cause: none, but where bb_windows__find_own() has found some. They
	 * are in no figure; their time in a window with others is taken to be their mean time
	 * alone, without outliers.
	 */
	struct bb_own_runs own;
	uint32_t mean_of; /* the windows that are samples have so many runs; 0: one */
	/* how many windows had [k - 1] runs, of BB_WINDOWS_MEAN_OF_MAX; NULL: not counted */
	uint64_t *n_by_runs;
	double alone_ns; /* the time of windows with ours alone, n_alone of them */
	uint64_t n_alone;
};

#define BB_WINDOWS_MEAN_OF_MAX 64u

/*
 * The number of runs whose windows say most of a program: 1, unless the windows with some k runs
 * cover more than twice as many runs as those with one, as of a profiler that samples all CPUs at
 * the same instant. n[k - 1] windows had k runs; 0: there were none.
 */
uint32_t bb_windows_mean_of(const uint64_t n[BB_WINDOWS_MEAN_OF_MAX]);

/* Earlier runs are no samples. 0 or -errno with a message. */
int bb_windows__begin(struct bb_target *target, struct bb_windows *ret_windows, struct bb_err *err);

/*
 * Find out which of the runs our readings cause, to leave them out from now on. Where they cannot
 * be told apart, the batch is void. 0 or -errno with a message.
 */
int bb_windows__find_own(struct bb_windows *w, struct bb_batch *b, struct bb_err *err);

/*
 * Poll about a thousand times (0.3 ms), or until the batch is full; its rings are emptied after
 * each window with a run in it. -EINTR, -ETIME: base/deadline.h; other -errno with a message.
 */
int bb_windows__poll(struct bb_windows *w, struct bb_batch *b, struct bb_err *err);

/* The runs after the last poll: counted as runs that shared a window. 0 or -errno with a message.
 * */
int bb_windows__rest(struct bb_windows *w, struct bb_batch *b, struct bb_err *err);

/* 0 or -errno with a message. */
int bb_read_counters(const struct bb_target *t, struct bb_prog_stats *ret_stats,
		     struct bb_err *err);

#endif
