/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_STATS_UNDISTURBED_H
#define BB_STATS_UNDISTURBED_H

#include <stddef.h>

#define BB_UNDISTURBED_LEAST 8u /* of fewer figures nobody can tell */

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

#endif
