/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "core/hist.h"

/* Quantiles of type 7 of Hyndman & Fan 1996, "Sample quantiles in statistical packages" (the
 * default of R). With h = 1 + (n - 1) p, quantile p is interpolated linearly between x(floor(h))
 * and x(floor(h) + 1). */

/* Least number of samples for the 50th, 90th and 99th percentile. At least ten samples then lie
 * above the percentile. */
#define BB_P50_MIN 20
#define BB_P90_MIN 100
#define BB_P99_MIN 1000

/* Turns a median absolute deviation into a standard deviation: 1 / (third quartile of the standard
 * normal distribution). */
#define BB_MAD_TO_SD 1.4826

/* Sorts x[n] ascending, NANs last. */
void bb_sort_doubles(double *x, size_t n);

/* x[n] is ascending and without NAN. Returns NAN if n == 0 or p is not in [0, 1]. */
double bb_quantile_sorted(const double *x, size_t n, double p);

/* Sorts x. Returns NAN if n == 0 or a value is NAN. */
double bb_median(double *x, size_t n);

/* Returns the same quantile as bb_quantile_sorted() for the single values, to the last bit, in
 * O(bins). NAN if there is no value or p is not in [0, 1]. */
double bb_hist_quantile(const struct bb_sorted *s, double p);
