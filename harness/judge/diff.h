/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_JUDGE_DIFF_H
#define BB_JUDGE_DIFF_H

#include "base/err.h"
#include "base/std.h"
#include "report/report.h"
#include "stats/verdict.h"

/* A against B in rows, in the manner of veristat: of two stored runs, or of the comparisons
 * measured in one. */

struct bb_diff {
	char *name;           /* of the case, or of the comparison */
	const char *metric;   /* "latency", "net", ... */
	const char *unit;     /* of a, b and their difference: "ns" */
	bool exact;           /* whole numbers without noise; the metric's name ends in the unit */
	double a, b;          /* NAN: there is none */
	double shift;         /* b - a; of measured comparisons the paired one */
	double ratio, lo, hi; /* b / a with its interval; NAN where there is none */
	double p;             /* of being beyond the threshold, after Holm; NAN without a verdict */
	enum bb_verdict verdict; /* inconclusive where !has_verdict */
	bool has_verdict;
	char *note; /* NULL: nothing to add */
};

struct bb_diffs {
	struct bb_diff *rows;
	size_t n;
	char **warnings; /* of the whole, a line each, for stderr */
	size_t n_warnings;
	bool failed; /* out of memory while they were made; never so in what a caller gets */
};

struct bb_diff_opts {
	double threshold; /* practical: 0.01 is 1 % */
	/* of all intervals, and of all verdicts "regressed" and "improved" together */
	double alpha;
	bool force; /* verdicts in spite of different machines and incomplete runs */
};

/*
 * Two stored runs, case by case of the same name. `latency` has the ratio of the medians over
 * loads, its interval at 1 - alpha and a verdict by it: two runs at two times share no
 * randomisation, so the loads are two independent samples (stats/estimate.h; 7 loads a side at 5
 * %). "regressed" and "improved" must also survive Holm 1979 over all cases. net, p50, p90 and p99
 * are shown without a verdict; cases that one run lacks, void series and cases without an interval
 * have notes. Machines whose fingerprints differ, and incomplete runs, are warned of, and then all
 * verdicts are inconclusive unless forced. Last, of each program in both, the exact metrics
 * (core/metric.c) that differ at all, without a verdict: there is no noise to judge, and whether an
 * instruction more matters, the latency says. Both reports must be summarised. 0; -EINVAL for opts
 * out of bounds, -ENOMEM.
 */
int bb_diff_reports(const struct bb_report *a, const struct bb_report *b,
		    const struct bb_diff_opts *opts, struct bb_diffs *ret_diffs,
		    struct bb_err *err);

/*
 * Measured comparisons of one base and head that have been judged, `n` from the report's `first`
 * on: of each "latency" (the matched pairs, with the verdict), "latency unmatched" (pairs as the
 * JIT placed them) and "net" (of the floor). Rows of which there is nothing are left out, latency
 * never. Then, scenario by scenario, the exact metrics in which the two programs differ.
 */
int bb_diff_comparisons(const struct bb_report *r, size_t first, size_t n,
			struct bb_diffs *ret_diffs, struct bb_err *err);

void bb_diffs__done(struct bb_diffs *d);

/* How many rows have that verdict. */
size_t bb_diffs_count(const struct bb_diffs *d, enum bb_verdict verdict);

/*
 * Sort by "COLUMN" or "COLUMN:asc|desc": name, metric, a, b, shift, percent, p, verdict (regressed,
 * inconclusive, improved, same). Equal rows keep their order; rows without a value come last either
 * way. -EINVAL, -ENOMEM.
 */
int bb_diff_sort(struct bb_diffs *d, const char *by, struct bb_err *err);

/*
 * Keep the rows of which "COLUMN OP VALUE" holds; call again for more conditions. name, metric,
 * verdict and note take = != ~ !~, the last two with a shell pattern ("name ~ *ringbuf*"). a, b,
 * shift, percent (a '%' may follow) and p take < <= > >= = !=; none of them holds where there is no
 * number. A row without a verdict has an empty one. -EINVAL.
 */
int bb_diff_filter(struct bb_diffs *d, const char *condition, struct bb_err *err);

/* "name, metric, ...": for help texts. */
#define BB_DIFF_COLUMNS "name, metric, a, b, shift, percent, p, verdict, note"

#endif
