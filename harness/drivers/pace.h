/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_DRIVERS_PACE_H
#define BB_DRIVERS_PACE_H

#include <stdint.h>

/*
 * When the next of evenly spaced events is due, ns, after one that was due at `due_ns` and done at
 * `now_ns`. A sender that is late by less than a period keeps the beat; one that is later skips the
 * beats between and goes on from now: a rate that cannot be held shows as a lower rate and never as
 * a burst.
 */
static inline uint64_t bb_pace_next(uint64_t due_ns, uint64_t now_ns, uint64_t period_ns)
{
	uint64_t next_ns = due_ns + period_ns;

	return now_ns > next_ns + period_ns ? now_ns : next_ns;
}

#endif
