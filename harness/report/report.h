/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_REPORT_REPORT_H
#define BB_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"
#include "core/ring_use.h"
#include "core/hist.h"
#include "core/metric.h"
#include "env/fingerprint.h"
#include "report/comparison.h"
#include "report/counted.h"
#include "report/in_vain.h"
#include "report/timed.h"

/*
 * A run as it is stored: the command, the machine, and every sample. The summaries are derived from
 * the series (report/summary.c) whenever a report is made or read, so that a stored run can be
 * judged by newer statistics. Owns everything it points to; bb_report__free() takes NULL.
 */

/* The samples of one case from one program load. */
struct bb_series {
	uint32_t load;    /* 0-based round of the run; equal rounds were interleaved in time */
	int jit_mod64;    /* address of the JITed program mod 64; -1 unknown */
	double jit_share; /* of all random loads that are there; NAN: not drawn by places */
	char *void_why;   /* why the series does not count; NULL: it does */
	/* events that the drive fired, lines that it took (slope); 0: it cannot know (in-situ) */
	uint64_t fired;
	uint64_t run_cnt; /* by the kernel's counters, warm-up excluded */
	uint64_t run_time_ns;
	uint64_t misses;     /* recursion_misses */
	uint64_t drops;      /* the program's own `drops` counter */
	uint64_t warmup;     /* runs discarded at the start, by intent */
	uint64_t events;     /* in-situ by rate: packets sent, requests answered; 0 elsewhere */
	uint64_t retries;    /* calls made again because a signal broke them off */
	uint64_t multi;      /* in-situ: runs that shared a window, not in `hist` */
	double elapsed_s;    /* wall time */
	double target_cpu_s; /* in-situ: CPU time of the workload; NAN elsewhere */
	double steal;        /* share, 0..1; NAN unknown */
	struct {
		double intercept_ns; /* of the system call around the runs */
		/* of a run, by the PMU; NAN without one */
		double cycles, instructions, llc_misses;
	} slope; /* NAN elsewhere */
	/* hook: the same with an empty program on the same hook; NAN elsewhere */
	double floor_ns;
	/* the references, just before the series; NAN: not measured */
	double reference_ns[BB_N_REFERENCES];
	/* cold: of a line of memory to be read after emptying, mean over turns; NAN elsewhere */
	double line_ns;
	struct bb_ring_use
		*flow; /* pipeline: the records that went through the ring; NULL elsewhere */
	/* cost of a run in 1/units_per_ns ns, one sample a run (slope: a line) */
	struct bb_hist hist;
};

#define BB_NO_FLOOR SIZE_MAX

struct bb_case {
	char *name; /* "scenario/variant/drive/parameter=value": the benchmark name in BMF */
	char *scenario, *variant, *drive;
	char *command;  /* slowdown: whose time a sample is; NULL elsewhere */
	char *fired_by; /* trigger and place, where a run of it was made to happen; NULL elsewhere
			 */
	char *emptied;  /* the caches that were emptied before each run; NULL: none */
	char *param;    /* "stack_depth", "freq_hz", "rate_hz"; NULL when the drive has none */
	uint32_t param_value;
	char *param_text; /* the value in words: "32", an input's name; NULL: no parameter */
	/* instructions that its runs execute at all, of all that the program has, by a clone with
	 * counters; 0 of 0: not known */
	uint32_t executed_insns, n_insns;
	bool goes_on; /* its runs went on in programs that are not among these, by tail calls */
	/* by the same clone: what nearly all of its runs looked for and did not find */
	struct bb_in_vain *in_vain;
	size_t n_in_vain;
	uint32_t n_unwatched; /* calls of the program that may be in vain and were not counted */
	/* interrupts to its own CPU by a run: it wakes somebody; NAN: not known */
	double wakeups;
	/* by how much runs like this one differ, by `between_runs` runs of the machine's self-test:
	 * 95 % half widths in ln of the latency, the relative, and the latency of the floor, which
	 * moves the others by as many ns; NAN: not known */
	double between, between_relative, between_floor;
	uint32_t between_runs;
	uint32_t units_per_ns; /* of the samples: 1, or 1000 where they are in ps */
	size_t floor;          /* index of the floor's case in the report, BB_NO_FLOOR */
	bool is_anchor;        /* history divides by it */
	/* a live program, never loaded anew: each series is a slice of time */
	bool is_live;
	struct bb_series *series;
	size_t n_series;
	struct bb_summary summary; /* derived */
};

/* A program that was loaded: one variant, for all its drives. */
struct bb_program {
	char *name; /* "scenario/variant": the benchmark name in BMF */
	char *scenario, *variant;
	char *program; /* function in the object */
	char *object;  /* as the scenario or the command line names it */
	char *type;    /* "perf_event" */
	char *tag;     /* the kernel's, 16 hex digits: equal for equal instructions */
	bool has_ring; /* it writes to a ring buffer */
	struct bb_prog_static metrics;
};

/* A case or a drive that could not be measured here. */
struct bb_skip {
	char *what; /* "perf_profiler/in-situ" */
	char *why;
};

struct bb_report {
	char *id;         /* file name without .json: "20261121T131700Z-perf_profiler-1a2b3c4d" */
	char *command;    /* command line */
	char *started;    /* ISO 8601, UTC */
	char *incomplete; /* why the run stopped early; NULL: it is whole */
	uint64_t seed;
	double elapsed_s;
	double steal; /* whole run, all CPUs; NAN unknown */
	struct bb_fingerprint fingerprint;
	struct bb_case *cases;
	size_t n_cases;
	struct bb_program *programs; /* in the order of the run; none of the fake driver's */
	size_t n_programs;
	struct bb_comparison *comparisons; /* of `bpfbench compare`; none in a plain run */
	size_t n_comparisons;
	/* of the exact drive, by program; no part of the timings above */
	struct bb_counted *counted;
	size_t n_counted;
	/* of the drive `lines`, by case */
	struct bb_timed *timed;
	size_t n_timed;
	struct bb_skip *skips;
	size_t n_skips;
};

