/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "stats/estimate.h"

#define BB_ALPHA 0.05 /* significance level of verdicts and intervals */

enum bb_verdict {
	BB_VERDICT_INCONCLUSIVE,
	BB_VERDICT_SAME,
	BB_VERDICT_REGRESSED,
	BB_VERDICT_IMPROVED,
	BB_N_VERDICTS,
};

/* Returns the verdict by the interval of ln(new cost / old cost) at a practical threshold eps (0.01
 * is 1 %). regressed: lo > ln(1 + eps). improved: hi < -ln(1 + eps). same: the interval lies within
 * [-ln(1 + eps), ln(1 + eps)]. inconclusive: all else; also if lo or hi is NAN, if lo > hi, or if
 * eps is not a finite number >= 0. At eps = 0, only the interval [0, 0] is "same". */
enum bb_verdict bb_verdict_of(struct bb_interval log_ratio, double eps);

/*
 * True if a second figure of the same runs denies the change of the first figure. `change` and
 * `other` are the changes of the first and the second figure, in ln. `other` counts as normally
 * distributed with the standard deviation `sd`. The change is denied if `other` is three times as
 * likely without the change as with it ("positive" evidence: Kass & Raftery 1995, section 3.2).
 * False if an argument is NAN.
 */
bool bb_change_is_denied(double change, double other, double sd);

/*
 * Returns the factor by which the number of observations must grow until neither +limit nor -limit
 * is inside [lo, hi]. The width of the interval shrinks with the square root of the number. The
 * result is at least 1.5, because Holm's correction may undo a verdict that the interval only just
 * allows.
 *
 * The advice must not change as the estimate varies from one measurement to the next. So one
 * standard error is subtracted from the distance between estimate and limit. If the result is
 * smaller than both the standard error and the limit, the smaller of these two replaces it.
 * INFINITY if a limit is inside an interval whose half width is below a tenth of the limit; NAN if
 * an argument is NAN.
 */
double bb_times_to_decide(double estimate, double lo, double hi, double limit);

/* Returns "inconclusive", "same", "regressed" or "improved"; "?" if out of range. */
const char *bb_verdict_name(enum bb_verdict verdict);

/* Finds the verdict with that name. Returns 0, or -EINVAL if there is none. */
int bb_verdict_from_name(const char *name, enum bb_verdict *ret_verdict);

/* Adjusts the p-values p[n] by Holm's step-down method (Holm 1979). Whoever rejects the hypotheses
 * with an adjusted p-value <= alpha rejects a true one with probability at most alpha. A NAN in p
 * marks a comparison that was not made: it stays NAN and does not count. ret_adjusted[n] may be p
 * itself. */
void bb_holm(const double *p, size_t n, double *ret_adjusted);
