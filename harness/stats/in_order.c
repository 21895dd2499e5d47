/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stats/in_order.h"

#include <math.h>

#include "stats/signed_rank.h"
#include "stats/special.h"

/* Half the width of the interval over groups. */
static int half_width(const double *x, size_t n, size_t groups, double alpha, double *ret_half)
{
	double mean = 0, squares = 0; /* of squared differences (Welford 1962) */

	for (size_t g = 0; g < groups; g++) {
		size_t first = g * n / groups, end = (g + 1) * n / groups;
		struct bb_signed_rank r;
		double off;
		int rc = bb_signed_rank(x + first, end - first, alpha, &r);

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

int bb_in_order(const double *x, size_t n, size_t processes, double alpha,
		struct bb_in_order *ret_result)
{
	size_t groups = processes > BB_IN_ORDER_GROUPS ? processes : BB_IN_ORDER_GROUPS;
	struct bb_signed_rank r;
	double half = 0;
	int rc = bb_signed_rank(x, n, alpha, &r);

	if (!rc && n >= 2 * groups)
		rc = half_width(x, n, groups, alpha, &half);
	if (rc)
		return rc;
	*ret_result = (struct bb_in_order){r.estimate, r.interval};
	if (half > 0) {
		ret_result->interval.lo = fmin(r.interval.lo, r.estimate - half);
		ret_result->interval.hi = fmax(r.interval.hi, r.estimate + half);
	}
	return 0;
}
