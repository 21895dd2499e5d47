/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stats/undisturbed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/quantile.h"

#define SHARE 0.03

/*
 * Of a normal distribution, the 5th, 10th and 30th percentiles are 1.645, 1.282 and 0.524 standard
 * deviations below the mean: 4 times the distance of the outer two above the 10th are 3.2 above the
 * mean.
 */
#define DISTANCES 4.0

#define GROUPS_LEAST 4u
#define GROUP_SHARE 0.02
#define GROUP_DEVIATIONS 2.0 /* a median of four has a standard error of 0.63 of them */

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

/* Into medians[groups], NAN for those without figures, which are last; returns how many have some.
 * room[n]: the distance of all figures from the median of their group, a share. */
static size_t find_medians(const double *x, size_t n, size_t groups, double *medians, double *room,
			   size_t *ret_n)
{
	size_t with_some = 0, all = 0;

	for (size_t g = 0; g < groups; g++) {
		size_t k = all;

		for (size_t i = g * n / groups; i < (g + 1) * n / groups; i++)
			if (isfinite(x[i]))
				room[k++] = x[i];
		medians[g] = bb_median(room + all, k - all);
		with_some += k > all;
		for (; all < k; all++)
			room[all] = fabs(room[all] / medians[g] - 1);
	}
	*ret_n = all;
	return with_some;
}

size_t bb_undisturbed_groups(double *x, size_t n, size_t groups)
{
	double *medians = calloc(2 * groups + n + 1, sizeof(*medians)), *sorted, *room,
	       most = INFINITY;
	size_t n_aside = 0, with_some, all;

	if (!medians)
		return 0;
	sorted = medians + groups;
	room = sorted + groups;
	with_some = find_medians(x, n, groups, medians, room, &all);
	memcpy(sorted, medians, groups * sizeof(*sorted));
	bb_sort_doubles(sorted, groups);
	if (with_some >= GROUPS_LEAST)
		most = bb_quantile_sorted(sorted, with_some, 0.25) *
		       (1 +
			fmax(GROUP_SHARE, GROUP_DEVIATIONS * BB_MAD_TO_SD * bb_median(room, all)));
	for (size_t g = 0; g < groups; g++)
		for (size_t i = g * n / groups; i < (g + 1) * n / groups; i++)
			if (medians[g] > most && isfinite(x[i])) {
				x[i] = NAN;
				n_aside++;
			}
	free(medians);
	return n_aside;
}
