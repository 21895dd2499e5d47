/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CORE_RING_USE_H
#define BB_CORE_RING_USE_H

#include <stddef.h>
#include <stdint.h>

/*
 * The records that went from a program through its ring buffer to a consumer during a series. The
 * series' samples are lags, from the event until the consumer has finished its record; records
 * still queued at the end count with their age, a lower bound of their lag.
 */
#define BB_FLOW_MAX_POINTS 256u

struct bb_flow_point {
	uint64_t at_us;         /* since the first event could come */
	uint64_t backlog_bytes; /* the writer's position less the reader's */
};

struct bb_ring_use {
	uint64_t consumed;     /* samples that the consumer has finished */
	uint64_t waiting;      /* samples in the ring at the end */
	uint64_t ring_bytes;   /* its size */
	double consumer_cpu_s; /* NAN: there was no consumer */
	/* n_points <= BB_FLOW_MAX_POINTS, ascending by time; owned */
	struct bb_flow_point *points;
	size_t n_points;
};

/* An empty one with room for all points; NULL when out of memory. */
struct bb_ring_use *bb_ring_use__new(void);
void bb_ring_use__free(struct bb_ring_use *f); /* takes NULL */

/* A point at the end; nothing when there is no room. */
void bb_ring_use__add_point(struct bb_ring_use *f, uint64_t at_us, uint64_t backlog_bytes);

/* Add the counts of another batch of the series; the points stay those of the first. */
void bb_ring_use__add(struct bb_ring_use *f, const struct bb_ring_use *more);

#endif
