/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BPF_RINGS_H
#define BB_BPF_RINGS_H

#include "base/err.h"
#include "base/std.h"

struct bpf_map_info;
struct perf_buffer;

/* The reader's side of one buffer that a program writes to: two positions in shared memory. */
struct bb_ring {
	volatile unsigned long *consumer;       /* ours to move */
	const volatile unsigned long *producer; /* the kernel's */
	size_t size_bytes;
	/* of a ring buffer, borrowed: the map outlives the reader; -1 of a perf buffer */
	int map_fd;
	/* mapped by us; NULL for a perf buffer, which libbpf maps */
	void *consumer_page, *producer_page;
};

/* A queue or stack map: nothing shared, its values are popped one by one. */
struct bb_queue {
	int map_fd;                      /* borrowed: the map outlives the reader */
	void *value;                     /* room for one */
	unsigned int max_entries, since; /* runs since it was emptied */
};

struct bb_rings {
	struct bb_ring *rings;
	size_t n;
	struct bb_queue *queues;
	size_t n_queues;
	struct perf_buffer **perf_buffers; /* own the mappings of the perf kind */
	size_t n_perf_buffers;
};

/*
 * Map a BPF ring buffer, open a perf event array, note a queue or a stack; any other map is passed
 * over. `map_fd` stays open until bb_rings__close(); `name` is for messages. 0 or -errno with a
 * message; maps that were added before stay.
 */
int bb_rings__add(struct bb_rings *r, const char *name, const struct bpf_map_info *info, int map_fd,
		  struct bb_err *err);
void bb_rings__close(struct bb_rings *r);

/*
 * Once, in a child that fork() made: perf buffers are mapped again, at the same place. The kernel
 * leaves them out of a child's memory (VM_DONTCOPY). 0 or -errno, after which nothing may be
 * drained: -EEXIST where the child has mapped something else there meanwhile.
 */
int bb_rings__after_fork(const struct bb_rings *r);

void bb_queue__empty(struct bb_queue *q); /* for the function below */

/*
 * Move the reader's position to the writer's: everything delivered is thrown away unread. How full
 * a queue is cannot be seen: it counts as half full after half as many calls as it has entries, a
 * push a run.
 */
static inline void bb_rings__drain(struct bb_rings *r, bool only_when_half_full)
{
	for (size_t i = 0; i < r->n; i++) {
		struct bb_ring *ring = &r->rings[i];
		unsigned long head = __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE);

		if (only_when_half_full && head - *ring->consumer < ring->size_bytes / 2)
			continue;
		if (*ring->consumer != head)
			__atomic_store_n(ring->consumer, head, __ATOMIC_RELEASE);
	}
	for (size_t i = 0; i < r->n_queues; i++)
		if (++r->queues[i].since >= r->queues[i].max_entries / 2 || !only_when_half_full)
			bb_queue__empty(&r->queues[i]);
}

#endif
