/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stats/in_order.h"

#include <math.h>

#include "stats/signed_rank.h"
#include "stats/special.h"

#define GROUPS BB_IN_ORDER_GROUPS

/* Half the width of the interval over groups. */
static int half_width(const double *x, size_t n, double alpha, double *ret_half)
{
	double v[GROUPS], mean = 0, squares = 0;

	for (size_t g = 0; g < GROUPS; g++) {
		size_t first = g * n / GROUPS, end = (g + 1) * n / GROUPS;
		struct bb_signed_rank r;
		int rc = bb_signed_rank(x + first, end - first, alpha, &r);

		if (rc)
			return rc;
		v[g] = r.estimate;
		mean += v[g] / GROUPS;
	}
	for (size_t g = 0; g < GROUPS; g++)
		squares += (v[g] - mean) * (v[g] - mean);
	*ret_half = bb_student_critical(alpha, GROUPS - 1) * sqrt(squares / (GROUPS - 1) / GROUPS);
	return 0;
}

int bb_in_order(const double *x, size_t n, double alpha, struct bb_in_order *ret_result)
{
	struct bb_signed_rank r;
	double half = 0;
	int rc = bb_signed_rank(x, n, alpha, &r);

	if (!rc && n >= 2 * GROUPS)
		rc = half_width(x, n, alpha, &half);
	if (rc)
		return rc;
	*ret_result = (struct bb_in_order){r.estimate, r.interval};
	if (half > 0) {
		ret_result->interval.lo = fmin(r.interval.lo, r.estimate - half);
		ret_result->interval.hi = fmax(r.interval.hi, r.estimate + half);
	}
	return 0;
}
