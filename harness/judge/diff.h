/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_JUDGE_DIFF_H
#define BB_JUDGE_DIFF_H

#include "base/err.h"
#include "base/std.h"
#include "report/report.h"
#include "stats/verdict.h"

/* A and B in rows, in the manner of veristat: two stored runs, or the comparisons measured in
 * one run. */

struct bb_diff {
	char *name;         /* name of the case or of the comparison */
	const char *metric; /* "latency", "net", ... */
	const char *unit;   /* unit of a, b and shift */
	bool exact;   /* the numbers are whole and without noise, and the metric's name ends in the
			 unit */
	double a, b;  /* NAN: missing */
	double shift; /* b - a; in measured comparisons the paired difference */
	double ratio, lo, hi; /* b / a with its interval; NAN: none */
	double p; /* p-value of being beyond the threshold, after Holm; NAN without a verdict */
	enum bb_verdict verdict; /* inconclusive if !has_verdict */
	bool has_verdict;
	char *note; /* NULL: none */
};

struct bb_diffs {
	struct bb_diff *rows;
	size_t n;
	char **warnings; /* one line each, about the whole, for stderr */
	size_t n_warnings;
	bool failed; /* out of memory; always false in results */
};

struct bb_diff_opts {
	double threshold; /* smallest difference that matters; 0.01 is 1 % */
	/* of all intervals, and of all verdicts "regressed" and "improved" together */
	double alpha;
	bool force; /* gives verdicts although machines differ or runs are incomplete */
};

/*
 * Compares two stored runs, case by case of the same name. Both must be summarised.
 *
 * `latency` has the ratio of the medians over loads, its interval at 1 - alpha, and a verdict. Two
 * runs at two times share no randomisation, so the loads are two independent samples
 * (stats/estimate.h; 7 loads per side at 5 %). "regressed" and "improved" must also survive Holm
 * 1979 over all cases. net, p50, p90 and p99 have no verdict. The figures of `bpfbench inside` have
 * none either: it has one load per side, under whatever load production had. Notes tell of cases
 * that one run lacks, void series, and missing intervals.
 *
 * If the fingerprints of the machines differ or a run is incomplete, there are warnings, and all
 * verdicts are inconclusive unless forced.
 *
 * The last rows are the exact metrics (core/metric.c) that differ, for each program in both runs.
 * They have no verdict: they have no noise, and the latency tells whether an instruction matters.
 *
 * Returns 0, -EINVAL for opts out of bounds, or -ENOMEM.
 */
int bb_diff_reports(const struct bb_report *a, const struct bb_report *b,
		    const struct bb_diff_opts *opts, struct bb_diffs *ret_diffs,
		    struct bb_err *err);

/*
 * Makes rows of n judged comparisons of one base and head, from the report's `first` on. Each has a
 * row "latency" (of the matched pairs, with the verdict) and, if it has a floor, a row "net". Then
 * come the exact metrics in which the two programs differ, scenario by scenario.
 */
int bb_diff_comparisons(const struct bb_report *r, size_t first, size_t n,
			struct bb_diffs *ret_diffs, struct bb_err *err);

void bb_diffs__done(struct bb_diffs *d);

/* Returns how many rows have that verdict. */
size_t bb_diffs_count(const struct bb_diffs *d, enum bb_verdict verdict);

/*
 * Sorts by "COLUMN" or "COLUMN:asc|desc": name, metric, a, b, shift, percent, p, verdict
 * (regressed, inconclusive, improved, same). Equal rows keep their order. Rows without a value come
 * last in both directions. Returns -EINVAL or -ENOMEM.
 */
int bb_diff_sort(struct bb_diffs *d, const char *by, struct bb_err *err);

/*
 * Keeps the rows that fulfil "COLUMN OP VALUE"; call it again for more conditions. name, metric,
 * verdict and note take = != ~ !~, the last two with a shell pattern ("name ~ *ringbuf*"). a, b,
 * shift, percent (a '%' may follow) and p take < <= > >= = !=, which a row without a number never
 * fulfils. The verdict of a row without one is empty. Returns -EINVAL for a bad condition.
 */
int bb_diff_filter(struct bb_diffs *d, const char *condition, struct bb_err *err);

/* for help texts */
#define BB_DIFF_COLUMNS "name, metric, a, b, shift, percent, p, verdict, note"

#endif
