/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* References: fixed pieces of work that are timed in every round beside the programs
 * (bpf/references.bpf.c). Their times, ns per piece, show the machine's speed during the run. */
enum bb_reference {
	BB_REFERENCE_INSTRUCTIONS,
	BB_REFERENCE_MEMORY,
	BB_REFERENCE_WAKEUP,
	BB_N_REFERENCES
};

/* Returns "instructions", "memory" or "wakeup", the name of the reference's program. */
const char *bb_reference_name(enum bb_reference reference);

/*
 * A figure of a case, with its interval. Figures are computed from the series (report/summary.c),
 * also when a stored run is read. NAN means that a figure is absent; 0 never means that.
 */
struct bb_estimate {
	double value, lo, hi; /* lo and hi are NAN if there is no interval */
};

/* Returns the distance to the farther end of the interval; NAN if an end is missing or infinite. */
static inline double bb_estimate__half(const struct bb_estimate *e)
{
	return isfinite(e->lo) && isfinite(e->hi) ? fmax(e->hi - e->value, e->value - e->lo)
						  : (double)NAN;
}

struct bb_summary {
	/* ns per run, floor included: the censored means of all loads combined (with BB_FILLS_MEAN,
	 * the means of all runs) */
	struct bb_estimate latency;
	/* latency minus the floor's latency in the same round; may be negative */
	struct bb_estimate net;
	struct bb_estimate floor;         /* latency of the floor, ns */
	struct bb_estimate p50, p90, p99; /* quantiles over all valid samples, ns */
	/* sum of run_time_ns / sum of run_cnt, as other tools report */
	struct bb_estimate naive_mean;
	struct bb_estimate layout_spread; /* p90 / p10 of the latencies of the loads */
	/* mean latencies at the cheapest and at the most expensive place (address modulo 64), ns */
	struct bb_estimate layout_best, layout_worst;
	struct bb_estimate outlier_share;      /* outliers as a share of the samples, 0 to 1 */
	struct bb_estimate outlier_time_share; /* sum of the outliers / sum of all samples */
	/* for the drive `in-situ`: clock events per second of the workload's CPU time, or packets
	 * or requests per second of wall time */
	struct bb_estimate rate_requested, rate_achieved;
	struct bb_estimate drops; /* number of runs whose result the program discarded */
	/* share of CPU time that the hypervisor took, 0 to 1 */
	struct bb_estimate steal;
	/* latency divided by the time of the case's reference: the machine's speed cancels out */
	struct bb_estimate relative;
	/* times of the references, ns per piece of work: medians over rounds */
	struct bb_estimate reference[BB_N_REFERENCES];
	uint64_t samples; /* samples in valid series */
	uint32_t loads;   /* number of valid series */
	uint32_t voids;   /* number of series that are shown but do not count */
	uint32_t places;  /* number of places that the loads are distributed over; 0: the loads got
			     random addresses (run/round.h) */
	struct {
		struct bb_estimate intercept; /* time of a system call without the runs in it, ns */
		/* events of the PMU per run */
		struct bb_estimate cycles, instructions, llc_misses;
	} slope;
	struct bb_estimate
		map_bytes; /* memory of the maps that the scenario fills to several sizes, bytes */
	struct {
		/* runs per second of wall time, on all CPUs together */
		struct bb_estimate run_rate;
		/* CPU time of the program divided by wall time; above 1 if several CPUs run the
		 * program at once */
		struct bb_estimate cpu_share;
		/* share of the program's runs that took the path of this case, or that are like the
		 * input of this case, 0 to 1 */
		struct bb_estimate path_share;
		struct bb_estimate worst; /* longest run, ns */
	} live;
	struct {
		/* number of samples that entered the ring, and that the consumer finished */
		struct bb_estimate produced, consumed;
		struct bb_estimate lag_max;   /* longest lag of a sample, ns */
		struct bb_estimate ring_peak; /* most bytes that were in the ring at one time, as a
						 share of its size, 0 to 1 */
		struct bb_estimate consumer_cpu; /* CPU time of the consumer per sample, ns */
	} pipeline;
	struct {
		struct bb_estimate ratio; /* time of the workload divided by its time under the
					     floor in the same round */
	} slowdown;
};

/*
 * Static metrics of a program, known when the kernel has loaded it. Each is a whole number; NAN if
 * the kernel does not report it. All but verify_ns are the same at each load on the same kernel and
 * machine.
 */
struct bb_prog_static {
	double verified_insns; /* instructions that the verifier processed, on all paths */
	double xlated_bytes;   /* size of the BPF code that the verifier has rewritten */
	double jited_bytes;    /* size of the machine code */
	double stack_bytes;    /* stack of all functions of the program together */
	double map_bytes;      /* memory of all maps of the program, with those of its globals */
	double total_states;   /* states that the verifier saved, on all paths */
	double verify_ns; /* time that the verifier took at one load, in steps of a microsecond */
};

enum bb_direction { BB_LOWER_IS_BETTER, BB_HIGHER_IS_BETTER, BB_NO_DIRECTION };
enum bb_metric_kind { BB_METRIC_TIMING, BB_METRIC_EXACT, BB_METRIC_INFO };

/* A metric: its names, and the offset of its value. Output formats and comparisons read arrays of
 * this struct. */
struct bb_metric_def {
	const char *name; /* JSON key and heading of the table */
	const char *slug; /* name of the measure in BMF; NULL: the metric is not in BMF */
	const char *unit;
	enum bb_direction direction;
	enum bb_metric_kind kind;
	/* offset of the struct bb_estimate in bb_summary, or of the double in bb_prog_static */
	size_t offset;
	const char *doc;
};

extern const struct bb_metric_def bb_metrics[]; /* metrics of a case */
/* the metric of the drive exact, a count without an interval; neither bb_summary nor bb_prog_static
 * has a member for it */
extern const struct bb_metric_def bb_metric_instructions;
extern const size_t bb_n_metrics;
extern const struct bb_metric_def bb_static_metrics[]; /* metrics of a program */
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
