/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "judge/by_line.h"

/* A row of a table that compares A with B, as veristat's tables do. A and B are two stored runs, or
 * base and head of the comparisons that one run measured. */

struct bb_diff {
	char *name;         /* name of the case or of the comparison */
	const char *metric; /* "latency", "net", ... */
	const char *unit;   /* unit of a, b and shift */
	bool exact;  /* the numbers are whole and without noise, and the metric's name ends in its
			unit */
	double a, b; /* figure of A and figure of B; NAN: missing */
	/* b - a. In a comparison measured now, b is the product of `a` and the ratio of the
	 * pairs */
	double shift;
	double ratio, lo, hi; /* b / a and its interval; NAN: there is none */
	/* p-value for a difference beyond the threshold; NAN: no verdict. bb_diff_reports() has
	 * adjusted it for the number of cases (Holm 1979) */
	double p;
	enum bb_verdict verdict; /* inconclusive if !has_verdict */
	bool has_verdict;
	/* estimate of what a verdict needs. Two stored runs: the number of loads that A and B each
	 * need. A live program: the seconds for which it must be watched in A and again in B. NAN:
	 * the row has a verdict, or the number is not known */
	double decides;
	/* text such as "lookups failed in A only"; for NULL see bb_failed_lookups() */
	const char *lookups;
	char *note; /* NULL: no note */
	/* the first reason why something is void: [0] of A's series, [1] of B's series; in a
	 * comparison measured now, [0] of the pairs. NULL: nothing is void */
	const char *void_why[2];
};

struct bb_diffs {
	struct bb_diff *rows;
	size_t n;
	double threshold; /* smallest difference that matters; 0.01 is 1 % */
	/* 1 - alpha is the confidence level of each interval. alpha is 0 if the rows do not compare
	 * stored runs */
	double alpha;
	char **warnings; /* one line each, about the runs as a whole */
	size_t n_warnings;
};

/* Returns a text that says that lookups failed in A alone or in B alone, which makes the comparison
 * unfair. NULL if lookups failed in neither or in both, or if that is not known. `a` and `b` may be
 * NULL. */
const char *bb_failed_lookups(const struct bb_case *a, const struct bb_case *b);

struct bb_diff_opts {
	double threshold; /* smallest difference that matters; 0.01 is 1 % */
	/* 1 - alpha is the confidence level of each interval; alpha is also the chance of a false
	 * "regressed" or "improved" over all cases together */
	double alpha;
	bool force; /* true: give verdicts even if the machines differ or a run is incomplete */
};

/*
 * Compares the cases with equal names of two stored runs. Both runs must be summarised.
 *
 * The row `latency` has the ratio of the latencies, its interval at 1 - alpha, and a verdict. Two
 * runs at two times share no randomisation, so their loads are two independent samples. Unless
 * bpfbench distributed the loads over the places (run/round.h), an interval at alpha = 5 % needs 7
 * loads of A and 7 of B (stats/estimate.h). "regressed" and "improved" must also be significant
 * after Holm's correction for the number of cases (Holm 1979). Three kinds of rows have no verdict:
 * other figures than the latency; empty programs; and latencies of `bpfbench inside`, which has
 * only one load in A and one in B, perhaps under different work. Notes tell, among other things,
 * that one run lacks a case, that series are void, or that an interval is missing.
 *
 * If the fingerprints of the machines differ or a run is incomplete, there are warnings, and all
 * verdicts are inconclusive unless opts->force is set.
 *
 * The last rows are the exact metrics (core/metric.c) that differ, for each program in both runs.
 * They are free of noise. They have no verdict, because the row `latency` tells whether an added
 * instruction matters.
 *
 * Returns 0, or -EINVAL for opts out of bounds.
 */
int bb_diff_reports(const struct bb_report *a, const struct bb_report *b,
		    const struct bb_diff_opts *opts, struct bb_diffs *ret_diffs,
		    struct bb_err *err);

