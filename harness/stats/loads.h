/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_STATS_LOADS_H
#define BB_STATS_LOADS_H

#include "base/std.h"
#include "stats/estimate.h"

/*
 * The expected cost of a program whose loads are drawn from strata: the places that the JIT may
 * give it (docs/methods/loads.md). x[n] has one value a load, in any order; NAN is left
 * out. stratum[n] is 0..BB_STRATA - 1, or negative where it is not known; share[n] is the share of
 * that stratum among all random loads, NAN where it is not known.
 */
#define BB_STRATA 64

struct bb_stratified {
	double value;                /* sum of share * mean, with shares scaled to a sum of 1 */
	struct bb_interval interval; /* of value */
	double se;                   /* its standard error */
	double least, most;          /* means of the cheapest and most expensive stratum */
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

#define BB_UNDISTURBED_LEAST 8u /* with fewer figures a disturbance cannot be seen */

/*
 * x[n]: the time of the same work again and again, on a machine that is slower for some of it (its
 * host does something else, too). The longest time that is still one of the machine at its best:
 * 3 % above the tenth percentile, or more where the figures below the median spread further.
 * INFINITY: n is too small. Sorts x.
 */
double bb_undisturbed_most(double *x, size_t n);

/*
 * The same for x[n] in order, as `groups` of neighbours, which a disturbance of seconds slows down
 * all together: set to NAN those of groups whose median is above the lower quartile of all groups'
 * medians by more than 2 % and twice the median deviation of figures from their group's median,
 * times 1.4826. Nothing where there are fewer than four groups. Returns how many, or 0 where memory
 * is short.
 */
size_t bb_undisturbed_groups(double *x, size_t n, size_t groups);

/*
 * Figures x[n], measured one after the other. Neighbours may be alike, as the clock of the CPU, the
 * host and other work change over seconds; the interval of independent figures is then too short.
 * So it is, on each side, the wider one of that of signed ranks (stats/paired.h) and of
 * Student's t over groups of neighbours ("batch means", Conway 1963; here each group's
 * Hodges-Lehmann estimate): those of one process each, where at least BB_IN_ORDER_GROUPS have some,
 * else BB_IN_ORDER_GROUPS, of two figures at least, or it is that of signed ranks.
 */
#define BB_IN_ORDER_GROUPS 5u

struct bb_in_order {
	double estimate; /* as by bb_robust_rank(); NAN without figures */
	struct bb_interval interval;
};

/* x[n], by `processes` one after the other, each as many; those that are not finite are left out.
 * -EINVAL as bb_signed_rank(), -ENOMEM. */
int bb_in_order(const double *x, size_t n, size_t processes, double alpha,
		struct bb_in_order *ret_result);

/*
 * How far does one more figure lie from the mean, by samples that were taken on several occasions?
 * Where the variances of the occasions agree, they are one sample. Where they do not, the figures
 * themselves decide when there are enough of them: a single odd one of 40 does not widen a range of
 * 95 %. Until then an occasion is drawn at random.
 */
struct bb_spread {
	double sd; /* >= 0, of n values */
	double n;  /* number of values, >= 2 */
};

struct bb_pooled_spread {
	double half_width; /* NAN: no occasions */
	double df;         /* degrees of freedom of Student's t with the same width */
};

/*
 * |x - median| of each of x[n], n >= 2, scaled to the distance of one more figure from the mean: a
 * median of n has the variance pi / 2n and the covariance 1 / n with each of them. 0 or -ENOMEM.
 */
int bb_offsets_of(const double *x, size_t n, double *ret_offset);

/*
 * With n == 1, or where Bartlett's test (1937) of n occasions finds no difference (5 %): Student's
 * t times the pooled standard deviation times sqrt(1 + 1/sum of n). Else, of the
 * offset[n_offsets] of all occasions, the one of rank (1 - alpha)(n_offsets + 1), if that is not
 * the largest; `offset` becomes sorted. Else the half width that a figure of an occasion drawn at
 * random exceeds with probability alpha: the mean of such tails.
 */
struct bb_pooled_spread bb_pool_spreads(const struct bb_spread *x, size_t n, double *offset,
					size_t n_offsets, double alpha);

/* Of x[n], n >= 2. */
struct bb_spread bb_spread_of(const double *x, size_t n);

#endif
