/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stats/sequential.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/quantile.h"
#include "stats/special.h"

double bb_eprocess_log(size_t n, size_t s)
{
	double m = (double)n, heads = (double)s;

	if (s > n)
		return NAN;
	if (!n)
		return 0;
	return m * M_LN2 + bb_lgamma(heads + 0.5) + bb_lgamma(m - heads + 0.5) - log(M_PI) -
	       bb_lgamma(m + 1);
}

size_t bb_eprocess_rank(size_t n, double alpha)
{
	double limit = -log(alpha);
	size_t lo = 0, hi = n / 2;

	if (!(alpha > 0 && alpha < 1))
		return 0;
	/* M falls towards s = n / 2, where it is at most 1 and never rejected. */
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (bb_eprocess_log(n, mid) >= limit)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct bb_interval bb_eprocess_interval(const double *d, size_t n, double alpha)
{
	struct bb_interval interval = {NAN, NAN};
	size_t k = bb_eprocess_rank(n, alpha);
	double *sorted = k ? malloc(n * sizeof(*sorted)) : NULL;

	if (!sorted)
		return interval;
	memcpy(sorted, d, n * sizeof(*sorted));
	bb_sort_doubles(sorted, n);
	if (!isnan(sorted[n - 1]))
		interval = (struct bb_interval){sorted[k - 1], sorted[n - k]};
	free(sorted);
	return interval;
}

double bb_eprocess_p(const double *d, size_t n, double theta, int direction)
{
	size_t against = 0; /* those that do not lie strictly beyond theta */

	for (size_t i = 0; i < n; i++) {
		if (isnan(d[i]))
			return NAN;
		against += !(direction > 0 ? d[i] > theta : d[i] < theta);
	}
	if (isnan(theta))
		return NAN;
	return 2 * against < n ? fmin(1, exp(-bb_eprocess_log(n, against))) : 1;
}
