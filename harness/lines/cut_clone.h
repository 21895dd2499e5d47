/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "exact/registers.h"
#include "exact/rewrite.h"
#include "lines/cuts.h"
#include "lines/held.h"

/* A copy (clone) of a program that can end its runs early, at the cuts of lines/cuts.h. A check at
 * each cut decrements the run's count. When the count is used up, the check jumps to an exit path,
 * which releases held resources and ends the program. bpfbench sets the count in memory that it
 * shares with the clone. So one load of the clone measures all cuts. */
#define BB_CUT_LOG 65536u /* most cuts in the log */

/* Makes the memory that clones share with bpfbench. Runs go to their end until
 * bb_cut_memory__end_at(). */
int bb_cut_memory__open(struct bb_shared_memory *ret_memory, struct bb_err *err);

/*
 * Lets the next runs end at the `nth` cut that they pass, counted from 0.
 *
 * A CPU executes the first instructions of the exit path while it still waits for the program's
 * last values, which hides a part of the exit path's time. So the exit path begins with
 * multiplications that depend on these values. The same part is then hidden at every cut. With
 * `is_bare` the exit path has no multiplications and is as short as the program's own.
 */
void bb_cut_memory__end_at(const struct bb_shared_memory *m, uint64_t nth, bool is_bare);
void bb_cut_memory__end_nowhere(const struct bb_shared_memory *m);
/* Returns the index of the cut at which the last run ended, or -1 if it went to its end. */
int64_t bb_cut_memory__ended_at(const struct bb_shared_memory *m);

/* bb_cut_memory__logged() is the number of cuts that runs passed after bb_cut_memory__begin_log().
 * bb_cut_memory__log() is the index of the `nth` of them, from 0 on. Only the last BB_CUT_LOG are
 * known. */
void bb_cut_memory__begin_log(const struct bb_shared_memory *m);
uint64_t bb_cut_memory__logged(const struct bb_shared_memory *m);
uint32_t bb_cut_memory__log(const struct bb_shared_memory *m, uint64_t nth);

struct bb_cut_form {
	/* true if the clone logs each cut that a run passes, and ends no run early */
	bool logs;
	/* true if each check is made twice, to measure the cost of a check */
	bool doubled;
	/* true if the verifier looks at the exit path of a check first, which makes it accept more
	 * cuts */
	bool stub_first;
	int32_t retval; /* returned by a run that ends early, because some program types may return
			 * only 0, or only 1 */
};

struct bb_cut_parts {
	struct bb_code code;
	struct bb_cfg cfg;
	struct bb_registers live;
	struct bb_helds helds;
	/* by function: bytes of its stack, from bb_load__stack_bytes() */
	uint32_t *stack_bytes;
	struct bb_cuts cuts;
	int memory_fd;
};

/* Loads the clone. Fails with -ENOTSUP if the verifier refuses it, the stack has no room, a jump is
 * too far, or the clone is too long. */
int bb_cut_clone__load(const struct bb_cut_parts *parts, const struct bb_cut_form *form,
		       int *ret_prog_fd, struct bb_err *err);
