/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "core/hist.h"

/*
 * The cost of a program: a censored mean per load, and the median over loads
 * (docs/methods/loads.md). Functions that take a `struct bb_sorted` take O(bins) time and allocate
 * no memory. For a series without values they return NAN.
 */

/* A closed interval. Both ends are NAN if there is no interval. */
struct bb_interval {
	double lo, hi;
};

/*
 * Returns the tick of the clock that gave these times, ns: the greatest common divisor of their
 * differences, at least 1; 1 with fewer than 2 distinct values. There are three corrections:
 *
 * - Values above 2 * median + 100 ns are left out. Otherwise the distance between one outlier and
 * the other values, if these are all equal, would look like a tick.
 *
 * - The histogram rounds values from BB_HIST_EXACT on. If two or more values are exact, only exact
 * values are used. Otherwise all are used, each rounded down to the start of its bucket. If no
 * value is exact, the tick is at least the width of a bucket.
 *
 * - A tick that is not a whole number (24 MHz: 41.67 ns) shows as 83, 84, 125, 166, 167, ... Such a
 * tick is recognised if there are at least 3 such multiples, with 8 ns or more between two of them,
 * and all of them are multiples of one tick within the rounding error.
 */
double bb_tick(const struct bb_sorted *s);

/* Returns the censoring threshold minus the median, ns: max(5 * IQR, 3 * tick, 10 ns). With a
 * tick of NAN or 0: max(5 * IQR, 10 ns). */
double bb_censor_margin(double iqr_ns, double tick_ns);

/* The results of bb_censor_series(). For a series without values, all but tick_ns are NAN. */
struct bb_censor {
	double tick_ns;
	double threshold_ns; /* median + bb_censor_margin() */
	double mean_ns;      /* mean of the values <= threshold_ns */
	double share_of_n;   /* share of the values that are outliers (> threshold_ns), 0 to 1 */
	double share_of_sum; /* sum of the outliers as a share of the sum of all values, 0 to 1 */
};

/* Censors a series. `tick_ns` is the clock's tick; 0 means bb_tick(s). A tick from the whole run of
 * bpfbench is more reliable than one from a single load. */
struct bb_censor bb_censor_series(const struct bb_sorted *s, double tick_ns);

/*
 * Returns the rank k for the interval of a median by order statistics: the largest k with 2
 * P(Bin(n, 1/2) <= k - 1) <= alpha; 0 if no k fulfils this (n < 6 at 5 %) or alpha is not in (0,
 * 1). David & Nagaraja 2003, section 7.1. O(n).
 */
size_t bb_order_rank(size_t n, double alpha);

/* Returns the interval [x(k), x(n + 1 - k)] for the median of sorted[n] (ascending), with k of
 * bb_order_rank(). NAN, NAN if k = 0 or a value is NAN. Does not allocate. */
struct bb_interval bb_order_interval(const double *sorted, size_t n, double alpha);

struct bb_location {
	double value;                /* median over loads */
	struct bb_interval interval; /* interval of the median, at the given alpha */
	double spread; /* p90 / p10 over loads; NAN if fewer than 2 loads or p10 <= 0 */
	size_t n;      /* number of loads that count: values of x[n] that are not NAN */
};

/*
 * Returns the median over loads with its interval. x[n] has one value per load, in any order; NAN
 * marks a void load, which does not count. If no load counts, the result's n is 0, and its other
 * members are NAN. Allocates a copy of x.
 */
struct bb_location bb_location_over_loads(const double *x, size_t n, double alpha);

/*
 * The ratio of the medians of two independent samples a and b, such as those of two runs of
 * bpfbench at different times. The median of a has the order-statistic interval [lo_a, hi_a] at 1 -
 * alpha / 2, and the median of b has [lo_b, hi_b]. Both intervals hold together with probability >=
 * 1 - alpha (Bonferroni), whatever the distributions are. Then [lo_b / hi_a, hi_b / lo_a] holds the
 * ratio, too. An interval by Mann & Whitney (1947) would be narrower, but it assumes that both
 * distributions have the same shape.
 *
 * The functions take a[n_a] and b[n_b], ascending, finite and > 0. They do not allocate.
 */
struct bb_order_ratio {
	double ratio; /* median of b / median of a */
	/* interval of `ratio` at confidence >= 1 - alpha; NAN, NAN with too few values (< 7 at 5
	 * %) */
	struct bb_interval interval;
};

/* Computes the ratio median of b / median of a, and its interval. All results are NAN if a sample
 * is empty, alpha is not in (0, 1), or the values are not ascending, finite and > 0. */
struct bb_order_ratio bb_order_ratio(const double *a, size_t n_a, const double *b, size_t n_b,
				     double alpha);

/*
 * Returns the p-value of the hypothesis "median b <= factor * median a": the smallest alpha at
 * which the lower end of the interval of bb_order_ratio() is above `factor`, or 1 if no alpha
 * fulfils this. So p <= alpha exactly if the interval at alpha lies above `factor`, as Holm's
 * correction requires. For "median b >= median a / factor" exchange the samples. NAN where
 * bb_order_ratio() gives NAN, or if factor is not a finite number > 0.
 */
double bb_order_ratio_p(const double *a, size_t n_a, const double *b, size_t n_b, double factor);

/* Returns how many values each of the two samples must have, so that bb_order_ratio() gives an
 * interval at this alpha; 0 if alpha is not in (0, 1). */
size_t bb_order_ratio_needs(double alpha);
