/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_STATS_POOLED_SPREAD_H
#define BB_STATS_POOLED_SPREAD_H

#include <stddef.h>

/*
 * How far does one more figure lie from the mean, by samples that were taken on several occasions?
 * Where the variances of the occasions agree, they are one sample. Where they do not, the figures
 * themselves decide when there are enough of them: a single odd one of 40 does not widen a range of
 * 95 %. Until then an occasion is drawn at random.
 */
struct bb_spread {
	double sd; /* >= 0, of n values */
	double n;  /* >= 2 */
};

struct bb_pooled_spread {
	double half_width; /* NAN: no occasion */
	double df;         /* degrees of freedom of a t that is as wide */
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
