/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

struct bpf_map_info;
struct perf_buffer;

/* The position of the reader and of the writer in one buffer that a program writes to. Both are in
 * memory that we share with the kernel. */
struct bb_ring {
	volatile unsigned long *consumer;       /* the reader's position; we write it */
	const volatile unsigned long *producer; /* the writer's position; the kernel writes it */
	size_t size_bytes;
	/* descriptor of the ring buffer's map, borrowed; we have then mapped the pages with both
	 * positions. -1 for a perf buffer, which libbpf maps */
	int map_fd;
};

/* Returns how many bytes the writer of a ring buffer is ahead of its reader. Reads both positions
 * again if the reader moved, because positions of different moments give too many bytes. If the
 * reader moves during all tries, may return fewer bytes than there are. */
unsigned long bb_ring__bytes_held(const volatile unsigned long *reader,
				  const volatile unsigned long *writer);

/* A queue or stack map. Its values are not in shared memory, so we pop them one by one. */
struct bb_queue {
	int map_fd;  /* borrowed; the map outlives the reader */
	void *value; /* buffer for one value */
	/* `since`: calls of bb_rings__drain() since the queue was last emptied */
	unsigned int max_entries, since;
};

struct bb_rings {
	struct bb_ring *rings;
	size_t n;
	struct bb_queue *queues;
	size_t n_queues;
	struct perf_buffer **perf_buffers; /* own the mappings of perf buffers */
	size_t n_perf_buffers;
};

/* Adds a reader of the map: maps a ring buffer, opens a perf event array, or remembers a queue or
 * stack. Ignores other maps. `map_fd` must stay open until bb_rings__close(); `name` is for
 * messages. Returns 0, or -errno with a message; the readers added before remain. */
int bb_rings__add(struct bb_rings *r, const char *name, const struct bpf_map_info *info, int map_fd,
		  struct bb_err *err);
void bb_rings__close(struct bb_rings *r);

/*
 * Maps the perf buffers again in a forked child, at the same addresses, because the kernel omits
 * them from a child's memory (VM_DONTCOPY). Call it once. After an error nothing may be drained;
 * -EEXIST means that the child has mapped something else at that address.
 */
int bb_rings__after_fork(const struct bb_rings *r);

/*
 * Moves the reader's position to the writer's, which discards all delivered records unread. With
 * `only_when_half_full`, buffers that are less than half full are not changed.
 *
 * Queue maps are emptied, too. How full a queue is cannot be read. We assume that each call of this
 * function follows one run, and that each run pushes one value. So we count the calls since the
 * queue was last emptied. The queue counts as half full if these calls are at least half as many as
 * its entries.
 */
void bb_rings__drain(struct bb_rings *r, bool only_when_half_full);
