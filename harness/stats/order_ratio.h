/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_STATS_ORDER_RATIO_H
#define BB_STATS_ORDER_RATIO_H

#include <stddef.h>

#include "stats/estimate.h"

/*
 * The ratio of two medians from two independent samples, b / a: two runs at two times share no
 * randomisation, so nothing is paired. Each median has its order-statistic interval
 * (stats/estimate.h) at 1 - alpha / 2; together they hold at 1 - alpha (Bonferroni), whatever the
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

/* All NAN when a sample is empty, alpha is not in (0, 1) or a value is not as said above. */
struct bb_order_ratio bb_order_ratio(const double *a, size_t n_a, const double *b, size_t n_b,
				     double alpha);

/*
 * p-value of "median b <= factor * median a", by inverting the interval: the smallest alpha at
 * which its lower end is above `factor`; 1 if there is none. So p <= alpha exactly when the
 * interval at alpha says so, as Holm's correction needs. For "median b >= median a / factor"
 * exchange the two samples. NAN as above or if factor <= 0.
 */
double bb_order_ratio_p(const double *a, size_t n_a, const double *b, size_t n_b, double factor);

/* Values that each of the two samples must have for an interval at 1 - alpha. 0 if alpha is not in
 * (0, 1). */
size_t bb_order_ratio_needs(double alpha);

#endif
