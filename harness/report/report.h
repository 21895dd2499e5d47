/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/record.h"
#include "core/line_figures.h"
#include "core/metric.h"
#include "core/ring_use.h"
#include "env/fingerprint.h"
#include "stats/verdict.h"

/* A report is a run of bpfbench as it is stored: the command, the machine, and every sample.
 * Summaries are computed from the samples (report/summary.c) whenever a report is made or read, so
 * that newer statistics can judge a stored run. A report owns everything that it points to.
 * report/records.c explains each stored member. What is "null" or "absent" in a file is NULL or NAN
 * here. */

/* In a mix, the runs of a case take several inputs. A class has the samples of those runs of a mix
 * that returned the same value and took the same path through the program. */
struct bb_class {
	uint32_t value;
	char *returned, *path;
	struct bb_hist hist;
};

/* The samples of one case from one load of the program into the kernel. */
struct bb_series {
	uint32_t load; /* number of the load, counted from 0 */
	int jit_mod64;
	double jit_share;
	char *void_why;
	/* number of events that were fired; in the drive `slope`, of fitted lines */
	uint64_t fired;
	uint64_t run_cnt, run_time_ns, misses, drops, warmup;
	uint64_t events, retries, multi;
	double elapsed_s, target_cpu_s, steal;
	struct {
		double intercept_ns, cycles, instructions, llc_misses;
	} slope;
	double floor_ns;
	double reference_ns[BB_N_REFERENCES];
	double line_ns; /* time to read a line of memory; mean over the turns of the series */
	struct bb_ring_use *flow; /* only in the drive `pipeline`, else NULL */
	/* one sample for each run or, in the drive `slope`, for each fitted line; the unit is
	 * 1/units_per_ns ns */
	struct bb_hist hist;
	struct bb_class *classes; /* none if the case is no mix */
	size_t n_classes;
};

/* Calls in vain: lookups in one map that found nothing, or one tail call that did not happen. They
 * are recorded if at least nine of ten of these calls were in vain, because the case then probably
 * times another path than the wanted one. If only the program's first run was counted, lookups are
 * recorded only if the map was empty, because later runs may find what the first run stored. */
struct bb_in_vain {
	char *map, *type;
	bool is_inner, is_tail_call, is_captured;
	double entries, index;
	uint64_t calls, in_vain;
	char *file;
	uint32_t line, places;
};

#define BB_IN_VAIN_MANY 1000 /* value of `entries` for 1000 or more */

/* Describes calls in vain: "map 'blocked' (lpm_trie) is empty, and its lookups (fw.bpf.c:31) found
 * nothing". The caller frees the text. Show it only by bb_put_clean() (export/table_cells.h),
 * because the names in it come from object files. */
char *bb_in_vain__words(const struct bb_in_vain *v);

#define BB_NO_FLOOR SIZE_MAX

/* The title of an input that the option --try-inputs found, and its description. */
#define BB_FOUND_TITLE "found input"
#define BB_FOUND_IS "a way through the program, not production's"
#define BB_FOUND_INPUT BB_FOUND_TITLE ": " BB_FOUND_IS

struct bb_case {
	char *name, *scenario, *variant, *drive;
	char *command, *fired_by, *emptied, *returned;
	char *param, *param_text;
	uint32_t param_value;
	/* A clone of the program (a copy with counters) counted these. Both are 0 if unknown. */
	uint32_t executed_insns, n_insns;
	bool goes_on;
	struct bb_in_vain *in_vain; /* counted by the same clone */
	size_t n_in_vain;
	uint32_t n_unwatched;
	bool first_run_only;
	char *turned_file, *turned_text;
	uint32_t turned_line, turned_insns;
	char *returned_at, *shares, *per_cpu_of, *per_cpu_map, *each_input_in;
	double wakeups, map_bytes;
	/* How much the latency differs between runs of bpfbench, and how much the floor's does. If
	 * the floor is slower by 1 ns, the case is slower by 1 ns, too. */
	double between, between_relative, between_floor;
	uint32_t between_runs;
	uint32_t units_per_ns;
	size_t floor; /* index in the report, or BB_NO_FLOOR */
	bool is_anchor, is_live, found;
	double path_share;
	struct bb_series *series;
	size_t n_series;
	struct bb_summary summary; /* computed from the series */
};

