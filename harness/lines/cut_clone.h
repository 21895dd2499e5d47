/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "exact/registers.h"
#include "exact/rewrite.h"
#include "lines/cuts.h"
#include "lines/held.h"

/*
 * A clone of a program that can end its runs early. The clone has a check at each cut
 * (lines/cuts.h). Each check that a run passes decrements the run's count. When the count is used
 * up, the check jumps to an exit path. The exit path writes at which cut the run ends, releases the
 * resources that the program holds and ends the program. Thus one load of the clone measures all
 * cuts. bpfbench and the clone share memory; cut_clone.c describes its layout.
 */
#define BB_CUT_LOG 65536u /* number of cuts that the log has room for */

/* Makes the memory that clones share with bpfbench; bb_shared_memory__close() frees it. Runs go to
 * their end until bb_cut_memory__end_at() is called. Returns 0, or -errno with a message. */
int bb_cut_memory__open(struct bb_shared_memory *ret_memory, struct bb_err *err);

/*
 * Lets the next runs end at the `nth` cut that they pass; 0 means the first.
 *
 * A CPU executes the first instructions of the exit path while it still waits for the last values
 * of the program. This hides a part of the exit path's time. The exit path therefore begins with
 * multiplications that depend on these values, so that the same share of the exit path is hidden at
 * every cut. If `is_bare` is true, the exit path has no multiplications and is as short as the
 * program's own.
 */
void bb_cut_memory__end_at(const struct bb_shared_memory *m, uint64_t nth, bool is_bare);
/* Lets the next runs go to their end. */
void bb_cut_memory__end_nowhere(const struct bb_shared_memory *m);
/* Returns the index of the cut at which the last run ended; -1 if the run went to its end. */
int64_t bb_cut_memory__ended_at(const struct bb_shared_memory *m);

/* bb_cut_memory__begin_log() empties the log. bb_cut_memory__logged() returns how many cuts runs
 * have passed since then. bb_cut_memory__log() returns the index of the `nth` of these cuts,
 * counted from 0. The log keeps only the last BB_CUT_LOG cuts. */
void bb_cut_memory__begin_log(const struct bb_shared_memory *m);
uint64_t bb_cut_memory__logged(const struct bb_shared_memory *m);
uint32_t bb_cut_memory__log(const struct bb_shared_memory *m, uint64_t nth);

struct bb_cut_form {
	/* true: the clone writes each cut that a run passes into a log, and ends no run early */
	bool logs;
	/* true: the clone makes each check twice, to measure the cost of a check */
	bool doubled;
	/* true: at each check, the verifier follows the exit path before the rest of the
	 * program; it then accepts more cuts */
	bool stub_first;
	int32_t retval; /* return value of a run that ends early; programs of some types may return
			   only 0, or only 1 */
};

/* What a clone is made of. */
struct bb_cut_parts {
	struct bb_code code;
	struct bb_cfg cfg;
	struct bb_registers live;
	struct bb_helds helds;
	/* by function: bytes of stack that it uses, from bb_load__stack_bytes() */
	uint32_t *stack_bytes;
	struct bb_cuts cuts;
	int memory_fd;
};

/* Loads the clone. Returns -ENOTSUP with the reason if the verifier refuses the clone, the stack
 * has no room, a jump is too far, or the clone is too long. If the verifier refuses the clone, the
 * reason is a message of the verifier. */
int bb_cut_clone__load(const struct bb_cut_parts *parts, const struct bb_cut_form *form,
		       int *ret_prog_fd, struct bb_err *err);
