/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "judge/by_line.h"

/* A row of a table that compares A with B. A and B are two stored runs, or the old program (base)
 * and the new one (head) in one run that measured both in turns. */

struct bb_diff {
	char *name;
	const char *metric; /* "latency", "net", ... */
	const char *unit;
	/* true if the figures are whole numbers without noise; the metric's name then ends in its
	 * unit */
	bool exact;
	double a, b;   /* figures of A and of B; NAN if missing */
	double shift;  /* b - a */
	double ratio;  /* b / a; NAN unless both are above 0 */
	double lo, hi; /* interval of `ratio`; NAN if there is none */
	/* P-value for a difference beyond the threshold, adjusted for the number of cases (Holm
	 * 1979). NAN without a verdict. */
	double p;
	enum bb_verdict verdict; /* inconclusive if !has_verdict */
	bool has_verdict;
	/* Estimate of what a verdict needs: the number of loads in A, and as many in B. For a live
	 * program: the seconds of watching it in A, and as many in B. NAN if there is no
	 * estimate. */
	double decides;
	const char *lookups; /* result of bb_failed_lookups(): NULL or a static text */
	char *note;
	/* First reason why a series of A [0] or of B [1] is void (does not count), or NULL. If one
	 * run measured A and B in turns, [0] is the first reason why a pair of loads is void. */
	const char *void_why[2];
};

struct bb_diffs {
	struct bb_diff *rows;
	size_t n;
	double threshold; /* smallest difference that matters; 0.01 is 1 % */
	/* each interval has the level 1 - alpha; 0 if the rows do not compare stored runs */
	double alpha;
	char **warnings; /* one line each, about the runs as a whole */
	size_t n_warnings;
};

/* Returns a static text if map lookups failed in A alone or in B alone, which makes the comparison
 * unfair. Otherwise returns NULL. `a` and `b` may be NULL. */
const char *bb_failed_lookups(const struct bb_case *a, const struct bb_case *b);

struct bb_diff_opts {
	double threshold;
	/* chance of a false verdict over all cases; intervals have the level 1 - alpha */
	double alpha;
	bool force; /* give verdicts even if the machines differ or a run is incomplete */
};

/*
 * Compares the cases with equal names of two stored runs. Both runs must be summarised.
 *
 * The row `latency` has the ratio of the latencies, its interval at 1 - alpha, and a verdict. The
 * two runs share no randomisation, so their loads are two independent samples. Unless bpfbench
 * distributed the loads over JIT addresses modulo 64 (run/round.h), an interval at alpha = 5 %
 * needs 7 loads of A and 7 of B (stats/estimate.h). "regressed" and "improved" must also be
 * significant after Holm's correction for the number of cases (Holm 1979).
 *
 * Other figures have no verdict. Empty programs have none, either. Latencies of `bpfbench inside`
 * have none, because A and B have one load each, perhaps under different work. If the machines
 * differ or a run is incomplete, there are warnings, and all verdicts are inconclusive unless
 * opts->force is set.
 *
 * The last rows are the exact metrics (core/metric.c) that differ. They have no verdict, because
 * the row `latency` tells whether an added instruction matters.
 *
 * Returns 0, or -EINVAL for opts out of bounds.
 */
int bb_diff_reports(const struct bb_report *a, const struct bb_report *b,
		    const struct bb_diff_opts *opts, struct bb_diffs *ret_diffs,
		    struct bb_err *err);

/* Makes rows of n judged comparisons, beginning with r->comparisons[first]: "latency" with a
 * verdict and, if the empty program was measured, "net". The exact metrics in which the two
 * programs differ come last, scenario by scenario. */
void bb_diff_comparisons(const struct bb_report *r, size_t first, size_t n,
			 struct bb_diffs *ret_diffs);

void bb_diffs__done(struct bb_diffs *d);

size_t bb_diffs_count(const struct bb_diffs *d, enum bb_verdict verdict);

/* Sorts by "COLUMN" or "COLUMN:asc|desc" (BB_DIFF_COLUMNS). The order of verdicts is regressed,
 * inconclusive, improved, same. Rows without a number or verdict come last in both directions.
 * Returns 0 or -EINVAL. */
int bb_diff_sort(struct bb_diffs *d, const char *by, struct bb_err *err);

/* Keeps the rows that fulfil "COLUMN OP VALUE". For the columns name, metric, verdict and note, OP
 * is = or !=, or with a shell pattern ~ or !~, as in "name ~ *ringbuf*". A row without a verdict
 * has the verdict "". For the columns a, b, shift, percent and p, OP is one of < <= > >= = !=. A
 * row without a number never fulfils such a condition. Returns 0, or -EINVAL for a bad
 * condition. */
int bb_diff_filter(struct bb_diffs *d, const char *condition, struct bb_err *err);

/* Removes the row `net` of each case whose `latency` row is `same` or `inconclusive`. Such a row
 * would mislead: a net is a small figure, so even a small difference is a large share of it. */
void bb_diff_drop_nets(struct bb_diffs *d);

#define BB_DIFF_COLUMNS "name, metric, a, b, shift, percent, p, verdict, note"

/* The verdict on the instructions per run of an old and a new case. There is no tolerance: one
 * instruction more is regressed, one less is improved. If the runs of a case executed different
 * numbers of instructions, its count is a range. If a range overlaps the other count, the verdict
 * is inconclusive. It is also inconclusive if a case has no run, or is void because a run returned
 * an unexpected result. Counts of different machines can be compared. */
