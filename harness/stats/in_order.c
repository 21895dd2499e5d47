/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stats/in_order.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "stats/signed_rank.h"
#include "stats/special.h"

/* Half the width of the interval over groups; group g ends before x[end[g]]. */
static int half_width(const double *x, const size_t *end, size_t groups, double alpha,
		      double *ret_half)
{
	double mean = 0, squares = 0; /* of squared differences (Welford 1962) */

	for (size_t g = 0; g < groups; g++) {
		size_t first = g ? end[g - 1] : 0;
		struct bb_signed_rank r;
		double off;
		int rc = bb_signed_rank(x + first, end[g] - first, alpha, &r);

		if (rc)
			return rc;
		off = r.estimate - mean;
		mean += off / (double)(g + 1);
		squares += off * (r.estimate - mean);
	}
	*ret_half = bb_student_critical(alpha, (double)groups - 1) *
		    sqrt(squares / (double)(groups - 1) / (double)groups);
	return 0;
}

/* Those of x[n] that are finite, into kept[], and where each process that has some ends there, if
 * these are enough for groups. Returns their number, or 0. */
static size_t by_process(const double *x, size_t n, size_t processes, double *kept, size_t *ret_n,
			 size_t *end)
{
	size_t groups = 0, k = 0;

	for (size_t p = 0; p < processes; p++) {
		size_t before = k;

		for (size_t i = p * n / processes; i < (p + 1) * n / processes; i++)
			if (isfinite(x[i]))
				kept[k++] = x[i];
		if (k > before)
			end[groups++] = k;
	}
	*ret_n = k;
	return groups >= BB_IN_ORDER_GROUPS ? groups : 0;
}

static size_t by_neighbours(size_t n, size_t *end)
{
	for (size_t g = 0; g < BB_IN_ORDER_GROUPS; g++)
		end[g] = (g + 1) * n / BB_IN_ORDER_GROUPS;
	return n >= 2 * BB_IN_ORDER_GROUPS ? BB_IN_ORDER_GROUPS : 0;
}

int bb_in_order(const double *x, size_t n, size_t processes, double alpha,
		struct bb_in_order *ret_result)
{
	double *kept = calloc(n + 1, sizeof(*kept)), half = 0;
	size_t *end, groups;
	struct bb_signed_rank r;
	int rc = -ENOMEM;

	processes = processes ? processes : 1;
	end = calloc(processes + BB_IN_ORDER_GROUPS, sizeof(*end));
	if (kept && end) {
		groups = by_process(x, n, processes, kept, &n, end);
		if (!groups)
			groups = by_neighbours(n, end);
		rc = bb_signed_rank(kept, n, alpha, &r);
		if (!rc && groups)
			rc = half_width(kept, end, groups, alpha, &half);
	}
	free(kept);
	free(end);
	if (rc)
		return rc;
	*ret_result = (struct bb_in_order){r.estimate, r.interval};
	if (half > 0) {
		ret_result->interval.lo = fmin(r.interval.lo, r.estimate - half);
		ret_result->interval.hi = fmax(r.interval.hi, r.estimate + half);
	}
	return 0;
}
