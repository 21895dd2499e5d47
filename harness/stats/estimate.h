/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_STATS_ESTIMATE_H
#define BB_STATS_ESTIMATE_H

#include "base/std.h"
#include "core/hist.h"

/*
 * The cost of a program: a censored mean per load, and the median over loads
 * (docs/methods/loads.md). Functions of a `struct bb_sorted` take O(bins) time and never allocate.
 * They return NAN for an empty one.
 */

/* A closed interval; NAN, NAN if there is none. */
struct bb_interval {
	double lo, hi;
};

/*
 * The clock's tick, ns: the gcd of the differences of the values, at least 1; 1 if fewer than 2
 * distinct values. Three departures from the plain gcd, each for a case where it is wrong:
 *  - values above 2 * median + 100 ns are left out: one outlier over a constant would pose as a
 * tick of its own size;
 *  - of values that the histogram rounds (>= BB_HIST_EXACT) only the lower ends of their buckets
 * are known: they are used only when there are not two exact ones, and the tick is then never below
 * the width of a bucket (0.05 %);
 *  - a tick that is not whole (24 MHz: 41.67 ns) shows as 83, 84, 125, 166, 167, ...: recognised
 * when there are at least 3 multiples, 8 ns or more apart, all within rounding of one lattice.
 */
double bb_tick(const struct bb_sorted *s);

/* T - median = max(5 * IQR, 3 * tick, 10 ns), ns. A tick of NAN or 0 leaves that term out. */
double bb_censor_margin(double iqr_ns, double tick_ns);

/* Results of censoring a series. All but the tick are NAN for an empty one. */
struct bb_censor {
	double tick_ns;
	double threshold_ns; /* median + bb_censor_margin() */
	double mean_ns;      /* of the values <= threshold_ns */
	double share_of_n; /* number of outliers (values > threshold_ns) as a share of all values, 0
			      to 1 */
	double share_of_sum; /* their sum as a share of the sum of all values */
};

/* `tick_ns` is the clock's tick if known, because one tick for a whole run is steadier than one
 * per load; else 0, which means bb_tick(s). */
struct bb_censor bb_censor_series(const struct bb_sorted *s, double tick_ns);

/*
 * The rank k of the order-statistic interval for a median: the largest k with 2 P(Bin(n, 1/2) <= k
 * - 1) <= alpha; 0 if there is none (n < 6 at 5 %) or alpha is not in (0, 1). David & Nagaraja
 * 2003, section 7.1. O(n).
 */
size_t bb_order_rank(size_t n, double alpha);

/* Returns [x(k), x(n + 1 - k)] of sorted[n] (ascending). NAN, NAN if k = 0 or a value is NAN.
 * Does not allocate. */
struct bb_interval bb_order_interval(const double *sorted, size_t n, double alpha);

struct bb_location {
	double value;                /* median over loads */
	struct bb_interval interval; /* of the median, at the given alpha */
	double spread; /* p90 / p10 over loads; NAN if fewer than 2 loads or p10 <= 0 */
	size_t n;      /* loads counted: values of x[n] that are not NAN */
};

/*
 * Location over loads: x[n] has one value per load, in any order. NAN marks a void load, which is
 * left out. Allocates a copy of x. All results are NAN with n = 0 if x is empty, all void, or
 * without memory.
 */
struct bb_location bb_location_over_loads(const double *x, size_t n, double alpha);

/*
 * The ratio of two medians from two independent samples, b / a: two runs at two times share no
 * randomisation, so nothing is paired. Each median has its order-statistic interval
 * at 1 - alpha / 2; together they hold at 1 - alpha (Bonferroni), whatever the
 * two distributions are, and so then does [lo_b / hi_a, hi_b / lo_a]. It is wider than the interval
 * of a shift model (Mann & Whitney 1947), but two layouts of two programs need not follow such a
 * model.
 *
 * a[n_a] and b[n_b] are ascending, finite and > 0. Nothing here allocates.
 */
struct bb_order_ratio {
	double ratio; /* median b / median a */
	/* at confidence >= 1 - alpha; NAN, NAN with too few of either (< 7 at 5 %) */
	struct bb_interval interval;
};

/* All results are NAN if a sample is empty, alpha is not in (0, 1), or a value is not as
 * required above. */
struct bb_order_ratio bb_order_ratio(const double *a, size_t n_a, const double *b, size_t n_b,
				     double alpha);

/*
 * Returns the p-value of "median b <= factor * median a" by inverting the interval: the smallest
 * alpha at which the lower end is above `factor`, or 1 if there is none. So p <= alpha exactly if
 * the interval at alpha says so, as Holm's correction requires. For "median b >= median a / factor"
 * exchange the samples. NAN as above, or if factor <= 0.
 */
double bb_order_ratio_p(const double *a, size_t n_a, const double *b, size_t n_b, double factor);

/* Returns how many values each sample needs for an interval at 1 - alpha; 0 if alpha is not in
 * (0, 1). */
size_t bb_order_ratio_needs(double alpha);

#endif
