/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "report/report.h"

/* A and B in rows, in the manner of veristat: two stored runs, or the comparisons measured in
 * one run. */

struct bb_diff {
	char *name;         /* name of the case or of the comparison */
	const char *metric; /* "latency", "net", ... */
	const char *unit;   /* unit of a, b and shift */
	bool exact;   /* the numbers are whole and without noise, and the metric's name ends in its
			 unit */
	double a, b;  /* NAN: missing */
	double shift; /* b - a; in measured comparisons, b is a times the ratio of the pairs */
	double ratio, lo, hi; /* b / a and its interval; NAN: none */
	double p;             /* p-value of the difference being beyond the threshold; after Holm in
				 bb_diff_reports(); NAN without a verdict */
	enum bb_verdict verdict; /* inconclusive if !has_verdict */
	bool has_verdict;
	char *note; /* NULL: no note */
};

struct bb_diffs {
	struct bb_diff *rows;
	size_t n;
	char **warnings; /* one line each, about the runs as a whole, for stderr */
	size_t n_warnings;
	bool failed; /* true if out of memory; always false in results */
};

struct bb_diff_opts {
	double threshold; /* smallest difference that matters; 0.01 is 1 % */
	/* 1 - alpha is the level of each interval; alpha is also the chance of a false
	 * "regressed" or "improved" over all cases together */
	double alpha;
	bool force; /* gives verdicts even if the machines differ or a run is incomplete */
};

/*
 * Compares two stored runs, case by case of the same name. Both must be summarised.
 *
 * The row `latency` has the ratio of the latencies, its interval at 1 - alpha, and a verdict. Two
 * runs at two times share no randomisation, so the loads are two independent samples. If their
 * places are not known, an interval at 5 % needs 7 loads per side (stats/estimate.h). "regressed"
 * and "improved" must also survive Holm 1979 over all cases. No other figure has a verdict. The
 * latency of `bpfbench inside` has none either, because it comes from one load per side, under
 * whatever work production had. Notes tell, among other things, of cases that one run lacks, void
 * series, and missing intervals.
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
 * Makes rows of n judged comparisons of one base and head, beginning with r->comparisons[first].
 * Each has a row "latency" (of the matched pairs, with the verdict) and, if it has a floor, a row
 * "net". Then come the exact metrics in which the two programs differ, scenario by scenario.
 */
int bb_diff_comparisons(const struct bb_report *r, size_t first, size_t n,
			struct bb_diffs *ret_diffs, struct bb_err *err);

void bb_diffs__done(struct bb_diffs *d);

/* Returns how many rows have that verdict. */
size_t bb_diffs_count(const struct bb_diffs *d, enum bb_verdict verdict);

/*
 * Sorts by "COLUMN" or "COLUMN:asc|desc". Columns: BB_DIFF_COLUMNS. Verdicts are sorted: regressed,
 * inconclusive, improved, same. Equal rows keep their order. Rows without a number or verdict come
 * last in both directions. Returns 0, -EINVAL or -ENOMEM.
 */
int bb_diff_sort(struct bb_diffs *d, const char *by, struct bb_err *err);

/*
 * Keeps the rows that fulfil "COLUMN OP VALUE"; call it again for more conditions.
 *
 * The columns name, metric, verdict and note take = and !=, and with a shell pattern ~ and !~:
 * "name ~ *ringbuf*". The verdict of a row without one is "".
 *
 * The columns a, b, shift, percent (a '%' may follow) and p take < <= > >= = and !=. A row without
 * a number never fulfils such a condition.
 *
 * Returns 0, or -EINVAL for a bad condition.
 */
int bb_diff_filter(struct bb_diffs *d, const char *condition, struct bb_err *err);

/* for help texts */
#define BB_DIFF_COLUMNS "name, metric, a, b, shift, percent, p, verdict, note"
