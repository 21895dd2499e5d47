/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "drivers/driver.h"
#include "exact/clone.h"

/* The sets of basic blocks that runs execute, in the order in which they are found. */
struct bb_exact_sets {
	uint8_t *executes[BB_MIX_MOST_PATHS]; /* executes[set][block]: 0 or 1 */
	size_t n;
};

/* A clone of the program's load that runs in the program's stead, fired as by the drive `step`. A
 * sample of the drive (`ns` of struct bb_batch) is the number of instructions of one run, and
 * `paths` holds the path of each run. */
struct bb_exact {
	struct bb_code code;
	struct bb_clone clone;
	uint64_t *totals;  /* executions in all samples so far without warm-up, by basic block */
	uint64_t *in_vain; /* failed calls in all samples so far, by index in clone.vain */
	uint64_t *now;     /* counters of one run, by basic block */
	/* If not NULL, `paths` of a batch holds the index of each run's set, or BB_MIX_MOST_PATHS
	 * if so many other sets were found before it. Borrowed. */
	struct bb_exact_sets *sets;
	int prog_fd; /* the program itself, borrowed */
	uint32_t id, clone_id;
	/* List of clones of all programs of the load, with a second clone of this one. It exists if
	 * the program is counted together with those that it tail-calls. NULL: none, or the end. */
	struct bb_exact *behind;
};

/* Returns the clone and the counts in a slot of the drive `exact` (drivers/driver.h). */
const struct bb_exact *bb_exact__of(const void *slot);

/* From now on, sorts the runs of a slot by the sets; NULL: by path. */
void bb_exact__sort_by_set(void *slot, struct bb_exact_sets *sets);

/* In all prog arrays that a program of the list `behind` uses, replaces the programs by their
 * clones of this list. If `in` is false, puts the programs back instead. */
void bb_exact__swap(const struct bb_exact *e, bool in);
