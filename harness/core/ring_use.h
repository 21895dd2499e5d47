/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* How a program filled its ring buffer during a series, and how its consumer emptied it. A sample
 * of such a series is a lag: the time from an event until the consumer finished the event's record.
 * A record still in the ring at the end gives its age as a sample, which is less than its lag. */
#define BB_FLOW_MAX_POINTS 256u

struct bb_flow_point {
	uint64_t at_us;         /* since the series began */
	uint64_t backlog_bytes; /* bytes in the ring that are not consumed */
};

struct bb_ring_use {
	uint64_t consumed; /* number of samples that were finished */
	uint64_t waiting;  /* number of samples that were still in the ring at the end */
	uint64_t ring_bytes;
	double consumer_cpu_s;                           /* NAN without a consumer */
	struct bb_flow_point points[BB_FLOW_MAX_POINTS]; /* in order of time */
	size_t n_points;
};

static inline void bb_ring_use__add_point(struct bb_ring_use *f, uint64_t at_us,
					  uint64_t backlog_bytes)
{
	if (f->n_points < BB_FLOW_MAX_POINTS)
		f->points[f->n_points++] = (struct bb_flow_point){at_us, backlog_bytes};
}
