/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_WORKLOADS_AMICABLE_PAIRS_H
#define BB_WORKLOADS_AMICABLE_PAIRS_H

#include <stdint.h>

/*
 * The workload: a search for amicable numbers by trial division, which uses the CPU and hardly any
 * memory. The program of the same name runs the whole search. The drive `step` runs it with a
 * `tick` that fires events from the innermost loop, so that the sampled stack is that of the
 * search.
 */
#define BB_AMICABLE_LAST 65534u /* end of the published search */
#define BB_AMICABLE_TICK_EVERY                                                                     \
	8u /* trial divisions between ticks: about 5 % of the cheapest step */

struct bb_amicable_search {
	uint32_t first, last; /* numbers to try, inclusive */
	/* called for each pair; NULL: only count */
	void (*found)(uint32_t larger, uint32_t smaller, void *arg);
	/* called between divisions; ends the search if it returns nonzero; may be NULL */
	int (*tick)(void *arg);
	void *arg;        /* for found and tick */
	uint32_t n_found; /* result: number of pairs */
	int stopped;      /* result: `tick` ended the search */
};

void bb_amicable_search(struct bb_amicable_search *search);

/* The same search below `extra_frames` additional stack frames. */
void bb_amicable_search_nested(struct bb_amicable_search *search, uint32_t extra_frames);

#endif
