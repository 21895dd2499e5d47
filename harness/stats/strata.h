/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_STATS_STRATA_H
#define BB_STATS_STRATA_H

#include <stdbool.h>
#include <stddef.h>

#include "stats/estimate.h"

/*
 * The expected cost of a program whose loads are drawn from strata: the places that the JIT may
 * give it (docs/accuracy.md, "One program"). x[n] has one value a load, in any order; NAN is left
 * out. stratum[n] is 0..BB_STRATA - 1, or negative where it is not known; share[n] is the share of
 * that stratum among all random loads, NAN where it is not known.
 */
#define BB_STRATA 64

struct bb_stratified {
	double value;                /* sum of share * mean, shares scaled to a sum of 1 */
	struct bb_interval interval; /* of value */
	double se;                   /* its standard error */
	double least, most;          /* means of the cheapest and of the dearest stratum */
	size_t n;                    /* values used */
	size_t n_strata;
};

/*
 * Cochran 1977, "Sampling Techniques", 5.3 to 5.5: the variance is sum(W_h^2 s^2 / n_h), where s^2
 * is the variance within strata, pooled over them, as few of them have more than two values. The
 * interval is Student's with n - n_strata degrees of freedom.
 *
 * False, and *ret untouched, where that is no estimate: a stratum or share is not known, the strata
 * that were drawn have less than BB_STRATA_COVERED of all random loads, or fewer than
 * BB_STRATA_DF_LEAST values are left for s^2.
 */
#define BB_STRATA_COVERED 0.97
#define BB_STRATA_DF_LEAST 3u
bool bb_stratified_mean(const double *x, const int *stratum, const double *share, size_t n,
			double alpha, struct bb_stratified *ret);

/*
 * Set to NAN the loads that something else slowed down: values x > 0 above the least of their
 * stratum by more than a share of max(5 s, 1 %), s the median of all such shares.
 * A disturbance makes a load slower, never faster, and a stratum has too few values for a median
 * of its own. Returns how many.
 */
size_t bb_strata_set_aside(double *x, const int *stratum, size_t n);

#endif
