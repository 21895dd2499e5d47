/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "drivers/driver.h"
#include "exact/clone.h"

/* A clone of the program's load that runs in the program's stead, fired as by the drive `step`. A
 * sample of the drive (`ns` of struct bb_batch) is the number of instructions of one run, and
 * `paths` holds the path of each run. */
struct bb_exact {
	struct bb_code code;
	struct bb_clone clone;
	uint64_t *totals;  /* executions in all samples so far without warm-up, by basic block */
	uint64_t *in_vain; /* failed calls in all samples so far, by index in clone.vain */
	uint64_t *now;     /* counters of one run, by basic block */
	int prog_fd;       /* the program itself, borrowed */
	uint32_t id, clone_id;
	/* For a program that is counted together with the programs that it calls: a list of clones
	 * of all programs of its load, with another clone of this program. NULL ends the list, or
	 * means that there is none. */
	struct bb_exact *behind;
};

/* Returns the counts of a slot of the drive `exact`. */
const struct bb_exact *bb_exact__of(const void *slot);

/* Replaces programs by their clones of the list `behind` in all prog arrays that one of these
 * programs uses; or puts the programs back if `in` is false. */
void bb_exact__swap(const struct bb_exact *e, bool in);
