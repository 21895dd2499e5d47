/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_LINES_CUT_CLONE_H
#define BB_LINES_CUT_CLONE_H

#include "base/err.h"
#include "base/std.h"
#include "bpf/code.h"
#include "exact/cfg.h"
#include "exact/registers.h"
#include "exact/rewrite.h"
#include "lines/cuts.h"
#include "lines/held.h"

/*
 * A second load of a program that can end early: at each cut a check counts down how many cuts the
 * run still passes, and the one that finds the count used up gives back what is held, says which
 * cut it is and leaves the program. So all cuts are measured in one load of one program. What they
 * tell each other by is a shared memory, whose words are in cut_clone.c.
 */
#define BB_CUT_LOG 65536u /* cuts that a run passes and that the log has room for */

int bb_cut_memory__open(struct bb_shared_memory *ret_memory, struct bb_err *err);

/*
 * Let the next runs end at the cut that they pass as number `nth` (0: the first). A CPU begins the
 * way out while it still waits for the program's last values. So that as much of it hides wherever
 * the run ends, it has multiplications that wait for them, too; a bare one has not, and is as short
 * as the program's own.
 */
void bb_cut_memory__end_at(const struct bb_shared_memory *m, uint64_t nth, bool is_bare);
/* Let them run to their end. */
void bb_cut_memory__end_nowhere(const struct bb_shared_memory *m);
/* The cut at which the last run ended, as an index of its cuts; -1: it ran to its end. */
int64_t bb_cut_memory__ended_at(const struct bb_shared_memory *m);

/* Empty the log; how many cuts were passed since; and the n-th, one of the last BB_CUT_LOG. */
void bb_cut_memory__begin_log(const struct bb_shared_memory *m);
uint64_t bb_cut_memory__logged(const struct bb_shared_memory *m);
uint32_t bb_cut_memory__log(const struct bb_shared_memory *m, uint64_t nth);

struct bb_cut_form {
	bool logs;       /* it never ends at a cut, but writes all that it passes into a log */
	bool doubled;    /* each check twice, which shows the price of one */
	bool stub_first; /* the verifier follows the way out first: it copes with more cuts so */
	int32_t retval;  /* of a run that is cut; some types allow 0 only, some 1 only */
};

/* The parts of a clone; all borrowed. */
struct bb_cut_parts {
	const struct bb_code *code;
	const struct bb_cfg *cfg;
	const struct bb_registers *live;
	const struct bb_helds *helds;
	const uint32_t *stack_bytes; /* by function: bb_load__stack_bytes() */
	const struct bb_cuts *cuts;
	int memory_fd;
};

/*
 * -ENOTSUP with the verifier's words where it is refused, or there is no room on the stack or in a
 * jump.
 */
int bb_cut_clone__load(const struct bb_cut_parts *parts, const struct bb_cut_form *form,
		       int *ret_prog_fd, struct bb_err *err);

#endif
