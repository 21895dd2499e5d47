/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_STATS_LOADS_H
#define BB_STATS_LOADS_H

#include "base/std.h"
#include "stats/estimate.h"

/*
 * The expected cost of a program whose loads are drawn from strata: the places that the JIT may
 * give it (docs/methods/loads.md). x[n] has one value per load, in any order; NAN is left out.
 * stratum[n] is 0..BB_STRATA - 1; negative means unknown. share[n] is the share of that stratum in
 * all random loads; NAN means unknown.
 */
#define BB_STRATA 64

struct bb_stratified {
	double value;                /* sum of share * mean, with shares scaled to a sum of 1 */
	struct bb_interval interval; /* interval of `value` */
	double se;                   /* standard error of `value` */
	double least, most;          /* means of the cheapest and most expensive stratum */
	size_t n;                    /* values used */
	size_t n_strata;
};

/*
 * Computes the stratified mean by Cochran 1977, "Sampling Techniques", 5.3 to 5.5. The variance is
 * sum(W_h^2 s^2 / n_h). s^2 is the variance within strata, pooled over all of them, because few
 * strata have more than two values. The interval is Student's with n - n_strata degrees of freedom.
 *
 * Returns false and leaves `*ret` unchanged if a stratum or share is unknown, if the strata that
 * were drawn have less than BB_STRATA_COVERED of all random loads, or if s^2 has fewer than
 * BB_STRATA_DF_LEAST degrees of freedom.
 */
#define BB_STRATA_COVERED 0.97
#define BB_STRATA_DF_LEAST 3u
bool bb_stratified_mean(const double *x, const int *stratum, const double *share, size_t n,
			double alpha, struct bb_stratified *ret);

/*
 * Sets to NAN the loads that something else slowed down: values x > 0 that are above the least of
 * their stratum by more than a share of max(5 s, 1 %). s is the median of all such shares. A
 * disturbance only makes loads slower, and a stratum has too few values for its own median. Returns
 * the number of loads set.
 */
size_t bb_strata_set_aside(double *x, const int *stratum, size_t n);

#define BB_UNDISTURBED_LEAST 8u /* with fewer figures a disturbance cannot be detected */

/*
 * Returns the longest time that an undisturbed machine takes. x[n] are times of the same work, some
 * of them slower because of other work on the machine or its host. The result is 3 % above the
 * tenth percentile, or more if the figures below the median spread further. INFINITY if n is too
 * small. Sorts x.
 */
double bb_undisturbed_most(double *x, size_t n);

/*
 * Sets disturbed figures of x[n] to NAN. x is in order of time and divided into `groups` of
 * neighbours, because a disturbance of seconds slows a whole group. A group is disturbed if its
 * median exceeds the lower quartile of all groups' medians by more than 2 % and more than 2 *
 * 1.4826 times the median deviation of figures from their group's median. Does nothing with fewer
 * than four groups. Returns the number of figures set; 0 without memory.
 */
size_t bb_undisturbed_groups(double *x, size_t n, size_t groups);

/*
 * Figures x[n] that were measured one after the other. Neighbours may be alike, because the CPU's
 * clock and other work change over seconds. The interval for independent figures is then too short.
 * So each side takes the wider one of two intervals: that of signed ranks (stats/paired.h), and
 * Student's t over groups of neighbours ("batch means", Conway 1963; here each group's Hodges-
 * Lehmann estimate). A group is what one process measured, if at least BB_IN_ORDER_GROUPS processes
 * have figures. Otherwise there are BB_IN_ORDER_GROUPS groups of at least two figures; with too few
 * figures, signed ranks decide alone.
 */
#define BB_IN_ORDER_GROUPS 5u

struct bb_in_order {
	double estimate; /* as by bb_robust_rank(); NAN without figures */
	struct bb_interval interval;
};

/* Estimates from x[n], measured by `processes` one after the other, each as many figures.
 * Figures that are not finite are left out. Returns 0, -ENOMEM, or -EINVAL as bb_signed_rank(). */
int bb_in_order(const double *x, size_t n, size_t processes, double alpha,
		struct bb_in_order *ret_result);

/*
 * The distance of one more figure from the mean, by samples taken on several occasions. If the
 * variances of the occasions agree, all figures are one sample. If they differ and there are enough
 * figures, the figures themselves decide: a single odd one of 40 does not widen a range of 95 %.
 * With fewer figures, an occasion is drawn at random.
 */
struct bb_spread {
	double sd; /* standard deviation, >= 0 */
	double n;  /* number of values, >= 2 */
};

struct bb_pooled_spread {
	double half_width; /* NAN: no occasions */
	double df;         /* degrees of freedom of Student's t with the same width */
};

/*
 * Computes |x - median| for each of x[n], n >= 2, scaled to the distance of one more figure from
 * the mean: a median of n has the variance pi / 2n, and the covariance 1 / n with each figure.
 * Returns 0 or -ENOMEM.
 */
int bb_offsets_of(const double *x, size_t n, double *ret_offset);

/*
 * Pools n occasions. If n == 1 or Bartlett's test (1937) finds no difference at 5 %, the half width
 * is Student's t times the pooled standard deviation times sqrt(1 + 1 / sum of n). Else it is the
 * offset of rank (1 - alpha)(n_offsets + 1) among offset[n_offsets] of all occasions, if that is
 * not the largest; `offset` becomes sorted. Else it is the half width that a figure of a random
 * occasion exceeds with probability alpha.
 */
struct bb_pooled_spread bb_pool_spreads(const struct bb_spread *x, size_t n, double *offset,
					size_t n_offsets, double alpha);

/* Returns the spread of x[n], n >= 2. */
struct bb_spread bb_spread_of(const double *x, size_t n);

#endif
