/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "stats/paired.h"

/*
 * The expected cost of a program over its loads (docs/methods/loads.md). The loads fall into
 * strata; each place that the JIT may give the program is a stratum. In the functions for strata,
 * x[n] has one value per load, in any order; NAN values do not count. stratum[i] is the stratum of
 * load i, 0..BB_STRATA - 1; negative means unknown. share[i] is the share of loads at random
 * addresses that fall into that stratum; NAN means unknown.
 */
#define BB_STRATA 64

struct bb_stratified {
	double value; /* sum of share * mean over all strata, with shares scaled to a sum of 1 */
	struct bb_interval interval; /* interval of `value` */
	double se;                   /* standard error of `value` */
	double least, most;          /* means of the cheapest and of the most expensive stratum */
	size_t n;                    /* number of values used */
	size_t n_strata;
};

/*
 * Computes the stratified mean by Cochran 1977, "Sampling Techniques", 5.3 to 5.5. Its variance is
 * sum(W_h^2 s^2 / n_h), with the share W_h and the number of values n_h of stratum h. s^2 is the
 * variance within strata, pooled over all strata, because few of them have more than two values.
 * The interval is Student's with n - n_strata degrees of freedom.
 *
 * Returns false and leaves `*ret` unchanged if a stratum or share is unknown, if the strata that
 * have values cover less than BB_STRATA_COVERED of the loads at random addresses, or if s^2 has
 * fewer than BB_STRATA_DF_LEAST degrees of freedom.
 */
#define BB_STRATA_COVERED 0.97
#define BB_STRATA_DF_LEAST 3u
bool bb_stratified_mean(const double *x, const int *stratum, const double *share, size_t n,
			double alpha, struct bb_stratified *ret);

/*
 * Sets the values of disturbed loads to NAN. The excess of a value x > 0 is the share by which it
 * is above the least value of its stratum. A load counts as disturbed if its excess is above 1 %
 * and above 5 times the median excess of all values that are not the least of their stratum. Values
 * are compared with the least one, because a disturbance only makes loads slower. The median is
 * over all strata, because one stratum has too few values for a median. Returns the number of loads
 * set to NAN.
 */
size_t bb_strata_set_aside(double *x, const int *stratum, size_t n);

#define BB_UNDISTURBED_LEAST 8u /* with fewer measured times, a disturbance cannot be detected */

/* Returns the longest time that an undisturbed machine takes for a piece of work. x[n] are times of
 * that work, of which other work on the machine or its host has made some longer. The result is 3 %
 * above the tenth percentile, or more if the times below the median are spread widely. INFINITY if
 * n < BB_UNDISTURBED_LEAST. Sorts x. */
double bb_undisturbed_most(double *x, size_t n);

/*
 * Sets disturbed figures of x[n] to NAN. x is in order of time and is divided into `groups` groups
 * of neighbours, because a disturbance that lasts seconds slows a whole group. A group is disturbed
 * if its median is above the lower quartile of all groups' medians by more than 2 %, and by more
 * than 2 * 1.4826 times the median relative deviation of figures from the median of their group.
 * Does nothing with fewer than four groups. Returns the number of figures set to NAN.
 */
size_t bb_undisturbed_groups(double *x, size_t n, size_t groups);

/*
 * The median of figures that were measured one after the other. Neighbours may resemble each other,
 * because the CPU's clock and other work change over seconds. An interval for independent figures
 * is then too short. So two intervals are computed: by signed ranks (stats/paired.h), and by
 * Student's t over groups of neighbours ("batch means", Conway 1963; the figure of a group is its
 * Hodges-Lehmann estimate). The result reaches from the lower of the two lower ends to the higher
 * of the two upper ends.
 *
 * If at least BB_IN_ORDER_GROUPS processes have figures, each group has the figures of one process.
 * Otherwise there are BB_IN_ORDER_GROUPS groups of at least two figures. If there are too few
 * figures for that, the result is the interval by signed ranks.
 */
#define BB_IN_ORDER_GROUPS 5u

/*
 * Computes the estimate and interval of x[n]. The figures come from `processes` processes, which
 * measured one after the other and equally many figures each. Figures that are not finite do not
 * count. The estimate is that of bb_robust_rank().
 */
struct bb_signed_rank bb_in_order(const double *x, size_t n, size_t processes, double alpha);

/* The spread of the values of one occasion, for example of one self-test. From several such
 * spreads, bb_pool_spreads() predicts how far one more value may be from the mean. */
struct bb_spread {
	double sd; /* standard deviation of the values, >= 0 */
	double n;  /* number of values, >= 2 */
};

struct bb_pooled_spread {
	double half_width; /* one more value is within this distance of the mean with probability 1
			      - alpha; NAN: there are no spreads to pool */
	double df;         /* degrees of freedom of a Student's t with the same width */
};

/*
 * Computes |x - median| for each of x[n], n >= 2, times a factor. With this factor, the results
 * spread as widely as the distance of one more value from the mean. The factor follows from the
 * median of n values, which has the variance pi / 2n, and the covariance 1 / n with each value.
 */
void bb_offsets_of(const double *x, size_t n, double *ret_offset);

/*
 * Pools the spreads x[n] of n occasions, and computes the half width. There are three cases:
 *
 * - n == 1, or Bartlett's test (1937) finds no difference between the variances at 5 %: all values
 * count as one sample. The half width is Student's t times the pooled standard deviation times
 * sqrt(1 + 1 / number of values).
 *
 * - The variances differ, and there are enough values: the offsets decide. offset[n_offsets] are
 * the results of bb_offsets_of() for all occasions. The half width is the offset of rank (1 -
 * alpha)(n_offsets + 1), which must not be the largest. So one unusual value among 40 does not
 * widen a range of 95 %. `offset` becomes sorted.
 *
 * - The variances differ, and there are too few values: one more value counts as a value of an
 * occasion that is drawn at random.
 */
struct bb_pooled_spread bb_pool_spreads(const struct bb_spread *x, size_t n, double *offset,
					size_t n_offsets, double alpha);

/* Returns the standard deviation of x[n], n >= 2, and n. */
struct bb_spread bb_spread_of(const double *x, size_t n);
