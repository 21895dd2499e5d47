/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* References are fixed pieces of work (bpf/references.bpf.c). bpfbench times them beside the
 * programs, to show the machine's speed during the run. */
enum bb_reference {
	BB_REFERENCE_INSTRUCTIONS,
	BB_REFERENCE_MEMORY,
	BB_REFERENCE_WAKEUP,
	BB_N_REFERENCES
};

const char *bb_reference_name(enum bb_reference reference);

/* A figure with its confidence interval. NAN means that a figure is absent; 0 never means that. */
struct bb_estimate {
	double value, lo, hi; /* lo and hi are NAN without an interval */
};

/* Returns the distance to the farther end of the interval; NAN if an end is missing or infinite. */
static inline double bb_estimate__half(const struct bb_estimate *e)
{
	return isfinite(e->lo) && isfinite(e->hi) ? fmax(e->hi - e->value, e->value - e->lo)
						  : (double)NAN;
}

/* The figures of a case, which is one program at one value of a parameter. The table in
 * core/metric.c explains each. Times are in ns, shares from 0 to 1. */
struct bb_summary {
	struct bb_estimate latency; /* with BB_FILLS_MEAN, the mean of all runs */
	struct bb_estimate net;     /* may be negative */
	struct bb_estimate floor;
	struct bb_estimate p50, p90, p99; /* over all valid samples */
	struct bb_estimate naive_mean, layout_spread, layout_best, layout_worst;
	struct bb_estimate outlier_share, outlier_time_share;
	struct bb_estimate rate_requested, rate_achieved;
	struct bb_estimate drops, steal, relative;
	/* ns per piece of work, medians over rounds */
	struct bb_estimate reference[BB_N_REFERENCES];
	uint64_t samples; /* samples in valid series */
	uint32_t loads;   /* number of valid series */
	uint32_t voids;   /* number of series whose checks failed */
	/* Number of addresses modulo 64 that the loads are distributed over. 0 means that they got
	 * random addresses (run/round.h). */
	uint32_t places;
	struct {
		struct bb_estimate intercept, cycles, instructions, llc_misses;
	} slope;
	struct bb_estimate map_bytes;
	struct {
		struct bb_estimate run_rate;
		struct bb_estimate cpu_share; /* above 1 if several CPUs run the program at once */
		struct bb_estimate path_share, worst;
	} live;
	struct {
		struct bb_estimate produced, consumed, lag_max, ring_peak, consumer_cpu;
	} pipeline;
	struct {
		struct bb_estimate ratio; /* compared with the empty program */
	} slowdown;
};

/* Figures of a program that are known when the kernel has loaded it (core/metric.c). Each is a
 * whole number, or NAN if the kernel does not report it. All but verify_ns are the same at each
 * load on the same kernel and machine. */
struct bb_prog_static {
	double verified_insns, xlated_bytes, jited_bytes, stack_bytes, map_bytes, total_states;
	double verify_ns; /* in steps of 1000 ns */
};

enum bb_direction { BB_LOWER_IS_BETTER, BB_HIGHER_IS_BETTER, BB_NO_DIRECTION };
enum bb_metric_kind { BB_METRIC_TIMING, BB_METRIC_EXACT, BB_METRIC_INFO };

struct bb_metric_def {
	const char *name; /* JSON key and heading of the table */
	const char *slug; /* name in BMF, the JSON for Bencher; NULL if the metric is not there */
	const char *unit;
	enum bb_direction direction;
	enum bb_metric_kind kind;
	/* of the struct bb_estimate in bb_summary, or of the double in bb_prog_static */
	size_t offset;
	const char *doc;
};

extern const struct bb_metric_def bb_metrics[];
/* metric of the drive exact: no interval, and no member in bb_summary or bb_prog_static */
extern const struct bb_metric_def bb_metric_instructions;
extern const size_t bb_n_metrics;
extern const struct bb_metric_def bb_static_metrics[];
extern const size_t bb_n_static_metrics;

static inline const struct bb_estimate *bb_metric_of(const struct bb_summary *s,
						     const struct bb_metric_def *def)
{
	return (const struct bb_estimate *)((const char *)s + def->offset);
}

static inline double bb_static_of(const struct bb_prog_static *s, const struct bb_metric_def *def)
{
	return *(const double *)((const char *)s + def->offset);
}

static inline void bb_static_clear(struct bb_prog_static *s)
{
	for (size_t i = 0; i < bb_n_static_metrics; i++)
		*(double *)((char *)s + bb_static_metrics[i].offset) = NAN;
}