struct bb_exact_row {
	const char *name;
	const struct bb_counted_case *a, *b; /* the old and the new case */
	enum bb_verdict verdict;
};

/* A source line whose instructions per run changed. Lines are matched by file name and text. */
struct bb_exact_line {
	/* the line in the new program, or in the old program if the new one lacks it */
	const struct bb_counted_line *line;
	double more; /* new minus old instructions per run, over all cases */
};

struct bb_exact_program {
	const struct bb_counted *a, *b;
	struct bb_exact_line *lines; /* sorted, largest change first */
	size_t n_lines;
};

/* The comparison of two reports. The members point into both reports. */
struct bb_exact_diff {
	struct bb_exact_row *rows;
	size_t n_rows;
	struct bb_exact_program *programs;
	size_t n_programs;
	size_t n_only_a, n_only_b; /* numbers of cases that only `a` has and that only `b` has */
};

/* Compares the cases with equal names or, if `base` and `head` are not NULL, the cases of variant
 * `base` in `a` with those of variant `head` in `b`. Returns 0, or -ENODATA if nothing can be
 * compared. */
int bb_exact_diff__make(const struct bb_report *a, const struct bb_report *b, const char *base,
			const char *head, struct bb_exact_diff *ret_diff, struct bb_err *err);
void bb_exact_diff__done(struct bb_exact_diff *d);

size_t bb_exact_diff__count(const struct bb_exact_diff *d, enum bb_verdict verdict);

/*
 * Two programs compared line by line. The drive `lines` timed both, in one run of bpfbench or in
 * two. Lines are matched as `diff` matches two texts: by the longest common sequence, in the order
 * in which a run reaches the lines. Two lines match if their source texts and calls are equal.
 *
 * If there are two runs, the machine may have been slower in one of them. Both runs timed one or
 * two references, which are fixed pieces of work: instructions and, if the program wakes somebody,
 * wakeups. A line of two runs counts as different only if its time in ns differs, and also its time
 * relative to each reference.
 */
struct bb_time_diff_row {
	/* the row of the old and of the new program; NULL if that program does not have it */
	const struct bb_timed_row *a, *b;
	double a_ns, b_ns; /* 0 if `a` or `b` is NULL */
	/* b_ns - a_ns. The interval has the level 1 - alpha over all rows together. */
	struct bb_estimate more;
	enum bb_verdict verdict;
};

struct bb_time_diff_case {
	const struct bb_timed *a, *b;
	struct bb_time_diff_row whole; /* the whole run; its `a` and `b` are NULL */
	const char *note;              /* from bb_time_diff_opts.whole; may be NULL */
	const char *lookups;           /* result of bb_failed_lookups() */
	/* How much slower the machine was in b's run than in a's, as a share, by each reference. 0
	 * if a and b are of one run. NAN if the reference was not measured or does not apply. */
	double slower[BB_N_REFERENCES];
	struct bb_time_diff_row *rows; /* sorted, largest difference first */
	size_t n_rows;
	/* number of loads that both programs have, and number of loads that a verdict needs; 0 if a
	 * and b are of two runs */
	size_t n_loads, needs_loads;
	/* Medians over the rows whose verdict is inconclusive, or NAN. `half_ns` is half the width
	 * of a row's interval. `times` is the factor by which the number of loads must grow to give
	 * another verdict (stats/verdict.h). */
	double half_ns, times;
};

/* True if the row explains a part of the difference. Then its verdict is regressed or improved, or
 * only one program has the line and its time is at least BB_BY_LINE_LEAST_NS. */
static inline bool bb_time_diff_row__differs(const struct bb_time_diff_row *r)
{
	return r->verdict == BB_VERDICT_REGRESSED || r->verdict == BB_VERDICT_IMPROVED ||
	       ((!r->a || !r->b) && (r->b ? 1 : -1) * r->more.value >= BB_BY_LINE_LEAST_NS);
}

struct bb_time_diff {
	struct bb_time_diff_case *cases;
	size_t n_cases;
	/* the command-line option that gives more loads, or NULL, and its value in this run */
	const char *option;
	double amount;
};

struct bb_time_diff_opts {
	/* names of the two variants to compare; NULL to compare each variant with the variant of
	 * the same name in base_run */
	const char *base, *head;
	/* the run that has base; NULL if base and head were measured in the same loads */
	const struct bb_report *base_run;
	/* figures of whole runs: rows `latency` of bb_diff_reports(), or NULL to compute them */
	const struct bb_diffs *whole;
	/* smallest change of a line that matters, as a share, but at least BB_BY_LINE_LEAST_NS */
	double threshold;
	double alpha; /* chance of a false verdict over all lines of all cases */
	/* as in struct bb_time_diff */
	const char *option;
	double amount;
};

/* The result points into the reports. Returns 0, or -ENODATA without a case in common. */
int bb_time_diff__make(const struct bb_report *r, const struct bb_time_diff_opts *opts,
		       struct bb_time_diff *ret_diff, struct bb_err *err);
void bb_time_diff__done(struct bb_time_diff *d);

size_t bb_time_diff__count(const struct bb_time_diff *d, enum bb_verdict verdict);
