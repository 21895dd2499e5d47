/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_RUN_LIVE_H
#define BB_RUN_LIVE_H

#include "base/err.h"
#include "base/std.h"
#include "bpf/loaded.h"
#include "bpf/prog_stats.h"
#include "core/hist.h"
#include "drivers/windows.h"

/*
 * The runs of a loaded program in a period of time, by counters that the kernel adds up: the mean
 * is of all runs, but the time of a single run is known only if it was alone between two readings.
 */
struct bb_live_row {
	struct bb_loaded program;
	bool gone;      /* unloaded by the end of the period */
	double seconds; /* of the period; less for a program that came or went in it */
	/* the counters at its end, since the program was loaded */
	struct bb_prog_stats total;
	uint64_t runs, misses; /* in the period */
	double runs_per_s, misses_per_s;
	double ns_per_run; /* mean of all runs; NAN: none */
	double cpu_share;  /* of one CPU */
	/*
	 * Windows that had this number of runs are the ones that the distribution is of: 1, single
	 * runs; k > 1, means of k runs, where hardly one had a window to itself, as of a profiler
	 * that samples all CPUs at the same instant. 0: none.
	 */
	uint32_t mean_of;
	uint64_t windows;     /* of these */
	double windows_ns;    /* time of the runs in them */
	double p50, p90, p99; /* of a run in each, ns; NAN: too few (stats/quantile.h) */
	/* runs that our own readings caused: in the counters, but in no figure above; 0: none */
	uint64_t own_runs;
	/* there are some, and how many cannot be told: no figure of the period is known (NAN, runs
	 * 0)
	 */
	bool unclear;
};

/* The rates between two readings of the counters, `seconds` (> 0) apart; *row's program and
 * quantiles stay. */
void bb_live_row__count(struct bb_live_row *row, const struct bb_prog_stats *before,
			const struct bb_prog_stats *after, double seconds);

/* Windows by the number of runs in them: [k - 1] has the mean of each window of k runs. */
struct bb_live_windows {
	struct bb_hist means[BB_WINDOWS_MEAN_OF_MAX];
};

/* One more window with `runs` (> 0) that took `ns` together. 0 or -ENOMEM. */
int bb_live_windows__add(struct bb_live_windows *w, uint64_t runs, uint64_t ns);
void bb_live_windows__done(struct bb_live_windows *w); /* it is empty afterwards */

/* The distribution of the windows that say most. 0 or -ENOMEM. */
int bb_live_row__distribute(struct bb_live_row *row, const struct bb_live_windows *windows);

/* The share of all runs that the distribution covers, 0..1. NAN without runs. */
double bb_live_row__share(const struct bb_live_row *row);

/* The orders that rows can have. */
struct bb_live_order {
	const char *name;
	const char *doc;
	size_t figure; /* offset in a row of the double that it goes by; 0: by name */
};

#define BB_N_LIVE_ORDERS 4
extern const struct bb_live_order bb_live_orders[BB_N_LIVE_ORDERS]; /* the first: default */

const struct bb_live_order *bb_live_order_find(const char *name); /* NULL: there is none */
void bb_live_rows__sort(struct bb_live_row *rows, size_t n, const struct bb_live_order *order);

/*
 * A watch over all loaded programs. It holds a descriptor of each and reads all counters in turn.
 * The pause between two readings is as long as nearly every window still holds a single run. Where
 * programs run too often for that, it reads in bursts, which take a quarter of a CPU at the most.
 * Four times a second it closes the descriptors and opens them again: until then, a program that
 * its owner has unloaded stays loaded.
 *
 * The caller turns bpf_stats on: without it the counters do not change.
 */
struct bb_live_watch;

/* Which programs are wanted? It is asked again at each look at the list, until the answer is yes.
 */
struct bb_live_filter {
	bool (*wants)(void *arg, uint32_t id); /* NULL: all */
	void *arg;
};

/* The programs that are loaded now. -EPERM with the remedy; -ENOMEM. */
int bb_live_watch__open(const struct bb_live_filter *filter, struct bb_live_watch **ret_live,
			struct bb_err *err);
void bb_live_watch__close(struct bb_live_watch *live);

/* Watch for that long; -EINTR when a signal asks us to stop. Programs come and go meanwhile. */
int bb_live_watch__wait(struct bb_live_watch *live, double seconds, struct bb_err *err);

/*
 * The snapshot of the time since the last one, a row for each program, to be freed; programs that
 * are gone are in it once. The next period begins.
 */
int bb_live_watch__snapshot(struct bb_live_watch *live, struct bb_live_row **ret_rows,
			    size_t *ret_n, struct bb_err *err);

/*
 * How long to wait before the next sweep, ns, after one whose windows were all of a single run or
 * (`shared`) not; 0: do not wait. Pure.
 */
uint64_t bb_live_next_pause(uint64_t pause_ns, bool shared);

#endif
