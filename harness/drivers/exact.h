/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_DRIVERS_EXACT_H
#define BB_DRIVERS_EXACT_H

#include "drivers/driver.h"
#include "exact/clone.h"

/*
 * The slot of the two drives by exact counts: a clone of the program's load runs in its place,
 * fired as by step. A sample of theirs (struct bb_batch's ns) is the number of instructions of one
 * run, and paths says which path it took.
 */
struct bb_exact {
	struct bb_code code;
	struct bb_clone clone;
	uint64_t *totals;  /* by block: executions in all samples so far, warm-ups left out */
	uint64_t *in_vain; /* by clone.vain: likewise, those that came to nothing */
	uint64_t *now;     /* room for the counters of one run */
	int prog_fd;       /* of the program itself, borrowed */
	uint32_t id, clone_id;
	/* of a program that is counted with all that it calls: clones of all programs of its load
	 * (another of itself among them), each behind the other; NULL: the last, or none */
	struct bb_exact *behind;
};

/* Of a slot of such a drive. */
const struct bb_exact *bb_exact__of(const void *slot);

/* Put those behind into the prog arrays that any of them names, or the programs themselves back. */
void bb_exact__swap(const struct bb_exact *e, bool in);

#endif
