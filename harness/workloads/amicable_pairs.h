/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdint.h>

/* A workload that uses the CPU and hardly any memory: a search for amicable numbers by trial
 * division. The program amicable_pairs runs the whole search. The drive `step` uses tick() to cause
 * events in the innermost loop, so that profilers see the stack of the search. */
#define BB_AMICABLE_LAST 65534u /* last number of the published search */
/* Trial divisions between two calls of tick(). They take about 5 % of the time that the drive
 * `step` needs for a run of the cheapest program. */
#define BB_AMICABLE_TICK_EVERY 8u

struct bb_amicable_search {
	uint32_t first, last; /* numbers to try, inclusive */
	/* called for each pair; may be NULL */
	void (*found)(uint32_t larger, uint32_t smaller, void *arg);
	/* called between divisions; ends the search if it returns nonzero; may be NULL */
	int (*tick)(void *arg);
	void *arg;
	uint32_t n_found;
	int stopped; /* result: 1 if tick() ended the search, else 0 */
};

void bb_amicable_search(struct bb_amicable_search *search);

/* Runs the search below `extra_frames` additional stack frames. */
void bb_amicable_search_nested(struct bb_amicable_search *search, uint32_t extra_frames);
