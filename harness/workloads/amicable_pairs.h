/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_WORKLOADS_AMICABLE_PAIRS_H
#define BB_WORKLOADS_AMICABLE_PAIRS_H

#include <stdint.h>

/*
 * The target workload: a search for amicable pairs by trial division, CPU-bound and free of memory
 * traffic. The program of the same name runs it to the end; the step drive runs it with a `tick`
 * that fires events from the innermost loop, so that the sampled stack is the search's own.
 */
#define BB_AMICABLE_LAST 65534u /* where the published search ends */
#define BB_AMICABLE_TICK_EVERY                                                                     \
	8u /* trial divisions between ticks: about 5 % of the cheapest step */

struct bb_amicable_search {
	uint32_t first, last; /* numbers to try, inclusive */
	/* NULL: pairs are only counted */
	void (*found)(uint32_t larger, uint32_t smaller, void *arg);
	int (*tick)(void *arg); /* NULL, or returns nonzero to end the search */
	void *arg;              /* for found and tick */
	uint32_t n_found;       /* out */
	int stopped;            /* out: tick ended it */
};

void bb_amicable_search(struct bb_amicable_search *search);

/* The same below `extra_frames` more stack frames than the search itself needs. */
void bb_amicable_search_nested(struct bb_amicable_search *search, uint32_t extra_frames);

#endif
