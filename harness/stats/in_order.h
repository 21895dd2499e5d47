/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_STATS_IN_ORDER_H
#define BB_STATS_IN_ORDER_H

#include <stddef.h>

#include "stats/estimate.h"

/*
 * Figures x[n], measured one after the other. Neighbours may be alike, as the clock of the CPU, the
 * host and other work change over seconds; the interval of independent figures is then too short.
 * So it is, on each side, the wider one of that of signed ranks (stats/signed_rank.h) and of
 * Student's t over groups of neighbours ("batch means", Conway 1963; here each group's
 * Hodges-Lehmann estimate): those of one process each, where at least BB_IN_ORDER_GROUPS have some,
 * else BB_IN_ORDER_GROUPS, of two figures at least, or it is that of signed ranks.
 */
#define BB_IN_ORDER_GROUPS 5u

struct bb_in_order {
	double estimate; /* Hodges-Lehmann; NAN if there are none */
	struct bb_interval interval;
};

/* x[n], by `processes` one after the other, each as many; those that are not finite are left out.
 * -EINVAL as bb_signed_rank(), -ENOMEM. */
int bb_in_order(const double *x, size_t n, size_t processes, double alpha,
		struct bb_in_order *ret_result);

#endif
