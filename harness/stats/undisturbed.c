/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stats/undisturbed.h"

#include <math.h>

#include "stats/quantile.h"

#define SHARE 0.03

/*
 * Of a normal distribution, the 5th, 10th and 30th percentiles are 1.645, 1.282 and 0.524 standard
 * deviations below the mean: 4 times the distance of the outer two above the 10th are 3.2 above the
 * mean.
 */
#define DISTANCES 4.0

double bb_undisturbed_most(double *x, size_t n)
{
	double low, spread;

	if (n < BB_UNDISTURBED_LEAST)
		return INFINITY;
	bb_sort_doubles(x, n);
	low = bb_quantile_sorted(x, n, 0.1);
	spread = bb_quantile_sorted(x, n, 0.3) - bb_quantile_sorted(x, n, 0.05);
	return low + fmax(SHARE * low, DISTANCES * spread);
}
