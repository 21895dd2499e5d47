/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* How a program and its consumer used their ring during a series. The samples of such a series are
 * lags: times from an event until the consumer finished the event's record. A record that is still
 * in the ring at the end gives a sample, too: its age, which is less than its lag would be. */
#define BB_FLOW_MAX_POINTS 256u

struct bb_flow_point {
	uint64_t at_us;         /* time since the series began, us */
	uint64_t backlog_bytes; /* bytes in the ring that the consumer has not taken */
};

struct bb_ring_use {
	uint64_t consumed;     /* number of samples that the consumer finished */
	uint64_t waiting;      /* number of samples that were still in the ring at the end */
	uint64_t ring_bytes;   /* size of the ring */
	double consumer_cpu_s; /* CPU time of the consumer; NAN: there was no consumer */
	struct bb_flow_point points[BB_FLOW_MAX_POINTS]; /* points[n_points], in order of time */
	size_t n_points;
};

/* Appends a point; does nothing if there is no room. */
static inline void bb_ring_use__add_point(struct bb_ring_use *f, uint64_t at_us,
					  uint64_t backlog_bytes)
{
	if (f->n_points < BB_FLOW_MAX_POINTS)
		f->points[f->n_points++] = (struct bb_flow_point){at_us, backlog_bytes};
}
