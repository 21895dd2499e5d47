/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "stats/paired.h"

/* The expected cost of a program over its loads (docs/methods/loads.md). Each place where the JIT
 * may put the program within a cache line is a stratum. In the functions for strata, x[n] has one
 * value per load, in any order; NAN values do not count. stratum[i] is the stratum of load i, from
 * 0 to BB_STRATA - 1; negative means unknown. share[i] is the share of loads at random addresses
 * that fall into that stratum; NAN means unknown. */
#define BB_STRATA 64

struct bb_stratified {
	double value; /* sum of share * mean over all strata, with shares scaled to a sum of 1 */
	struct bb_interval interval;
	double se;
	double least, most; /* means of the cheapest and of the most expensive stratum */
	size_t n;
	size_t n_strata;
};

/*
 * Computes the stratified mean (Cochran 1977, "Sampling Techniques", 5.3 to 5.5). Its variance is
 * sum(W_h^2 s^2 / n_h), with the share W_h and the number of values n_h of stratum h. s^2 is the
 * variance within strata, pooled over all strata, because few strata have more than two values. The
 * interval is Student's with n - n_strata degrees of freedom.
 *
 * Returns false and leaves `*ret` unchanged if a stratum or share is unknown, if the shares of
 * strata with values add up to less than BB_STRATA_COVERED, or if s^2 has fewer than
 * BB_STRATA_DF_LEAST degrees of freedom.
 */
#define BB_STRATA_COVERED 0.97
#define BB_STRATA_DF_LEAST 3u
bool bb_stratified_mean(const double *x, const int *stratum, const double *share, size_t n,
			double alpha, struct bb_stratified *ret);

/* Sets the values of disturbed loads to NAN, and returns their number. The excess of a value x > 0
 * is the share by which it is above the least value of its stratum. A load is disturbed if its
 * excess is above 1 % and above 5 times the median excess. Values are compared with the least one,
 * because a disturbance only makes loads slower. The median is over all strata, without their least
 * values, because one stratum has too few values. */
size_t bb_strata_set_aside(double *x, const int *stratum, size_t n);

#define BB_UNDISTURBED_LEAST 8u /* with fewer times, a disturbance cannot be detected */

/* Returns the longest time that an undisturbed machine takes for a piece of work. x[n] are times of
 * that work, some of them longer because of other work on the machine or its host. The result is 3
 * % above the tenth percentile, or more if the times below the median are spread widely. INFINITY
 * if n < BB_UNDISTURBED_LEAST. Sorts x. */
double bb_undisturbed_most(double *x, size_t n);

/* Sets disturbed figures of x[n] to NAN, and returns their number. x is in order of time and is
 * divided into `groups` groups of neighbours, because a disturbance that lasts seconds slows a
 * whole group. A group is disturbed if its median is above the lower quartile of all groups'
 * medians by more than 2 %, and by more than 2 * 1.4826 times the median relative deviation of
 * figures from the median of their group. Does nothing with fewer than four groups. */
size_t bb_undisturbed_groups(double *x, size_t n, size_t groups);

/*
 * The median of figures that were measured one after the other. Neighbours may resemble each other,
 * because the CPU's clock and other work change over seconds. An interval for independent figures
 * is then too short. So two intervals are computed: by signed ranks (stats/paired.h), and by
 * Student's t over groups of neighbours ("batch means", Conway 1963). The result spans both
 * intervals.
 *
 * Each group has the figures of one process, if at least BB_IN_ORDER_GROUPS processes have figures.
 * Otherwise there are BB_IN_ORDER_GROUPS groups of at least two figures. With too few figures for
 * that, only signed ranks are used.
 */
#define BB_IN_ORDER_GROUPS 5u

/* Computes the estimate, which is that of bb_robust_rank(), and the interval of x[n]. `processes`
 * processes measured one after the other, equally many figures each. Only finite figures count. */
struct bb_signed_rank bb_in_order(const double *x, size_t n, size_t processes, double alpha);

/* The spread of the values of one occasion, for example of one self-test. */
struct bb_spread {
	double sd; /* standard deviation, >= 0 */
	double n;  /* number of values, >= 2 */
};

struct bb_pooled_spread {
	/* One more value is this near to the mean with probability 1 - alpha. NAN if none. */
	double half_width;
	double df; /* degrees of freedom of a Student's t with the same width */
};

/* Computes |x - median| for each of x[n], n >= 2, times a factor. With this factor, the results
 * spread as widely as the distance of one more value from the mean. The factor follows from the
 * median of n values, which has the variance pi / 2n, and the covariance 1 / n with each value. */
void bb_offsets_of(const double *x, size_t n, double *ret_offset);

/*
 * Predicts from the spreads x[n] of n occasions how far one more value may be from the mean. There
 * are three cases:
 *
 * - n == 1, or Bartlett's test (1937) finds no difference between the variances at 5 %: all values
 * count as one sample. The half width is Student's t times the pooled standard deviation times
 * sqrt(1 + 1 / number of values).
 *
 * - The variances differ, and there are enough values. offset[n_offsets] are the results of
 * bb_offsets_of() for all occasions. The half width is the offset of rank (1 - alpha)(n_offsets +
 * 1), which must not be the largest. So one unusual value among 40 does not widen a range of 95 %.
 * `offset` becomes sorted.
 *
 * - The variances differ, and there are too few values. One more value then counts as a value of an
 * occasion that is drawn at random.
 */
struct bb_pooled_spread bb_pool_spreads(const struct bb_spread *x, size_t n, double *offset,
					size_t n_offsets, double alpha);

struct bb_spread bb_spread_of(const double *x, size_t n);