/* A loaded program: one variant, for all drives of that variant. */
struct bb_program {
	char *name, *scenario, *variant;
	char *program, *object, *type, *tag;
	bool has_ring;
	struct bb_prog_static metrics;
};

/* What was measured with one load of base and one load of head. */
struct bb_pair {
	bool matched;
	int base_mod64, head_mod64;
	uint32_t blocks;
	double d, d_net, shift_ns;
	double base_ns, head_ns, floor_ns;
	char *void_why;
};

/* Two programs that were measured in turns in one run. Estimates and verdict are computed from the
 * pairs (bb_comparison__judge()) whenever a report is made or read. */
struct bb_comparison {
	char *name, *base, *head; /* base, head: names of the two variants or objects */
	double threshold, alpha, injected, budget_s;
	struct bb_pair *pairs;
	size_t n_pairs;

	/* The members from here on are computed. Estimates are ratios head / base, except shift_ns.
	 * Their intervals stay valid although they are computed again after every pair. */
	/* over the pairs whose two programs have the same JIT address modulo 64, or over all pairs
	 * if the addresses are unknown */
	struct bb_estimate ratio;
	/* over the other pairs, in which the kernel happened to choose different addresses */
	struct bb_estimate ratio_unmatched;
	struct bb_estimate ratio_net; /* over the pairs of `ratio`, net of the floor */
	struct bb_estimate shift_ns;  /* head - base over the pairs of `ratio` */
	/* Latencies over the pairs of `ratio`: base_ns and floor_ns are medians, head_ns is base_ns
	 * + shift_ns.value. If no such pair counts, all three are medians over the other pairs. */
	double base_ns, head_ns, floor_ns;
	/* p-values that stay valid after every pair, for the hypotheses that head is not slower
	 * (p_regressed) and not faster (p_improved) than base by more than the threshold */
	double p_regressed, p_improved;
	uint32_t n_matched, n_unmatched, n_void;
	enum bb_verdict verdict;
};

/* Judges one comparison at significance `alpha`, without Holm's adjustment for several
 * comparisons. */
void bb_comparison__judge(struct bb_comparison *c, double alpha);

/* bpfbench multiplies each budget and each number of loads that it advises by this. With few loads,
 * intervals shrink more slowly than 1 / sqrt(loads), and a budget also has to pay for the start of
 * a run. */
#define BB_SPARE 1.2

#define BB_WHY_SIZE 200

/* Writes to ret_text why a comparison is inconclusive, such as "the interval is +-2.1 % so far".
 * Writes "" if the comparison has another verdict. Returns the budget, s, that should give a
 * verdict. If the run had no budget, returns the number of loads that should. Returns NAN if none
 * would. Assumes that intervals shrink as 1 / sqrt(loads). */
double bb_comparison__why_inconclusive(const struct bb_comparison *c, char ret_text[BB_WHY_SIZE]);

/* Marks the pair void, so that it does not count. A void pair keeps its first reason. */
void bb_pair_void(struct bb_pair *p, const char *why);

/*
 * Judges comparisons together: each first at its own alpha, then all with p-values adjusted as in
 * Holm 1979. A verdict "regressed" or "improved" whose adjusted p-value is above alpha becomes
 * "inconclusive".
 */
void bb_comparisons_judge(struct bb_comparison *c, size_t n);

/* What the drive `exact` counted in the runs of a program (struct bb_counted). `instructions`,
 * `executions` and `calls` are sums over all runs. `least` and `most` are the fewest and the most
 * instructions of a single run. `paths` is the number of different paths that the runs took. */

struct bb_counted_case {
	char *name, *param, *param_text;
	uint32_t param_value;
	uint64_t runs, least, most, instructions, paths;
	char *void_why; /* set if the program's result was unexpected */
};

