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

/* Returns the verdict by the interval of ln(new cost / old cost). eps is the smallest change that
 * matters (0.01 is 1 %). regressed: lo > ln(1 + eps). improved: hi < -ln(1 + eps). same: the
 * interval lies within [-ln(1 + eps), ln(1 + eps)]. inconclusive: all else, also if lo or hi is
 * NAN, lo > hi, or eps is not a finite number >= 0. */
enum bb_verdict bb_verdict_of(struct bb_interval log_ratio, double eps);

/* True if a second figure of the same runs denies the change of the first figure. `change` and
 * `other` are the changes of the first and the second figure, in ln. `other` is normally
 * distributed with the standard deviation `sd`. It denies the change if it is three times as likely
 * without the change as with it ("positive" evidence: Kass & Raftery 1995, section 3.2). False if
 * an argument is NAN. */
bool bb_change_is_denied(double change, double other, double sd);

/*
 * Returns the factor by which the number of observations must grow until neither +limit nor -limit
 * is inside [lo, hi]. The width of the interval shrinks with the square root of the number. The
 * factor is at least 1.5, because Holm's correction may undo a verdict that the interval only just
 * allows. INFINITY if a limit is inside an interval whose half width is below a tenth of the limit.
 * NAN if an argument is NAN.
 *
 * The advice must not change as the estimate varies from one measurement to the next. So one
 * standard error is subtracted from the distance between estimate and limit. The reduced distance
 * is at least the smaller of the standard error and the limit.
 */
double bb_times_to_decide(double estimate, double lo, double hi, double limit);

const char *bb_verdict_name(enum bb_verdict verdict);

int bb_verdict_from_name(const char *name, enum bb_verdict *ret_verdict);

/* Adjusts the p-values p[n] by Holm's step-down method (Holm 1979). Whoever rejects the hypotheses
 * with an adjusted p-value <= alpha rejects a true one with probability at most alpha. A NAN stays
 * NAN and does not count. ret_adjusted[n] may be p itself. */
void bb_holm(const double *p, size_t n, double *ret_adjusted);
