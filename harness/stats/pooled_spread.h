/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_STATS_POOLED_SPREAD_H
#define BB_STATS_POOLED_SPREAD_H

#include <stddef.h>

/*
 * How far does one more figure lie from the mean, by samples that were taken on several occasions?
 * Where the variances of the occasions agree, they are one sample. Where they do not, an occasion
 * is drawn at random: one odd occasion of ten then counts by a tenth.
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
 * With n == 1, or where Bartlett's test (1937) of n occasions finds no difference (5 %): Student's
 * t times the pooled standard deviation times sqrt(1 + 1/sum of n). Else the half width that a
 * figure of an occasion drawn at random exceeds with probability alpha: the mean of such tails.
 */
struct bb_pooled_spread bb_pool_spreads(const struct bb_spread *x, size_t n, double alpha);

/* Of x[n], n >= 2. */
struct bb_spread bb_spread_of(const double *x, size_t n);

#endif
