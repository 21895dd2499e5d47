/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_REPORT_REPORT_H
#define BB_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"
#include "base/record.h"
#include "core/hist.h"
#include "core/metric.h"
#include "core/ring_use.h"
#include "env/fingerprint.h"
#include "stats/verdict.h"

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

/*
 * Calls of a program that came to nothing in nearly all runs of a case: lookups in one map that
 * found nothing, or a tail call that did not happen. The figure of the case is then that of the
 * path without an entry, which is seldom the path that matters.
 */
struct bb_in_vain {
	char *map;         /* its name; NULL: not known which map it is */
	char *type;        /* "lpm_trie"; NULL: likewise */
	bool is_inner;     /* the map was looked up in `map` */
	bool is_tail_call; /* else lookups */
	bool is_captured;  /* the map is a copy from a captured command */
	/* in the map after the runs, up to BB_IN_VAIN_MANY; the index of the tail call. NAN: not
	 * known */
	double entries, index;
	uint64_t calls, in_vain;
	char *file; /* of the first such call; NULL: no line is known */
	uint32_t line;
	uint32_t places; /* calls in the program that are meant */
};

#define BB_IN_VAIN_MANY 1000

/* "map 'blocked' (lpm_trie) is empty: its lookups (fw.bpf.c:31) found nothing". Names come from
 * objects: what shows the text makes it clean (export/table_cells.h). NULL when out of memory;
 * free() it. */
char *bb_in_vain__words(const struct bb_in_vain *v);

/* The remedy, for a user: a sentence without a full stop. */
const char *bb_in_vain__remedy(const struct bb_in_vain *v);

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

/* --- of two programs in turns --- */

/*
 * An A/B comparison of two programs that were measured in turns in one run, as it is stored: one
 * observation a load pair. Its estimates and verdict are derived from the pairs
 * (bb_comparison__judge) whenever a report is made or read.
 */

/* One load of each program, compared over ABBA or BAAB blocks. All ratios are natural logarithms of
 * head / base. */
struct bb_pair {
	bool matched;               /* both at the same JIT address mod 64 */
	int base_mod64, head_mod64; /* -1 unknown */
	uint32_t blocks;            /* blocks that count */
	double d;                   /* median over blocks of ln(head / base), gross */
	double d_net;    /* the same with the floor subtracted from both; NAN without a floor */
	double shift_ns; /* median over blocks of head - base */
	double base_ns, head_ns, floor_ns; /* medians over blocks of the censored means */
	char *void_why;                    /* why it does not count; NULL: it does */
};

struct bb_comparison {
	char *name;        /* "scenario/drive/parameter=value" */
	char *base, *head; /* the two sides: variants or objects */
	double threshold;  /* practical: 0.01 is 1 % */
	double alpha;
	double injected; /* share added to head's samples by a self-test; 0 otherwise */
	/* time for all comparisons that its verdict was looked for in, s; NAN: not known, or the
	 * number of loads ended it */
	double budget_s;
	struct bb_pair *pairs;
	size_t n_pairs;

	/* Derived. Estimates are ratios head / base with the interval that is valid at every look.
	 */
	/* matched pairs (all, where no JIT address is known); the verdict is on this */
	struct bb_estimate ratio;
	struct bb_estimate ratio_unmatched; /* pairs as the JIT placed them */
	struct bb_estimate ratio_net;       /* matched, net of the floor */
	struct bb_estimate shift_ns;        /* matched */
	/* of the same pairs: base_ns + shift_ns.value is head_ns. Where none of them counts,
	 * medians of those that do */
	double base_ns, head_ns, floor_ns;
	/* likewise of the pairs as the JIT placed them */
	double base_unmatched_ns, head_unmatched_ns;
	/* of being beyond the threshold, valid at every look, after Holm */
	double p_regressed, p_improved;
	uint32_t n_matched, n_unmatched, n_void;
	enum bb_verdict verdict;
};

/* Fill the derived members, for one comparison alone (before Holm) at significance `alpha`. 0 or
 * -ENOMEM. */
int bb_comparison__judge(struct bb_comparison *c, double alpha);

