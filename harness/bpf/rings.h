/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

struct bpf_map_info;
struct perf_buffer;

/* Reader's and writer's position in a buffer of a program, in memory that we share with the
 * kernel. */
struct bb_ring {
	volatile unsigned long *consumer;       /* the reader's position, which we write */
	const volatile unsigned long *producer; /* the writer's position, which the kernel writes */
	size_t size_bytes;
	/* Map of the ring buffer, borrowed. -1 for a perf buffer, whose memory libbpf maps and
	 * unmaps. */
	int map_fd;
};

/* Returns how many bytes of a ring buffer are written and not yet read. Reads both positions again
 * if the reader moved meanwhile, because the result would be too large. */
unsigned long bb_ring__bytes_held(const volatile unsigned long *reader,
				  const volatile unsigned long *writer);

/* A queue or stack map. We pop its values one by one, because they are not in shared memory. */
struct bb_queue {
	int map_fd; /* borrowed */
	void *value;
	/* `since` counts the calls of bb_rings__drain() after the queue was emptied */
	unsigned int max_entries, since;
};

struct bb_rings {
	struct bb_ring *rings;
	size_t n;
	struct bb_queue *queues;
	size_t n_queues;
	struct perf_buffer **perf_buffers; /* they own the mappings */
	size_t n_perf_buffers;
};

/* Adds a reader of a ring buffer, perf event array, queue or stack. Ignores other maps. `map_fd`
 * must stay open until bb_rings__close(). After an error, the readers added before remain. */
int bb_rings__add(struct bb_rings *r, const char *name, const struct bpf_map_info *info, int map_fd,
		  struct bb_err *err);
void bb_rings__close(struct bb_rings *r);

/* Maps the perf buffers again in a forked child, at the same addresses, because a child does not
 * inherit these mappings (VM_DONTCOPY). Call it once. After an error, nothing may be drained.
 * -EEXIST means that something else is mapped at the address. */
int bb_rings__after_fork(const struct bb_rings *r);

/*
 * Discards all unread records by moving the reader's position to the writer's, and empties queues.
 * With `only_when_half_full`, it skips buffers that are less than half full.
 *
 * How full a queue is cannot be read. We assume that each call of this function follows one run,
 * which pushes one value. So a queue counts as half full after calls for half of its entries.
 */
void bb_rings__drain(struct bb_rings *r, bool only_when_half_full);
