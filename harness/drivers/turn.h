/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_DRIVERS_TURN_H
#define BB_DRIVERS_TURN_H

#include "base/clock.h"
#include "base/deadline.h"
#include "base/give_way.h"
#include "drivers/driver.h"

/* How long a batch of a driver that fires may go on, asked before every run of the program. */

/* Warm-up ends then, and a run that takes longer needs none: it is a sample, though the first. */
#define BB_WARMUP_S 0.1
#define BB_WARMUP_NS 100000000u

/* Is another run wanted for warm-up, after `done` of them since `began_ns`, in at most `most_s`? */
static inline bool bb_batch__warms_up(const struct bb_batch *b, size_t done, uint64_t began_ns,
				      double most_s)
{
	double had_s = bb_seconds_since(began_ns);

	if (done && had_s > BB_WARMUP_S)
		bb_give_way();
	return done < b->warmup && !bb_must_end() && (!done || had_s < most_s);
}

/* Is another sample wanted? When its time is up (max_s), a batch has one sample at least. */
static inline bool bb_batch__goes_on(const struct bb_batch *b, uint64_t began_ns)
{
	double had_s = bb_seconds_since(began_ns);

	if (b->fired && had_s > BB_WARMUP_S) /* no batch of fast programs takes that long */
		bb_give_way();
	return b->fired < b->want && !bb_must_end() &&
	       (!(b->max_s > 0) || !b->fired || had_s < b->max_s);
}

#endif
