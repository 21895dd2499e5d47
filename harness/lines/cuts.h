/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_LINES_CUTS_H
#define BB_LINES_CUTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "bpf/code.h"
#include "exact/cfg.h"

/*
 * Points of a program's main function at which a clone of it (lines/cut_clone.h) can end: where it
 * begins, before and after each call, where the code of another line begins, before an exit. What
 * runs between two of them that follow each other is one part of the run.
 */
struct bb_cut {
	uint32_t slot;
	bool after;  /* behind the call at `slot`, not before the instruction there */
	bool is_off; /* the verifier does not let the program end here */
};

/* Which of them: the finer ones are left out where the verifier does not cope with them, or a run
 * passes too many. */
enum bb_cut_detail {
	BB_CUT_CALLS, /* those outside of loops */
	BB_CUT_LINES, /* and lines outside of loops: in one a cut costs as much as a round */
	BB_CUT_ALL,   /* and calls in loops */
};

struct bb_cuts {
	struct bb_cut *v; /* by place; those before an instruction first */
	uint32_t n;
	bool *in_loop; /* by slot of the main function: a jump leads back over it */
};

/* `ran`[g->n_blocks]: only blocks of which it is not 0; NULL: all. 0 or -ENOMEM. */
int bb_cuts__find(const struct bb_code *code, const struct bb_cfg *g, enum bb_cut_detail detail,
		  const uint64_t *ran, struct bb_cuts *ret_cuts, struct bb_err *err);
void bb_cuts__done(struct bb_cuts *c);

#endif
