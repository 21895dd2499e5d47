/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdint.h>

/*
 * The workload: a search for amicable numbers by trial division, which uses the CPU and hardly any
 * memory. The program amicable_pairs runs the whole search. The drive `step` runs the search with a
 * function tick() that fires events from the innermost loop, so that samplers see the stack of the
 * search.
 */
#define BB_AMICABLE_LAST 65534u /* last number of the published search */
/* Number of trial divisions between two calls of tick(). They take about 5 % of the time that the
 * drive `step` needs for a run of the cheapest program. */
#define BB_AMICABLE_TICK_EVERY 8u

struct bb_amicable_search {
	uint32_t first, last; /* numbers to try, inclusive */
	/* called for each pair that is found; NULL: pairs are only counted */
	void (*found)(uint32_t larger, uint32_t smaller, void *arg);
	/* called between divisions; ends the search if it returns nonzero; NULL: not called */
	int (*tick)(void *arg);
	void *arg;        /* argument of found() and tick() */
	uint32_t n_found; /* result: number of pairs */
	int stopped;      /* result: 1 if tick() ended the search, else 0 */
};

void bb_amicable_search(struct bb_amicable_search *search);

/* Runs bb_amicable_search() below `extra_frames` additional stack frames. */
void bb_amicable_search_nested(struct bb_amicable_search *search, uint32_t extra_frames);
