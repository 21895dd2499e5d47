/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_REPORT_REPORT_H
#define BB_REPORT_REPORT_H

#include "base/err.h"
#include "base/record.h"
#include "base/std.h"
#include "core/hist.h"
#include "core/metric.h"
#include "core/ring_use.h"
#include "env/fingerprint.h"
#include "stats/verdict.h"

/*
 * A run as it is stored: the command, the machine, and every sample. The summaries are derived from
 * the series (report/summary.c) whenever a report is made or read, so that a stored run can be
 * judged by newer statistics. Owns everything it points to; bb_report__free() takes NULL.
 *
 * What a stored member means stands in its row of report/records.c; "null" and "absent" there are
 * NULL and NAN here. Here stands what the rows leave out.
 */

/* The samples of one case from one program load. */
struct bb_series {
	uint32_t load; /* 0-based */
	int jit_mod64;
	double jit_share;
	char *void_why;
	uint64_t fired; /* slope: lines that it took */
	uint64_t run_cnt, run_time_ns, misses, drops, warmup;
	uint64_t events, retries, multi;
	double elapsed_s, target_cpu_s, steal;
	struct {
		double intercept_ns, cycles, instructions, llc_misses;
	} slope;
	double floor_ns;
	double reference_ns[BB_N_REFERENCES];
	double line_ns;           /* mean over turns */
	struct bb_ring_use *flow; /* pipeline: the records that went through the ring, or NULL */
	struct bb_hist hist;      /* one sample a run (slope: a line), in 1/units_per_ns ns */
};

/*
 * Calls of a program that came to nothing in nearly all runs of a case: lookups in one map that
 * found nothing, or a tail call that did not happen. The figure of the case is then that of the
 * path without an entry, which is seldom the path that matters.
 */
struct bb_in_vain {
	char *map, *type;
	bool is_inner, is_tail_call, is_captured;
	double entries; /* up to BB_IN_VAIN_MANY */
	double index;
	uint64_t calls, in_vain;
	char *file;
	uint32_t line, places;
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
	char *name; /* the benchmark name in BMF */
	char *scenario, *variant, *drive;
	char *command, *fired_by, *emptied;
	char *param, *param_text;
	uint32_t param_value;
	uint32_t executed_insns, n_insns; /* by a clone with counters; 0 of 0: not known */
	bool goes_on;
	struct bb_in_vain *in_vain; /* by the same clone */
	size_t n_in_vain;
	uint32_t n_unwatched;
	double wakeups;
	/* of the latency, the relative, and the latency of the floor, which moves the others by as
	 * many ns */
	double between, between_relative, between_floor;
	uint32_t between_runs;
	uint32_t units_per_ns;
	size_t floor;   /* index of the floor's case in the report, BB_NO_FLOOR */
	bool is_anchor; /* history divides by it */
	bool is_live;   /* never loaded anew */
	struct bb_series *series;
	size_t n_series;
	struct bb_summary summary; /* derived */
};

/* A program that was loaded: one variant, for all its drives. */
struct bb_program {
	char *name; /* the benchmark name in BMF */
	char *scenario, *variant;
	char *program, *object, *type, *tag;
	bool has_ring;
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
	bool matched;
	int base_mod64, head_mod64;
	uint32_t blocks;
	double d, d_net, shift_ns;
	double base_ns, head_ns, floor_ns;
	char *void_why;
};

struct bb_comparison {
	char *name, *base, *head; /* the sides: variants or objects */
	double threshold, alpha, injected, budget_s;
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
	char *name; /* the benchmark in BMF */
	char *param, *param_text;
	uint32_t param_value;
	uint64_t runs, least, most, instructions, paths;
	char *void_why; /* an unexpected result of the program */
};

/* A line of the source, by the line information in the BTF. */
struct bb_counted_line {
	char *file, *text;
	uint32_t line, n_insns;
	uint64_t executions, instructions;
};

struct bb_counted_call {
	/* "map_lookup_elem", "bpf_iter_num_new"; "kfunc 1234" where the kernel's BTF lacks it */
	char *name;
	uint64_t calls;
};

struct bb_counted {
	char *name, *scenario, *variant;
	uint32_t n_insns, n_blocks, clone_insns;
	uint64_t runs, instructions, paths;
	uint64_t tail_calls; /* the programs that they led to are not counted */
	struct bb_counted_case *cases;
	size_t n_cases;
	struct bb_counted_line *lines; /* by file and line; none without BTF line information */
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
	uint32_t line;
	char *call; /* "parse()" */
};

struct bb_timed_row {
	char *file, *text, *call; /* text: of the first line */
	struct bb_timed_call *from;
	size_t n_from;
	bool enters;              /* what the call itself takes */
	uint32_t line, last_line; /* equal, but for a loop, or what is not divided further */
	uint32_t insn;
	bool is_loop;
	uint64_t turns;
	struct bb_numbers ns, first_ns; /* by load */
};

struct bb_timed {
	char *name, *scenario, *variant, *drive, *param;
	uint32_t param_value;
	uint32_t cuts, points, refused;
	char *thinned_why, *refused_why;
	uint64_t passed, measured, runs, other_ways;
	double check_ns;
	bool leaves;
	uint32_t processes;
	uint64_t sweeps, disturbed;
	struct bb_numbers program_ns, empty_ns, hidden_ns, rest_ns; /* by load */
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
	char *what, *why;
};

struct bb_report {
	char *id; /* "20261121T131700Z-perf_profiler-1a2b3c4d" */
	char *command, *started, *incomplete;
	uint64_t seed;
	double elapsed_s, steal;
	struct bb_fingerprint fingerprint;
	struct bb_case *cases;
	size_t n_cases;
	struct bb_program *programs; /* in the order of the run */
	size_t n_programs;
	struct bb_comparison *comparisons;
	size_t n_comparisons;
	struct bb_counted *counted; /* by program; no part of the timings above */
	size_t n_counted;
	struct bb_timed *timed; /* by case */
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
	bb_program_record, bb_case_record, bb_series_record, bb_ring_use_record, bb_in_vain_record;

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
