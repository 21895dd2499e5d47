/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_STATS_VERDICT_H
#define BB_STATS_VERDICT_H

#include "base/std.h"
#include "stats/estimate.h"

enum bb_verdict {
	BB_VERDICT_INCONCLUSIVE,
	BB_VERDICT_SAME,
	BB_VERDICT_REGRESSED,
	BB_VERDICT_IMPROVED,
	BB_N_VERDICTS,
};

/*
 * Returns the verdict by the interval of ln(new cost / old cost) at a practical threshold eps (0.01
 * is 1 %). regressed: lo > ln(1 + eps). improved: hi < -ln(1 + eps). same: the interval lies
 * between those two. inconclusive: all else, an interval with a NAN or with lo > hi, and an eps
 * that is not a finite number >= 0. At eps = 0, only the interval [0, 0] is "same".
 */
enum bb_verdict bb_verdict_of(struct bb_interval log_ratio, double eps);

/*
 * True if a second figure speaks against the change of a first one. The second figure of the same
 * runs changed by `other` (both changes are ln) with normal standard deviation sd. The change is
 * denied if `other` is three times as likely without it as with it: "positive" evidence, Kass &
 * Raftery 1995, section 3.2. False if an argument is NAN.
 */
bool bb_change_is_denied(double change, double other, double sd);

/*
 * Returns by what factor the number of observations must grow so that [lo, hi] lies on one side of
 * +limit and of -limit. Half the width goes with the square root of the number. The result is at
 * least 1.5, because a verdict by the interval alone may not survive a correction. The estimate
 * moves from one measurement to the next, and the advice must not follow it. So the estimate counts
 * as one standard error closer to the limit, and its distance as no smaller than that error, or
 * than the limit if that is less. INFINITY if the interval is as narrow as a tenth of the limit and
 * still has a limit in it; NAN if an argument is NAN.
 */
double bb_times_to_decide(double estimate, double lo, double hi, double limit);

/* Returns "inconclusive", "same", "regressed" or "improved"; "?" if out of range. */
const char *bb_verdict_name(enum bb_verdict verdict);

/* Returns 0, or -EINVAL if no verdict has that name. */
int bb_verdict_from_name(const char *name, enum bb_verdict *ret_verdict);

/*
 * Adjusts p-values by Holm's step-down method (Holm 1979): reject if adjusted <= alpha, and the
 * chance of any false rejection among all n is at most alpha. A NAN in p marks a comparison that
 * was not made: it stays NAN and does not count. ret_adjusted[n] may be p itself. Returns 0,
 * -EINVAL if a p is outside [0, 1], or -ENOMEM.
 */
int bb_holm(const double *p, size_t n, double *ret_adjusted);

#endif
