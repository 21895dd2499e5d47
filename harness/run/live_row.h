/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_RUN_LIVE_ROW_H
#define BB_RUN_LIVE_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "bpf/loaded.h"
#include "bpf/own_runs.h"
#include "bpf/prog_stats.h"
#include "core/hist.h"

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
	double ns_per_run;    /* mean of all runs; NAN: none */
	double cpu_share;     /* of one CPU */
	uint64_t singles;     /* runs that were alone in a window */
	double singles_ns;    /* their time together */
	double p50, p90, p99; /* of the singles, ns; NAN: too few (stats/quantile.h) */
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

/* Take our own runs out of the counts. */
void bb_live_row__take_out(struct bb_live_row *row, const struct bb_own_runs *own,
			   const struct bb_own_share *share);

/* The distribution of the single runs. 0 or -ENOMEM. */
int bb_live_row__distribute(struct bb_live_row *row, const struct bb_hist *singles);

/* Single runs as a share of all, 0..1: the share that the distribution covers. NAN without runs. */
double bb_live_row__single_share(const struct bb_live_row *row);

/* The orders that rows can have. */
struct bb_live_order {
	const char *name;
	const char *doc;
	int (*compare)(const void *a, const void *b); /* for qsort() of rows */
};

extern const struct bb_live_order bb_live_orders[]; /* the first is the default */
extern const size_t bb_n_live_orders;

const struct bb_live_order *bb_live_order_find(const char *name); /* NULL: there is none */

#endif
