/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "drivers/driver.h"
#include "exact/clone.h"

/* Sets of basic blocks that runs have executed, in the order in which they were found. */
struct bb_exact_sets {
	uint8_t *executes[BB_MIX_MOST_PATHS]; /* executes[set][block] */
	size_t n;
};

/* A clone of the loaded program that counts executed instructions and runs in the program's place.
 * A sample (`ns` of struct bb_batch) is the number of instructions of one run. */
struct bb_exact {
	struct bb_code code;
	struct bb_clone clone;
	/* totals[block]: executions in all samples so far */
	uint64_t *totals;
	uint64_t *in_vain; /* in_vain[i]: failed calls of clone.vain[i] in all samples so far */
	uint64_t *now;     /* now[block]: executions in the last run */
	/* set by bb_exact__sort_by_set(); borrowed; may be NULL */
	struct bb_exact_sets *sets;
	int prog_fd; /* the program itself; borrowed */
	uint32_t id, clone_id;
	/* List of further clones, linked by `behind`: of this program and of every program that was
	 * loaded with it. It is NULL unless instructions behind tail calls are counted, too. */
	struct bb_exact *behind;
};

/* Returns the clone and the counts of a slot of the drive `exact` (drivers/driver.h). */
const struct bb_exact *bb_exact__of(const void *slot);

/* From now on, `paths` of a batch receives for each run the index in `sets` of the set of basic
 * blocks that it executed. It receives BB_MIX_MOST_PATHS for a new set if the list is full. If
 * `sets` is NULL, `paths` receives the path of each run. */
void bb_exact__sort_by_set(void *slot, struct bb_exact_sets *sets);

/* In all prog arrays that `e` and the programs of its list `behind` use, replaces programs by their
 * clones from that list. If `in` is false, puts the programs back instead. */
void bb_exact__swap(const struct bb_exact *e, bool in);

/* Sets totals[] and in_vain[] of `e` and of the clones behind it to 0. `e` may be NULL. */
void bb_exact__clear(const struct bb_exact *e);