/*
 * Makes rows of n judged comparisons of one base and head, beginning with r->comparisons[first].
 * Each has a row "latency" (of the matched pairs, with the verdict) and, if it has a floor, a row
 * "net". Then come the exact metrics in which the two programs differ, scenario by scenario.
 */
void bb_diff_comparisons(const struct bb_report *r, size_t first, size_t n,
			 struct bb_diffs *ret_diffs);

void bb_diffs__done(struct bb_diffs *d);

/* Returns how many rows have that verdict. */
size_t bb_diffs_count(const struct bb_diffs *d, enum bb_verdict verdict);

/* Sorts by "COLUMN" or "COLUMN:asc|desc". Columns: BB_DIFF_COLUMNS. In ascending order, verdicts
 * are regressed, inconclusive, improved, same. Equal rows keep their order. Rows without a number
 * or verdict come last in both directions. Returns 0 or -EINVAL. */
int bb_diff_sort(struct bb_diffs *d, const char *by, struct bb_err *err);

/*
 * Keeps the rows that fulfil "COLUMN OP VALUE"; call it again for more conditions.
 *
 * For the columns name, metric, verdict and note, OP is = or !=, or with a shell pattern ~ or !~:
 * "name ~ *ringbuf*". A row without a verdict counts as having the verdict "".
 *
 * For the columns a, b, shift, percent (a '%' may follow VALUE) and p, OP is one of < <= > >= = !=.
 * A row without a number never fulfils such a condition.
 *
 * Returns 0, or -EINVAL for a bad condition.
 */
int bb_diff_filter(struct bb_diffs *d, const char *condition, struct bb_err *err);

/* Removes the row `net` of each case whose row before it has the verdict `same` or `inconclusive`.
 * A row `net` has no verdict of its own, and even a small difference is a large share of its small
 * figure. */
void bb_diff_drop_nets(struct bb_diffs *d);

/* names of all columns, for help texts */
#define BB_DIFF_COLUMNS "name, metric, a, b, shift, percent, p, verdict, note"

/* --- comparison of executed instructions --- */

/*
 * The verdict on two counts of instructions, without tolerance: one more is regressed, one less is
 * improved, equal counts are the same. A count that is not exact is a range. A range wholly above
 * the other one is regressed, one wholly below it is improved, and any overlap is inconclusive.
 * Cases that are void or have no runs are inconclusive, too. Runs of different machines can be
 * compared.
 */
struct bb_exact_row {
	const char *name;                    /* name of the new case */
	const struct bb_counted_case *a, *b; /* the old and the new case */
	enum bb_verdict verdict;
};

/* A source line whose instructions per run changed. Lines are matched by file name and text,
 * because their numbers move. */
struct bb_exact_line {
	/* the line in the new program, or in the old one if it is gone */
	const struct bb_counted_line *line;
	double more; /* new minus old instructions per run, over all cases */
};

struct bb_exact_program {
	const struct bb_counted *a, *b;
	struct bb_exact_line *lines; /* sorted, largest change first */
	size_t n_lines;
};

/* The cases that both runs have. Points into both reports. */
struct bb_exact_diff {
	struct bb_exact_row *rows;
	size_t n_rows;
	struct bb_exact_program *programs;
	size_t n_programs;
	/* numbers of cases: of those that only `a` has, and of those that only `b` has */
	size_t n_only_a, n_only_b;
};

/*
 * Compares the cases with equal names. If `base` and `head` are not NULL, compares the cases of
 * variant `base` in `a` with those of variant `head` in `b` instead. Returns 0, or -ENODATA if
 * nothing can be compared.
 */
int bb_exact_diff__make(const struct bb_report *a, const struct bb_report *b, const char *base,
			const char *head, struct bb_exact_diff *ret_diff, struct bb_err *err);
void bb_exact_diff__done(struct bb_exact_diff *d);

size_t bb_exact_diff__count(const struct bb_exact_diff *d, enum bb_verdict verdict);

/* --- comparison of the times of source lines --- */

