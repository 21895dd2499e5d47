/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CORE_METRIC_H
#define BB_CORE_METRIC_H

#include "base/std.h"

/*
 * Fixed pieces of work that are run in every round next to the programs (bpf/references.bpf.c): the
 * speed of the machine during the run, in ns a piece.
 */
enum bb_reference {
	BB_REFERENCE_INSTRUCTIONS,
	BB_REFERENCE_MEMORY,
	BB_REFERENCE_WAKEUP,
	BB_N_REFERENCES
};

/* "instructions", "memory", "wakeup": also the names of the programs */
const char *bb_reference_name(enum bb_reference reference);

/*
 * The figures of one case (a program variant under one drive at one parameter). Derived from the
 * series alone (report/summary.c) and recomputable from a stored run. NAN means absent; 0 never
 * does.
 */
struct bb_estimate {
	double value, lo, hi; /* lo and hi are NAN where there is no interval */
};

struct bb_summary {
	/* gross ns per run: the censored means of all loads, put together */
	struct bb_estimate latency;
	/* latency minus the floor's, paired by load; may be negative */
	struct bb_estimate net;
	struct bb_estimate floor;         /* the floor's latency */
	struct bb_estimate p50, p90, p99; /* quantiles of all valid samples together, ns */
	/* sum of run_time_ns / sum of run_cnt: the figure of other tools */
	struct bb_estimate naive_mean;
	struct bb_estimate layout_spread; /* p90/p10 of the location over loads */
	/* means of the cheapest and of the dearest place of the code, ns */
	struct bb_estimate layout_best, layout_worst;
	struct bb_estimate outlier_share;      /* of the samples, 0..1 */
	struct bb_estimate outlier_time_share; /* of run_time_ns, 0..1 */
	/* in-situ, Hz of the target's CPU time, or of packets or requests */
	struct bb_estimate rate_requested, rate_achieved;
	struct bb_estimate drops; /* runs whose result the program threw away */
	/* share of CPU time that the hypervisor took meanwhile, 0..1 */
	struct bb_estimate steal;
	/* latency in pieces of the reference: the rest when the machine's own
	 * speed is taken out */
	struct bb_estimate relative;
	struct bb_estimate reference[BB_N_REFERENCES]; /* ns a piece: medians over rounds */
	uint64_t samples;                              /* in the valid series */
	uint32_t loads;                                /* valid series */
	uint32_t voids;                                /* series that are shown but not counted */
	uint32_t places; /* of the code, that the loads were drawn from; 0: not known */
	struct {
		struct bb_estimate intercept; /* ns of a system call besides the runs in it */
		/* of a run, by the PMU */
		struct bb_estimate cycles, instructions, llc_misses;
	} slope;
	struct {
		struct bb_estimate run_rate; /* runs per second of wall time */
		/* of one CPU, by run_time_ns; above 1 where several run it at once */
		struct bb_estimate cpu_share;
	} live;
	struct {
		/* samples that got into the ring; that the consumer was done with */
		struct bb_estimate produced, consumed;
		struct bb_estimate lag_max;   /* of all samples, ns */
		struct bb_estimate ring_peak; /* the most that the ring held, of its size, 0..1 */
		struct bb_estimate consumer_cpu; /* CPU time of the consumer a sample, ns */
	} pipeline;
	struct {
		struct bb_estimate ratio; /* time of the command to the floor's, paired by load */
	} slowdown;
};

/*
 * The static metrics of one program: known once the kernel has loaded it, without a run. Whole
 * numbers, NAN where the kernel does not say. All but the last are the same at each load of an
 * object on one kernel and machine.
 */
struct bb_prog_static {
	double verified_insns; /* processed by the verifier, on all paths */
	double xlated_bytes;   /* after the verifier's rewriting, dead code gone */
	double jited_bytes;    /* machine code */
	double stack_bytes;    /* sum over the program's functions */
	double map_bytes;      /* of all maps that the program uses, its globals included */
	double verify_ns;      /* one sample, as fine as a microsecond */
};

enum bb_direction { BB_LOWER_IS_BETTER, BB_HIGHER_IS_BETTER, BB_NO_DIRECTION };
enum bb_metric_kind { BB_METRIC_TIMING, BB_METRIC_EXACT, BB_METRIC_INFO };

/* One row a metric; every format and comparison reads these tables. */
struct bb_metric_def {
	const char *name; /* JSON key and table heading */
	const char *slug; /* BMF measure; NULL: not exported there */
	const char *unit;
	enum bb_direction direction;
	enum bb_metric_kind kind;
	/* of its struct bb_estimate in bb_summary, of its double in bb_prog_static */
	size_t offset;
	const char *doc;
};

extern const struct bb_metric_def bb_metrics[]; /* of a case */
/* an exact count: the estimate has no interval */
extern const struct bb_metric_def bb_metric_instructions;
extern const size_t bb_n_metrics;
extern const struct bb_metric_def bb_static_metrics[]; /* of a program */
extern const size_t bb_n_static_metrics;

static inline struct bb_estimate *bb_metric_at(struct bb_summary *s,
					       const struct bb_metric_def *def)
{
	return (struct bb_estimate *)((char *)s + def->offset);
}

static inline const struct bb_estimate *bb_metric_of(const struct bb_summary *s,
						     const struct bb_metric_def *def)
{
	return (const struct bb_estimate *)((const char *)s + def->offset);
}

static inline double *bb_static_at(struct bb_prog_static *s, const struct bb_metric_def *def)
{
	return (double *)((char *)s + def->offset);
}

static inline double bb_static_of(const struct bb_prog_static *s, const struct bb_metric_def *def)
{
	return *(const double *)((const char *)s + def->offset);
}

static inline void bb_static_clear(struct bb_prog_static *s)
{
	for (size_t i = 0; i < bb_n_static_metrics; i++)
		*bb_static_at(s, &bb_static_metrics[i]) = NAN;
}

#endif
