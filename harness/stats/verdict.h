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
 * The verdict by the interval of ln(new cost / old cost) at a practical threshold eps (0.01 is 1
 * %): regressed if lo > ln(1 + eps), improved if hi < -ln(1 + eps), same if it lies within those
 * two, else inconclusive. So is an interval with a NAN or with lo > hi, and any interval when eps
 * is not a finite number >= 0. At eps = 0, "same" takes the interval [0, 0].
 */
enum bb_verdict bb_verdict_of(struct bb_interval log_ratio, double eps);

/*
 * One figure of some runs changed, and another of the same runs by `other` (both ln), which varies
 * normally by sd: is the other three times as likely without that change as with it? "Positive"
 * evidence against it: Kass & Raftery 1995, section 3.2. False where something is NAN.
 */
bool bb_change_is_denied(double change, double other, double sd);

/*
 * How many times the observations would make [lo, hi], half of whose width goes with their square
 * root, lie on one side of +limit and of -limit? At least 1.5 (what an interval alone says may not
 * survive a correction); INFINITY where the estimate is on a limit; NAN where something is.
 */
double bb_times_to_decide(double estimate, double lo, double hi, double limit);

/* "inconclusive", "same", "regressed", "improved"; "?" if out of range. */
const char *bb_verdict_name(enum bb_verdict verdict);

/* 0, or -EINVAL if there is no verdict of that name. */
int bb_verdict_from_name(const char *name, enum bb_verdict *ret_verdict);

/*
 * Holm's step-down adjustment (Holm 1979): reject where adjusted <= alpha, and the chance of any
 * false rejection among all n is at most alpha. A NAN in p stands for a comparison that was not
 * made: it stays NAN and is not counted. ret_adjusted[n] may be p itself. -EINVAL if a p is outside
 * [0, 1], -ENOMEM: it allocates (and frees) an index of n.
 */
int bb_holm(const double *p, size_t n, double *ret_adjusted);

#endif
