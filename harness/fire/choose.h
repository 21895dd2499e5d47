/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_FIRE_CHOOSE_H
#define BB_FIRE_CHOOSE_H

#include <stddef.h>
#include <stdint.h>

#include "fire/attach_point.h"
#include "fire/trigger.h"

/* The result of firing a trigger. */
struct bb_tried {
	const struct bb_trigger *trigger;
	uint32_t runs;  /* of the program, by one firing; 0: none */
	uint32_t fired; /* how often */
	double ns;      /* the time of a firing with a reading of the counters */
	int rc;         /* -errno: it cannot be fired here */
};

/*
 * Runs of the program in each of n windows with one firing: the fewest, as others can only add to
 * them; 0: less than a quarter of the windows have as few, or there are none.
 */
uint64_t bb_fewest_runs(const uint64_t *runs, size_t n);

/*
 * The one with the fewest runs; of those with one, the first, as they are tried in the order in
 * which they are wanted; of others that are as near to the hook's name, the cheapest. NULL: none
 * made it run.
 */
const struct bb_tried *bb_choose(const struct bb_attach_point *point, const struct bb_tried *tried,
				 size_t n);

#endif
