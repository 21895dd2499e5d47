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

#endif
