/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CORE_RING_USE_H
#define BB_CORE_RING_USE_H

#include "base/std.h"

/*
 * The records that went from a program through its ring to a consumer during a series. The samples
 * of the series are lags: from the event until the consumer finished its record. Records still
 * queued at the end count with their age, which is less than their lag.
 */
#define BB_FLOW_MAX_POINTS 256u

struct bb_flow_point {
	uint64_t at_us;         /* since the first event was possible */
	uint64_t backlog_bytes; /* the writer's position minus the reader's */
};

struct bb_ring_use {
	uint64_t consumed;                               /* samples that the consumer finished */
	uint64_t waiting;                                /* samples in the ring at the end */
	uint64_t ring_bytes;                             /* its size */
	double consumer_cpu_s;                           /* NAN: there was no consumer */
	struct bb_flow_point points[BB_FLOW_MAX_POINTS]; /* points[n_points], in order of time */
	size_t n_points;
};

/* Appends a point, if there is room. */
static inline void bb_ring_use__add_point(struct bb_ring_use *f, uint64_t at_us,
					  uint64_t backlog_bytes)
{
	if (f->n_points < BB_FLOW_MAX_POINTS)
		f->points[f->n_points++] = (struct bb_flow_point){at_us, backlog_bytes};
}

#endif