struct bb_counted {
	char *name, *scenario, *variant;
	uint32_t n_insns, n_blocks, clone_insns;
	uint64_t runs, instructions, paths;
	uint64_t tail_calls; /* sum over all runs; instructions of the called programs are not
			      * counted */
	struct bb_counted_case *cases;
	size_t n_cases;
	/* sorted by file and line; none if the program has no line information */
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

/* Returns how many instructions one run executes. If the number differs between runs, the value is
 * the mean, lo the least and hi the most. If all runs execute equally many, lo and hi are NAN. All
 * three are NAN if the case is void. */
struct bb_estimate bb_counted_case__instructions(const struct bb_counted_case *c);

/* A case or drive that could not be measured on this machine, and why. */
struct bb_skip {
	char *what, *why;
};

struct bb_report {
	char *id; /* for example "20261121T131700Z-perf_profiler-1a2b3c4d" */
	char *command, *started, *incomplete;
	uint64_t seed;
	double elapsed_s, steal;
	struct bb_fingerprint fingerprint;
	struct bb_case *cases;
	size_t n_cases;
	struct bb_program *programs; /* in the order in which the run loaded them */
	size_t n_programs;
	struct bb_comparison *comparisons;
	size_t n_comparisons;
	struct bb_counted *counted; /* one item per program */
	size_t n_counted;
	struct bb_timed *timed; /* one item per case */
	size_t n_timed;
	struct bb_skip *skips;
	size_t n_skips;
	/* True if the file of this run already exists with a part of the run, so that it may be
	 * replaced. This member is not stored. */
	bool is_rewritten;
};

/* Converts a sample of the case, in 1/units_per_ns ns, to ns. */
static inline double bb_case__ns(const struct bb_case *c, double units)
{
	return units / c->units_per_ns;
}

/* True if both texts are equal, or both are NULL. */
static inline bool bb_same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* True if both cases have the same scenario, drive and parameter. */
static inline bool bb_same_group(const struct bb_case *a, const struct bb_case *b)
{
	return bb_same_text(a->scenario, b->scenario) && bb_same_text(a->drive, b->drive) &&
	       bb_same_text(a->param, b->param);
}

/* True if both cases differ at most in the value of the parameter: same group and variant. */
static inline bool bb_same_curve(const struct bb_case *a, const struct bb_case *b)
{
	return bb_same_group(a, b) && bb_same_text(a->variant, b->variant);
}

static inline bool bb_same_program(const struct bb_case *a, const struct bb_case *b)
{
	return bb_same_text(a->scenario, b->scenario) && bb_same_text(a->variant, b->variant);
}

/* True if both cases are rows of one table: they have the same group and value of the parameter. */
static inline bool bb_same_table(const struct bb_case *a, const struct bb_case *b)
{
	return bb_same_group(a, b) && a->param_value == b->param_value;
}

/* True if `c`, a case of the report, is the floor of another case. */
static inline bool bb_is_floor(const struct bb_report *r, const struct bb_case *c)
{
	return BB_ANY(r->cases, r->n_cases, it != c && it->floor == (size_t)(c - r->cases));
}

/* Descriptions of the structs of a stored run. Each has one row per member of the struct, in the
 * order of writing. From these rows follow how members are read, written and freed, and their
 * defaults.
 * store/run_json.c reads and writes the members of the kind BB_OTHER (base/record.h). */
extern const struct bb_record bb_report_record, bb_skip_record, bb_timed_record,
	bb_timed_call_record, bb_timed_row_record, bb_counted_record, bb_counted_call_record,
	bb_counted_line_record, bb_counted_case_record, bb_comparison_record, bb_pair_record,
	bb_program_record, bb_case_record, bb_series_record, bb_class_record, bb_ring_use_record,
	bb_in_vain_record;

struct bb_report *bb_report__new(void);
void bb_report__free(struct bb_report *r);

/* Removes the empty series of loads for whose measurement there was no time. */
void bb_case__drop_empty_series(struct bb_case *c);

/* Removes cases without series, because nothing of them was measured. Indexes of cases change. */
void bb_report__drop_empty_cases(struct bb_report *r);

size_t bb_report__count_verdict(const struct bb_report *r, enum bb_verdict verdict);
/* True if the report has a run, a sample or counts of instructions. */
bool bb_report__has_samples(const struct bb_report *r);
/* Returns why a series does not count, or NULL if it does. */
const char *bb_series_why_void(const struct bb_series *s);
/* Returns why no series of the case counts, or NULL if one does. */
const char *bb_case__why_no_sample(const struct bb_case *c);

/* Replaces cases from index `first` on that have no valid series by skips. Does nothing if none of
 * these cases has a valid series. */
void bb_report__skip_without_sample(struct bb_report *r, size_t first);

/* Moves the loads of the report `from`, which another process measured with the same cases, to
 * `into`. The loads get numbers from `first` on. If a case has other lines (struct bb_timed_row) in
 * `from` than in `into`, moves nothing and returns -EINVAL. */
int bb_report__take_loads(struct bb_report *into, struct bb_report *from, uint32_t first);

void bb_report__add_skip(struct bb_report *r, const char *what, const char *why);

/* If `r` and `like` are runs of one object each, and their names differ, renames the cases and
 * programs of `r` so that the two runs can be compared. Returns the old name of the object, which
 * the caller frees, or NULL if nothing was renamed. */
char *bb_report__rename_like(struct bb_report *r, const struct bb_report *like);

const struct bb_case *bb_report__find_case(const struct bb_report *r, const char *name);
const struct bb_program *bb_report__find_program(const struct bb_report *r, const char *name);

/* Sorts the samples of all valid series of the case. Free with bb_sorted_done(). */
void bb_case__sort(const struct bb_case *c, struct bb_sorted *ret_sorted);

/* Returns the program that the case measures, or NULL. */
const struct bb_program *bb_report__program_of(const struct bb_report *r, const struct bb_case *c);

/* Returns the kind of reference work by whose time the case's latency is divided. It is a wakeup if
 * the program interrupts its own CPU at least 0.5 times per run, else a series of instructions. */
enum bb_reference bb_case__reference(const struct bb_case *c);

/* Divides each number of x[n_series] by the time of the work bb_case__reference(). A quotient is
 * NAN if that time was not measured. The case must be summarised. A wakeup's time varies within a
 * run of bpfbench, so each number is divided by the time in its round. For instructions, all are
 * divided by the median time of the run, because disturbed measurements are more frequent than
 * changes of the CPU's clock. */
void bb_case__relative(const struct bb_case *c, const double *x, double *ret_relative);

/* Computes the latency of each series, ns, in ret_ns[n_series]. It is NAN if the series is void or
 * empty, or if something other than the program slowed it down (stats/loads.h). */
void bb_case__locations(const struct bb_case *c, double *ret_ns);

/* The cost of those runs of a mix that had one return value and one path. */
struct bb_class_cost {
	const char *returned, *path; /* as in struct bb_class, borrowed */
	uint32_t value;
	double runs, share; /* number of runs, and their share of all runs */
	/* mean over the loads, each weighted by its number of these runs; outliers are left out */
	double ns;
};

/* Lists the classes of a mix, the most frequent first. Returns their number. The caller must free()
 * the list. */
size_t bb_case__class_costs(const struct bb_case *c, struct bb_class_cost **ret_costs);

/* Returns the element of x[n_series] for the series of round `load`, or NAN if there is none. */
double bb_case__at_load(const struct bb_case *c, const double *x, uint32_t load);

/* A figure that is combined from one value per load. */
struct bb_over_loads {
	struct bb_estimate estimate;
	/* standard error of the estimate, and its degrees of freedom; NAN unless the estimate is
	 * bb_stratified_mean() */
	double se, df;
	double spread; /* p90 / p10 of the values; NAN for fewer than 3 loads */
	/* mean at the cheapest place and at the most expensive place; NAN if n_places is 0 */
	double least, most;
	/* number of places (JIT addresses modulo 64); 0 unless the estimate is
	 * bb_stratified_mean() */
	size_t n_places;
};

/* Combines the values x[n_series], one per load, without those that are NAN. If bpfbench chose the
 * JIT addresses of the loads (run/round.h), the estimate is bb_stratified_mean(), if that can be
 * computed. Otherwise it is the median, with the interval of order statistics. The estimate is NAN
 * if all values are NAN. */
void bb_case__over_loads(const struct bb_case *c, const double *x, struct bb_over_loads *ret);

struct bb_most_frequent {
	double value;
	double others; /* share of the samples with other values */
};

/* Returns the most frequent sample of all valid series, ns, as exact as the bins of the histogram
 * allow. It is NAN if there is none. */
struct bb_most_frequent bb_case__most_frequent(const struct bb_case *c);

void bb_report__summarise(struct bb_report *r);
