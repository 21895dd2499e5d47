/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "bpf/loaded.h"
#include "bpf/prog_stats.h"
#include "core/hist.h"
#include "drivers/windows.h"

/* The runs of a loaded program in a period. The time between two readings of the counters is a
 * window. The kernel only adds up the times of all runs. So the mean covers all runs, but the time
 * of a single run is known only if it was the only run in its window. */
struct bb_live_row {
	struct bb_loaded program;
	bool gone;      /* true if the program was unloaded before the period ended */
	double seconds; /* time in the period during which the program was loaded */
	/* the counters at the end of the period; they count from the program's load on */
	struct bb_prog_stats total;
	/* in the period: number of runs, and of runs that the kernel refused (recursion_misses) */
	uint64_t runs, misses;
	double runs_per_s, misses_per_s;
	double ns_per_run; /* mean of all runs; NAN without runs */
	double cpu_share;  /* CPU time of the runs divided by wall time (1 is a whole CPU) */
	/* The distribution is made of the windows with this many runs each. 0 means that there is
	 * no distribution. The number is above 1 if almost no run had a window of its own, such as
	 * with a profiler that samples all CPUs at once. */
	uint32_t mean_of;
	/* number of windows in the distribution, and time of all their runs */
	uint64_t windows;
	double windows_ns;
	/* quantiles of the distribution, ns per run; NAN for too few windows (stats/quantile.h) */
	double p50, p90, p99;
	/* the distribution: for each of its windows the mean time of a run, ns */
	struct bb_hist samples;
	/* times of all runs that had a window of their own, since the watch began */
	struct bb_time_buckets single;
	/* runs in the period that bpfbench caused; of the other members, only `total` has them */
	uint64_t own_runs;
	/* True if bpfbench caused an unknown number of runs. Then `runs` is 0, and runs_per_s,
	 * ns_per_run and cpu_share are NAN. */
	bool unclear;
};

/* Sets counts and rates from two readings of the counters that are `seconds` (> 0) apart. */
void bb_live_row__count(struct bb_live_row *row, const struct bb_prog_stats *before,
			const struct bb_prog_stats *after, double seconds);

/* means[k - 1] has the mean run times of the windows with k runs. */
struct bb_live_windows {
	struct bb_hist means[BB_WINDOWS_MEAN_OF_MAX];
};

/* Adds a window with `runs` runs (at least 1) that took `ns` together. Ignores a window with more
 * than BB_WINDOWS_MEAN_OF_MAX runs. */
void bb_live_windows__add(struct bb_live_windows *w, uint64_t runs, uint64_t ns);
void bb_live_windows__done(struct bb_live_windows *w);

/* Sets mean_of, windows, windows_ns and the quantiles of the row. bb_windows_mean_of() chooses
 * mean_of. */
void bb_live_row__distribute(struct bb_live_row *row, const struct bb_live_windows *windows);

/* Returns the share of all runs that the distribution covers, 0 to 1, or NAN without runs. */
double bb_live_row__share(const struct bb_live_row *row);

struct bb_live_order {
	const char *name;
	const char *doc;
	size_t figure; /* offset in struct bb_live_row of the double to sort by (0 means by name) */
	char key;      /* key that chooses this order on the screen */
};

#define BB_N_LIVE_ORDERS 4
extern const struct bb_live_order bb_live_orders[BB_N_LIVE_ORDERS]; /* the first is the default */

void bb_live_rows__sort(struct bb_live_row *rows, size_t n, const struct bb_live_order *order);

/* A watch over all loaded programs. It reads the counters of all programs again and again. It
 * pauses between these readings while nearly every window has a single run. If programs run too
 * often for that, the watch reads in bursts without pauses, for at most a quarter of a CPU. A
 * program that its owner unloads stays loaded while the watch has a file descriptor of it. So the
 * watch reopens its descriptors four times a second. The caller must turn on bpf_stats. */
struct bb_live_watch;

/* Decides which programs are watched. wants() is called for each unwatched program whenever the
 * watch reads the kernel's list of programs. */
struct bb_live_filter {
	bool (*wants)(void *arg, uint32_t id); /* NULL to watch all programs */
	void *arg;
	/* True for a watch that lasts days. The watch then reads in one short burst a second, which
	 * takes less than one percent of a CPU for 200 programs. So it knows the times of fewer
	 * single runs, and an unloaded program stays in the kernel for up to a second. */
	bool sparing;
};

/* Begins to watch the loaded programs. For -EPERM, the message tells the user what to do. */
int bb_live_watch__open(const struct bb_live_filter *filter, struct bb_live_watch **ret_live,
			struct bb_err *err);
void bb_live_watch__close(struct bb_live_watch *live);

/* Watches programs for `seconds`, also those that are loaded meanwhile. Returns 0, -EINTR after a
 * signal, or another -errno with a message. */
int bb_live_watch__wait(struct bb_live_watch *live, double seconds, struct bb_err *err);

/* Ends the period, and begins the next one. Returns a row for each program, also for those unloaded
 * in the period. Free the rows with bb_live_rows__free(). */
int bb_live_watch__snapshot(struct bb_live_watch *live, struct bb_live_row **ret_rows,
			    size_t *ret_n, struct bb_err *err);
void bb_live_rows__free(struct bb_live_row *rows, size_t n);

/* Returns how long the watch pauses before it reads all counters again, ns. 0 means that the watch
 * does not pause. `pause_ns` is the pause before the last reading. `shared` is true if several runs
 * shared a window that ended with the last reading. The pause then gets shorter. */
uint64_t bb_live_next_pause(uint64_t pause_ns, bool shared);
