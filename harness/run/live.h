/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "bpf/loaded.h"
#include "bpf/prog_stats.h"
#include "core/hist.h"
#include "drivers/windows.h"

/* The runs of a loaded program in a period. The kernel only adds up counters. So the mean covers
 * all runs, but the time of a single run is known only if it was alone between two readings. */
struct bb_live_row {
	struct bb_loaded program;
	bool gone;      /* true: the program was unloaded before the period ended */
	double seconds; /* length of the period, or of the part in which the program was loaded */
	/* the program's counters at the end of the period; they count from its load on */
	struct bb_prog_stats total;
	/* number of runs in the period; misses: the rise of recursion_misses */
	uint64_t runs, misses;
	double runs_per_s, misses_per_s;
	double ns_per_run; /* mean of all runs; NAN: no runs */
	double cpu_share;  /* CPU time of the runs divided by wall time; 1: one whole CPU */
	/* Number of runs in each window of the distribution. 1: single runs. k > 1: means of k
	 * runs, because almost no run had a window of its own; for example, the runs of a profiler
	 * that samples all CPUs at once. 0: there is no distribution. */
	uint32_t mean_of;
	uint64_t windows;       /* number of windows with `mean_of` runs */
	double windows_ns;      /* total time of the runs in these windows */
	double p50, p90, p99;   /* quantiles over these windows, ns per run; NAN: too few windows
				   (stats/quantile.h) */
	struct bb_hist samples; /* the distribution: means of `mean_of` runs, ns */
	struct bb_time_buckets single; /* runs with a window of their own, since the watch began */
	/* runs in the period that we caused; `total` includes them, the other figures do not */
	uint64_t own_runs;
	/* true: we caused an unknown number of the runs; `runs` is 0, the other figures are NAN */
	bool unclear;
};

/* Fills in the counts and rates between two readings of the counters, which are `seconds` (> 0)
 * apart. Does not change the row's program and quantiles. */
void bb_live_row__count(struct bb_live_row *row, const struct bb_prog_stats *before,
			const struct bb_prog_stats *after, double seconds);

/* Windows by their number of runs: means[k - 1] has the means of the windows with k runs. */
struct bb_live_windows {
	struct bb_hist means[BB_WINDOWS_MEAN_OF_MAX];
};

/* Adds a window of `runs` (> 0) that took `ns` together. Ignores a window with more than
 * BB_WINDOWS_MEAN_OF_MAX runs. */
void bb_live_windows__add(struct bb_live_windows *w, uint64_t runs, uint64_t ns);
void bb_live_windows__done(struct bb_live_windows *w); /* frees the means and leaves `w` empty */

/* Chooses a number of runs per window, by bb_windows_mean_of(), and sets the row's distribution
 * from the windows that have this number of runs. */
void bb_live_row__distribute(struct bb_live_row *row, const struct bb_live_windows *windows);

/* Returns the share of all runs that the distribution covers, 0 to 1; NAN without runs. */
double bb_live_row__share(const struct bb_live_row *row);

/* A sort order of rows. */
struct bb_live_order {
	const char *name;
	const char *doc;
	size_t figure; /* offset of the double in a row by which to sort; 0: sort by name */
	char key;      /* key of the keyboard that chooses this order on the screen */
};

#define BB_N_LIVE_ORDERS 4
extern const struct bb_live_order bb_live_orders[BB_N_LIVE_ORDERS]; /* the first is the default */

void bb_live_rows__sort(struct bb_live_row *rows, size_t n, const struct bb_live_order *order);

/*
 * A watch over all loaded programs. It holds a file descriptor of each program and reads the
 * counters of one program after the other. While nearly every window holds a single run, it pauses
 * after each reading of all counters. If programs run too often for that, it reads in bursts, which
 * take at most a quarter of a CPU. Four times a second it closes and reopens the descriptors,
 * because a program that its owner unloads stays loaded while we hold a descriptor of it.
 *
 * The caller turns bpf_stats on; while it is off, the counters do not change.
 */
struct bb_live_watch;

/* Decides which programs are watched. Whenever the watch reads the kernel's list of programs, it
 * calls wants() for every program that it does not watch yet. */
struct bb_live_filter {
	bool (*wants)(void *arg, uint32_t id); /* NULL: all programs are watched */
	void *arg;
	/*
	 * true: for a watch that lasts days, counters are read in one short burst a second. For 200
	 * programs, this takes less than one percent of a CPU. Totals and means are as good as in
	 * other watches. But percentiles are computed from fewer runs, and a program that its owner
	 * unloads stays loaded for up to a second.
	 */
	bool sparing;
};

/* Begins to watch the programs that are loaded now. Returns 0, or -errno with a message. The
 * message for -EPERM says what to do. */
int bb_live_watch__open(const struct bb_live_filter *filter, struct bb_live_watch **ret_live,
			struct bb_err *err);
void bb_live_watch__close(struct bb_live_watch *live);

/* Watches for `seconds`, also programs that are loaded meanwhile. Returns -EINTR after a signal. */
int bb_live_watch__wait(struct bb_live_watch *live, double seconds, struct bb_err *err);

/* Ends the period, and begins the next one. Returns a row for each program; bb_live_rows__free()
 * frees them. A program that was unloaded has a row only in the first snapshot after that. */
int bb_live_watch__snapshot(struct bb_live_watch *live, struct bb_live_row **ret_rows,
			    size_t *ret_n, struct bb_err *err);
void bb_live_rows__free(struct bb_live_row *rows, size_t n);

/* Returns the pause before the next sweep (reading of all counters), ns; 0: no pause. `pause_ns` is
 * the pause before the last sweep. `shared` is true if a window that ended with the last sweep had
 * several runs. A pure function. */
uint64_t bb_live_next_pause(uint64_t pause_ns, bool shared);