/* Bytes that a next step takes. */
#define BB_NEXT_STEP 200

/*
 * Of an inconclusive comparison: how well the difference is known, and what would decide it, by the
 * square root of the number of pairs: "known to +-2.1 %; --budget 60 should decide". `option` is
 * the one that gives the command more time. Empty for other verdicts, and without any pair.
 */
void bb_comparison__next_step(const struct bb_comparison *c, const char *option,
			      char ret_text[BB_NEXT_STEP]);

/* Mark the pair void; only the first reason is kept. 0 or -ENOMEM. */
int bb_pair_void(struct bb_pair *p, const char *why);

/*
 * Judge all of them together: each at its alpha, then p-values adjusted by Holm 1979; a verdict
 * "regressed" or "improved" that does not survive becomes inconclusive. 0 or -ENOMEM.
 */
int bb_comparisons_judge(struct bb_comparison *c, size_t n);

/* --- of the drive exact --- */

/*
 * The counts of the exact drive for one program: instructions executed, no time. Members are sums
 * over `runs` runs (all cases, equally many of each) unless they say "of one run". Owns everything
 * that it points to.
 */

/* One input or stack depth. Exact when all runs executed the same number. */
struct bb_counted_case {
	char *name;  /* "scenario/variant/exact/input=NAME": the benchmark in BMF */
	char *param; /* NULL: the drive has none */
	uint32_t param_value;
	char *param_text; /* as in struct bb_case */
	uint64_t runs;
	uint64_t least, most;  /* instructions of one run; equal: exact */
	uint64_t instructions; /* of all runs */
	uint64_t paths;        /* different paths that they took */
	char *void_why; /* why it does not count: an unexpected result of the program; NULL: it
			   counts */
};

/* A line of the source, by the line information in the BTF. */
struct bb_counted_line {
	char *file, *text;   /* text: "" when the BTF has none */
	uint32_t line;       /* 0: instructions of the compiler's own */
	uint32_t n_insns;    /* that stand in the program for it */
	uint64_t executions; /* the most of any of its instructions; 0: never executed */
	uint64_t instructions;
};

struct bb_counted_call {
	/* "map_lookup_elem", "bpf_iter_num_new"; "kfunc 1234" where the kernel's BTF lacks it */
	char *name;
	uint64_t calls;
};

struct bb_counted {
	char *name; /* "scenario/variant/exact" */
	char *scenario, *variant;
	uint32_t n_insns, n_blocks; /* of the program */
	uint32_t clone_insns;       /* of the one that was run, with its counters */
	uint64_t runs, instructions;
	uint64_t paths;      /* different paths over all cases */
	uint64_t tail_calls; /* that were taken: the programs that they led to are not counted */
	struct bb_counted_case *cases;
	size_t n_cases;
	/* by file and line; none without BTF line information */
	struct bb_counted_line *lines;
	size_t n_lines;
	struct bb_counted_call *calls;
	size_t n_calls;
};

static inline bool bb_counted_case__counts(const struct bb_counted_case *c)
{
	return c->runs && !c->void_why;
}

static inline bool bb_counted_case__is_exact(const struct bb_counted_case *c)
{
	return c->runs && !c->void_why && c->least == c->most;
}

/* Instructions of one run: the number if it is exact, else the mean with the least and the most;
 * NAN if void. */
struct bb_estimate bb_counted_case__instructions(const struct bb_counted_case *c);

/* The extremes of one run over all cases of a program that count. */
struct bb_counted_range {
	const struct bb_counted_case *least, *most; /* NULL: no case counts */
	size_t n_exact;
};

struct bb_counted_range bb_counted__range(const struct bb_counted *c);

/* --- of the drive lines --- */

/*
 * The measurements of the drive `lines` for one case: the time of each line of one run and of each
 * call in it. Owns what it points to. Times are lists, ns, of one number a load; NAN: that load has
 * none.
 */
struct bb_timed_call {
	uint32_t line; /* where the call is; 0: not known */
	char *call;    /* "parse()" */
};

