/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "drivers/driver.h"
#include "exact/clone.h"

/* The sets of basic blocks that runs have executed, in the order in which they were found. */
struct bb_exact_sets {
	uint8_t *executes[BB_MIX_MOST_PATHS]; /* executes[set][block]: 0 or 1 */
	size_t n;
};

/* A clone of the loaded program that counts executed instructions. It is fired instead of the
 * program, as the drive `step` fires a program. A sample (`ns` of struct bb_batch) is the number of
 * instructions of one run; `paths` receives the path of each run. */
struct bb_exact {
	struct bb_code code;
	struct bb_clone clone;
	/* totals[block]: executions in all samples so far */
	uint64_t *totals;
	uint64_t *in_vain; /* in_vain[i]: failed calls of clone.vain[i] in all samples so far */
	uint64_t *now;     /* now[block]: executions in the last run */
	/* NULL: `paths` of a batch receives the path of each run. If set, it receives for each run
	 * the index in `sets` of the basic blocks that the run executed, or BB_MIX_MOST_PATHS if
	 * this set is new and the list is full. Borrowed. */
	struct bb_exact_sets *sets;
	int prog_fd; /* the program itself, borrowed */
	uint32_t id, clone_id;
	/* Head of a list, linked by `behind`, with a second clone of this program and of every
	 * program that was loaded with it. It exists if the program is counted together with the
	 * programs that it tail-calls. NULL: there is no list, or this is its last member. */
	struct bb_exact *behind;
};

/* Returns the clone and the counts of `slot`, a slot of the drive `exact` (drivers/driver.h). */
const struct bb_exact *bb_exact__of(const void *slot);

/* From now on, `paths` of a batch receives for each run the index in `sets` of the basic blocks
 * that the run executed. If `sets` is NULL, it receives the path. */
void bb_exact__sort_by_set(void *slot, struct bb_exact_sets *sets);

/* Replaces programs by their clones from the list `behind`, in all prog arrays that `e` or a
 * program of that list uses. If `in` is false, puts the programs back instead. */
void bb_exact__swap(const struct bb_exact *e, bool in);