/* A sample of the case in ns. */
static inline double bb_case__ns(const struct bb_case *c, double units)
{
	return units / c->units_per_ns;
}

/* Equal, or both absent. */
static inline bool bb_same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* Are two cases of one scenario, drive and parameter? */
static inline bool bb_same_group(const struct bb_case *a, const struct bb_case *b)
{
	return bb_same_text(a->scenario, b->scenario) && bb_same_text(a->drive, b->drive) &&
	       bb_same_text(a->param, b->param);
}

/* Do two cases stand in one table: those of a group at one value of the parameter? */
static inline bool bb_same_table(const struct bb_case *a, const struct bb_case *b)
{
	return bb_same_group(a, b) && a->param_value == b->param_value;
}

/* Is another case measured against `c`, which is one of the report's? */
static inline bool bb_is_floor(const struct bb_report *r, const struct bb_case *c)
{
	for (size_t i = 0; i < r->n_cases; i++)
		if (&r->cases[i] != c && r->cases[i].floor == (size_t)(c - r->cases))
			return true;
	return false;
}

struct bb_report *bb_report__new(void);
void bb_report__free(struct bb_report *r);

/* Append; the returned pointer is valid until the next call. NULL when out of memory. */
struct bb_case *bb_report__add_case(struct bb_report *r);
/* The last one. */
void bb_report__drop_counted(struct bb_report *r);
struct bb_series *bb_case__add_series(struct bb_case *c);

/* Remove the series of loads for which no time was left. */
void bb_case__drop_empty_series(struct bb_case *c);

/* Remove cases without series: nothing at all was measured of them. Their places are others' then.
 */
void bb_report__drop_empty_cases(struct bb_report *r);

/* How many comparisons have that verdict. */
size_t bb_report__count_verdict(const struct bb_report *r, enum bb_verdict verdict);
/* Was anything measured or counted? */
bool bb_report__has_samples(const struct bb_report *r);
struct bb_comparison *bb_report__add_comparison(struct bb_report *r);
struct bb_program *bb_report__add_program(struct bb_report *r);
struct bb_counted *bb_report__add_counted(struct bb_report *r);
struct bb_timed *bb_report__add_timed(struct bb_report *r);
/* Why a series does not count; NULL when it does. */
const char *bb_series_why_void(const struct bb_series *s);
/* Why none of its series counts; NULL when one does. */
const char *bb_case__why_no_sample(const struct bb_case *c);

/* Cases from the first-th on without a series that counts become skips, unless all would. 0 or
 * -ENOMEM. */
int bb_report__skip_without_sample(struct bb_report *r, size_t first);

/*
 * Append the loads of `from`, numbered from `first` on, another process's run of the same cases:
 * its series, which it loses, and its times of lines. 0, -ENOMEM, or -EINVAL: the rows of one are
 * others; nothing is taken then.
 */
int bb_report__take_loads(struct bb_report *into, struct bb_report *from, uint32_t first);

int bb_report__add_skip(struct bb_report *r, const char *what, const char *why);

const struct bb_case *bb_report__find_case(const struct bb_report *r, const char *name);
const struct bb_program *bb_report__find_program(const struct bb_report *r, const char *name);

/*
 * The reference whose pieces the case is counted in: the wakeup for programs that interrupt their
 * own CPU at every other run or more, else the instructions (docs/methods/references.md).
 */
enum bb_reference bb_case__reference(const struct bb_case *c);

/*
 * x[n_series], by series, in pieces of that reference; NAN where it was not measured. Of a case
 * that has been summarised: wakeups are those of the same round, as they move within a run; of the
 * instructions, which show the CPU's clock, the run's median is taken, as single ones are disturbed
 * more often than the clock changes.
 */
void bb_case__relative(const struct bb_case *c, const double *x, double *ret_relative);

/*
 * The location of each series, which make up the latency, into ret_ns[n_series]; NAN: void,
 * without samples, or slowed down by something else (stats/loads.h). 0 or -ENOMEM.
 */
int bb_case__locations(const struct bb_case *c, double *ret_ns);

/* Of x[n_series], the value at that round; NAN when there is none. */
double bb_case__at_load(const struct bb_case *c, const double *x, uint32_t load);

/* One value a load, put together. */
struct bb_over_loads {
	struct bb_estimate estimate;
	double se, df;      /* standard error, by place, and its degrees of freedom; NAN: not drawn
			     * by place */
	double spread;      /* p90 / p10; NAN with fewer than 3 */
	double least, most; /* by place: means of the cheapest and of the dearest */
	size_t n_places;    /* 0: not drawn by place, and the estimate is the median */
};

/*
 * x[n_series], of the loads of a case; NAN is left out. Where the loads were drawn evenly from the
 * places that the JIT has for the program, their stratified mean, else their median with the
 * interval of order statistics. 0 or -ENOMEM; NANs when no x is a number.
 */
int bb_case__over_loads(const struct bb_case *c, const double *x, struct bb_over_loads *ret);

/* Fill every case's summary from its series. 0 or -ENOMEM. */
int bb_report__summarise(struct bb_report *r);

#endif
