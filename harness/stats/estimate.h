/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "core/hist.h"

/* The cost of a program: the mean of each load without outliers, and the median over loads. A load
 * is one loading of the program into the kernel (docs/methods/loads.md). Functions of a `struct
 * bb_sorted` take O(bins) time and allocate no memory. For a series without values they return
 * NAN. */

/* A closed interval. NAN, NAN means that there is none. */
struct bb_interval {
	double lo, hi;
};

/*
 * Returns the tick of the clock that gave these times, ns: the greatest common divisor of their
 * differences, at least 1. Returns 1 with fewer than 2 distinct values. Values above 2 * median +
 * 100 ns are left out, because an outlier far above equal values would look like a tick.
 *
 * The histogram rounds values from BB_HIST_EXACT on. Two or more exact values are used alone.
 * Otherwise all values are used, rounded down to the start of their buckets.
 *
 * A tick that is not a whole number (24 MHz: 41.67 ns) shows as 83, 84, 125, 166, 167, ... It is
 * recognised by at least 3 multiples, 8 ns or more apart, if all values are multiples within the
 * rounding error.
 */
double bb_tick(const struct bb_sorted *s);

/* Returns how far the outlier threshold is above the median, ns: max(5 * IQR, 3 * tick, 10 ns). A
 * tick of NAN or 0 does not count. */
double bb_censor_margin(double iqr_ns, double tick_ns);

/* Results of bb_censor_series(). Without values, all but tick_ns are NAN. */
struct bb_censor {
	double tick_ns;
	double threshold_ns; /* values above it are outliers */
	double mean_ns;      /* mean of the other values */
	double share_of_n;   /* share of outliers in the number of values, 0 to 1 */
	double share_of_sum; /* share of outliers in the sum of all values, 0 to 1 */
};

/* Separates the outliers from a series. */
struct bb_censor bb_censor_series(const struct bb_sorted *s);

/* Returns the rank k for the order-statistic interval of a median: the largest k with 2 P(Bin(n,
 * 1/2) <= k - 1) <= alpha (David & Nagaraja 2003, section 7.1). Returns 0 if there is no such k (n
 * < 6 at 5 %) or alpha is not in (0, 1). */
size_t bb_order_rank(size_t n, double alpha);

/* Returns the interval [x(k), x(n + 1 - k)] for the median of sorted[n] (ascending), with k of
 * bb_order_rank(). NAN, NAN if k = 0 or a value is NAN. */
struct bb_interval bb_order_interval(const double *sorted, size_t n, double alpha);

struct bb_location {
	double value;
	struct bb_interval interval;
	double spread; /* p90 / p10 over loads; NAN with fewer than 2 loads or p10 <= 0 */
	size_t n;      /* number of values that are not NAN */
};

/* Returns the median over loads with its interval. x[n] has one value per load, in any order. NAN
 * marks a load that does not count. If none counts, all results are NAN, and n is 0. */
struct bb_location bb_location_over_loads(const double *x, size_t n, double alpha);

/*
 * The ratio of the medians of two independent samples a and b, such as two runs of bpfbench. The
 * median of a has the interval [lo_a, hi_a] at 1 - alpha / 2, and that of b has [lo_b, hi_b]
 * (bb_order_interval()). Both intervals hold together with probability >= 1 - alpha (Bonferroni),
 * for any distributions. So [lo_b / hi_a, hi_b / lo_a] holds the ratio. The interval of Mann &
 * Whitney (1947) is narrower, but assumes that both distributions have the same shape.
 *
 * The functions take a[n_a] and b[n_b], ascending, finite and > 0.
 */
struct bb_order_ratio {
	double ratio; /* median of b / median of a */
	/* at confidence >= 1 - alpha; NAN, NAN with too few values (< 7 at 5 %) */
	struct bb_interval interval;
};

/* Computes the ratio and its interval. All results are NAN if a sample is empty, alpha is not in
 * (0, 1), or the values are not ascending, finite and > 0. */
struct bb_order_ratio bb_order_ratio(const double *a, size_t n_a, const double *b, size_t n_b,
				     double alpha);

/* Returns the p-value of the hypothesis "median b <= factor * median a": the smallest alpha at
 * which the interval of bb_order_ratio() lies above `factor`, or 1 if there is none. For "median b
 * >= median a / factor" exchange the samples. NAN where bb_order_ratio() gives NAN, or if factor is
 * not a finite number > 0. */
double bb_order_ratio_p(const double *a, size_t n_a, const double *b, size_t n_b, double factor);

/* Returns how many values of each sample bb_order_ratio() needs; 0 if alpha is not in (0, 1). */
size_t bb_order_ratio_needs(double alpha);
