/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

struct bpf_map_info;
struct perf_buffer;

/* A ring buffer, or the perf buffer of one CPU, to which a program writes. Its reader's position
 * and its writer's position are in memory that we share with the kernel. */
struct bb_ring {
	volatile unsigned long *consumer;       /* the reader's position, which we write */
	const volatile unsigned long *producer; /* the writer's position, which the kernel writes */
	size_t size_bytes;
	/* map of the ring buffer, borrowed; -1 for a perf buffer, whose memory libbpf maps */
	int map_fd;
};

/* Returns how many bytes of a ring buffer are written and not yet read. If the reader moves
 * meanwhile, reads both positions again, because the result would otherwise be too large. */
unsigned long bb_ring__bytes_held(const volatile unsigned long *reader,
				  const volatile unsigned long *writer);

/* A queue or stack map. We pop its values one by one, because they are not in shared memory. */
struct bb_queue {
	int map_fd; /* borrowed */
	void *value;
	/* since: calls of bb_rings__drain() since the queue was last emptied */
	unsigned int max_entries, since;
};

struct bb_rings {
	struct bb_ring *rings;
	size_t n;
	struct bb_queue *queues;
	size_t n_queues;
	/* libbpf's readers of perf event arrays. Freeing them unmaps the memory of the perf buffers
	 * in `rings`. */
	struct perf_buffer **perf_buffers;
	size_t n_perf_buffers;
};

/* Adds a reader of the map `map_fd` if it is a ring buffer, perf event array, queue or stack.
 * Ignores other maps. `map_fd` must stay open until bb_rings__close(). After an error, the readers
 * that were added before remain. */
int bb_rings__add(struct bb_rings *r, const char *name, const struct bpf_map_info *info, int map_fd,
		  struct bb_err *err);
void bb_rings__close(struct bb_rings *r);

/* Maps the perf buffers again in a forked child, at the same addresses, because a child does not
 * inherit these mappings (VM_DONTCOPY). Call this function once. After an error, do not call
 * bb_rings__drain(). -EEXIST means that something else is mapped at one of the addresses. */
int bb_rings__after_fork(const struct bb_rings *r);

/*
 * Discards all unread records: moves the reader's position to the writer's, and empties queues and
 * stacks. With `only_when_half_full`, skips those that are less than half full.
 *
 * The kernel does not say how full a queue or stack is. We assume that one run of the program
 * precedes each call of this function, and pushes one value. So a queue counts as half full when
 * the number of calls reaches half of its entries.
 */
void bb_rings__drain(struct bb_rings *r, bool only_when_half_full);