struct bb_timed_row {
	char *file, *text; /* "" without line information; text: of the first line */
	char *call;        /* "bpf_ktime_get_ns", "parse()"; "": the program's own code */
	/* the calls that led to the function that it is in, the main one's first; none: it is in
	 * the main one */
	struct bb_timed_call *from;
	size_t n_from;
	bool enters; /* a call whose function has rows of its own: what the call itself takes */
	uint32_t line, last_line; /* equal, but for a loop, or what is not divided further */
	uint32_t insn;            /* the slot where it begins */
	bool is_loop;
	uint64_t turns;                 /* in one run */
	struct bb_numbers ns, first_ns; /* by load: of all turns, of the first one */
};

struct bb_timed {
	char *name; /* "scenario/variant/lines/stack_depth=32": of its case, too */
	char *scenario, *variant, *drive;
	char *param; /* NULL: the drive has none */
	uint32_t param_value;
	uint32_t cuts;       /* at which the clone can end */
	uint32_t points;     /* at which a clone could; 0: an older run that does not say */
	char *thinned_why;   /* the cuts are fewer than those; NULL: they are all */
	uint32_t refused;    /* of them, those that the verifier does not allow */
	char *refused_why;   /* in its words, of one of them; NULL: none */
	uint64_t passed;     /* cuts that a run passes */
	uint64_t measured;   /* of them, those that runs ended at; 0: does not say */
	uint64_t runs;       /* of the clone to its last cut, that count */
	uint64_t other_ways; /* that took another path than the one that is shown */
	double check_ns;     /* the price of a check at a cut, which is taken out */
	bool leaves;         /* a run ends by a tail call */
	/* that measured it, one after the other, as many loads each; 0: an older run, one did */
	uint32_t processes;
	uint64_t sweeps;    /* over all places, in all loads; 0: an older run */
	uint64_t disturbed; /* that are left out: the program took longer than it does here */
	/* by load: the program itself; an empty program, called and timed as it is */
	struct bb_numbers program_ns, empty_ns;
	struct bb_numbers hidden_ns; /* by load, as in struct bb_lines; none: an older run */
	/* by load: by other paths, with cold caches what no cut shows; of older runs behind a tail
	 * call */
	struct bb_numbers rest_ns;
	struct bb_timed_row *rows; /* in the order in which a run comes to them first */
	size_t n_rows;
};

/* The calls that led to it, from "97 parse();45 inner()", as older runs have them. 0 or -ENOMEM. */
int bb_timed_row__set_from(struct bb_timed_row *row, const char *text);
/* The order of two rows by the first n of those calls: below 0, 0: they are the same, above 0. */
int bb_timed_row__compare_from(const struct bb_timed_row *a, const struct bb_timed_row *b,
			       size_t n);

bool bb_timed__is_cold(const struct bb_timed *t); /* caches were emptied before each run */

/* --- the whole --- */

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

/*
 * The descriptions of what a stored run holds: one row a member, in the order in which it is
 * written. All else follows from them; members that are BB_OTHER have functions in
 * store/run_json.c.
 */
extern const struct bb_record bb_report_record, bb_skip_record, bb_timed_record,
	bb_timed_call_record, bb_timed_row_record, bb_counted_record, bb_counted_call_record,
	bb_counted_line_record, bb_counted_case_record, bb_comparison_record, bb_pair_record,
	bb_program_record, bb_case_record, bb_series_record, bb_flow_record, bb_in_vain_record;

struct bb_report *bb_report__new(void);
void bb_report__free(struct bb_report *r);

/* Drop the last of r->counted. */
void bb_report__drop_counted(struct bb_report *r);

/* Remove the series of loads for which no time was left. */
void bb_case__drop_empty_series(struct bb_case *c);

/* Remove cases without series: nothing at all was measured of them. Their places are others' then.
 */
void bb_report__drop_empty_cases(struct bb_report *r);

/* How many comparisons have that verdict. */
size_t bb_report__count_verdict(const struct bb_report *r, enum bb_verdict verdict);
/* Was anything measured or counted? */
bool bb_report__has_samples(const struct bb_report *r);
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
