/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workloads/amicable_pairs.h"

/* Each function has its own stack frame, because profilers measure the stack. */
#define FRAME __attribute__((noinline))

static FRAME uint32_t sum_of_proper_divisors(struct bb_amicable_search *search, uint32_t n)
{
	uint32_t sum = 0;

	for (uint32_t d = 1; d <= n / 2; d++) {
		if (n % d == 0)
			sum += d;
		if (search->tick && d % BB_AMICABLE_TICK_EVERY == 0 && search->tick(search->arg)) {
			search->stopped = 1;
			break;
		}
	}
	return sum;
}

FRAME void bb_amicable_search(struct bb_amicable_search *search)
{
	search->n_found = 0;
	search->stopped = 0;
	for (uint32_t i = search->first; i <= search->last; i++) {
		uint32_t sum = sum_of_proper_divisors(search, i);

		if (!search->stopped && i > sum && sum_of_proper_divisors(search, sum) == i &&
		    !search->stopped) {
			search->n_found++;
			if (search->found)
				search->found(i, sum, search->arg);
		}
		if (search->stopped)
			break;
	}
}

FRAME void bb_amicable_search_nested(struct bb_amicable_search *search, uint32_t extra_frames)
{
	if (extra_frames)
		bb_amicable_search_nested(search, extra_frames - 1);
	else
		bb_amicable_search(search);
	/* otherwise the compiler makes the call a jump, which has no stack frame */
	__asm__ volatile("" ::: "memory");
}