/*
 * Two programs compared line by line. The drive `lines` timed both in the same loads of one run, or
 * in two runs. Lines are matched as `diff` matches two texts: by the longest common sequence, in
 * the order in which a run reaches the lines. Two lines are equal if their source texts and calls
 * are equal. Line numbers and file names are not compared, because they change.
 *
 * If there are two runs, the machine may have been slower in one of them. Then a line counts as
 * different only if its time differs in ns and also relative to each reference. The references are
 * instructions and, if the program wakes somebody, wakeups.
 */
struct bb_time_diff_row {
	const struct bb_timed_row *a, *b; /* NULL: this program does not have the row */
	double a_ns, b_ns;                /* 0 if `a` or `b` is NULL */
	/* b - a, ns; its interval has the level 1 - alpha over all rows together */
	struct bb_estimate more;
	enum bb_verdict verdict;
};

struct bb_time_diff_case {
	const struct bb_timed *a, *b;
	struct bb_time_diff_row whole; /* the whole run; its `a` and `b` are NULL */
	const char *note;              /* as in struct bb_diff; owned by bb_time_diff_opts.whole */
	const char *lookups;           /* as in struct bb_diff */
	/*
	 * by how much the machine was slower in b's run than in a's, as a share, judged by each
	 * reference. 0: a and b are of one run. NAN: the reference was not measured, or it is not
	 * one that applies to the program
	 */
	double slower[BB_N_REFERENCES];
	struct bb_time_diff_row *rows; /* sorted, largest difference first */
	size_t n_rows;
	/* n_loads: number of loads that both programs have. needs_loads: number of loads that a
	 * verdict on a line needs. Both are 0 if a and b are of two runs */
	size_t n_loads, needs_loads;
	/*
	 * Both are medians over the lines without a verdict. half_ns: half the width of the
	 * interval. times: the factor by which the number of loads must grow to give a verdict
	 * (stats/verdict.h). NAN: all lines have a verdict, or there are no intervals
	 */
	double half_ns, times;
};

/*
 * True if the row explains a part of the difference. That is so if its verdict is regressed or
 * improved, or if only one program has the line and its time is at least BB_BY_LINE_LEAST_NS. A
 * shorter time is noise.
 */
static inline bool bb_time_diff_row__differs(const struct bb_time_diff_row *r)
{
	return r->verdict == BB_VERDICT_REGRESSED || r->verdict == BB_VERDICT_IMPROVED ||
	       ((!r->a || !r->b) && (r->b ? 1 : -1) * r->more.value >= BB_BY_LINE_LEAST_NS);
}

struct bb_time_diff {
	struct bb_time_diff_case *cases;
	size_t n_cases;
	/* option: the option of the command that gives more loads; NULL: there is no such option.
	 * amount: its value in this run */
	const char *option;
	double amount;
};

struct bb_time_diff_opts {
	/* names of the variants to compare; NULL: every variant is compared with the variant of the
	 * same name in base_run */
	const char *base, *head;
	/* the run that has base, if head is in another run; NULL: base and head were measured in
	 * the same loads of one run */
	const struct bb_report *base_run;
	/* result of bb_diff_reports() for the same two runs. The verdict on a whole run, and its
	 * figures, are those of the case's row `latency` there. NULL: they come from the times of
	 * the whole run, load by load */
	const struct bb_diffs *whole;
	double threshold; /* smallest change of a line that matters, as a share of its time; a
			     change below BB_BY_LINE_LEAST_NS never matters */
	double alpha;     /* chance of a false verdict over all lines of all cases */
	/* as in struct bb_time_diff */
	const char *option;
	double amount;
};

/* Compares all cases that both base and head have. The result points into the reports. Returns 0,
 * or -ENODATA if there are no such cases. */
int bb_time_diff__make(const struct bb_report *r, const struct bb_time_diff_opts *opts,
		       struct bb_time_diff *ret_diff, struct bb_err *err);
void bb_time_diff__done(struct bb_time_diff *d);

/* Returns how many lines of all cases have that verdict. */
size_t bb_time_diff__count(const struct bb_time_diff *d, enum bb_verdict verdict);
