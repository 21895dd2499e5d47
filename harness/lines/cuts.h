/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_LINES_CUTS_H
#define BB_LINES_CUTS_H

#include "base/err.h"
#include "base/std.h"
#include "bpf/code.h"
#include "exact/cfg.h"

/*
 * Points of a program at which a clone of it (lines/cut_clone.h) can end: at the start of a
 * function, before and after each call, at the first instruction of another source line, and before
 * an exit.
 */
struct bb_cut {
	uint32_t slot;
	bool after;  /* the cut is after the call at `slot`, not before it */
	bool is_off; /* the verifier does not let the program end here */
};

/* Which cuts are made. We use less detail if the verifier gives up or a run passes too many cuts.
 */
enum bb_cut_detail {
	BB_CUT_CALLS, /* calls outside loops */
	BB_CUT_LINES, /* and lines outside loops; in a loop, a cut costs as much as a round */
	BB_CUT_LOOPS, /* and calls in loops */
	BB_CUT_ALL,   /* and the functions that the main one calls, and callbacks */
};

/* Who calls a function. This decides the value that it returns when it ends early. */
enum bb_entered {
	BB_ENTERED_NEVER, /* nobody, or callers that expect different values: it gets no cuts */
	BB_ENTERED_MAIN,
	BB_ENTERED_BY_CALL,
	BB_ENTERED_BY_LOOP, /* a helper, until it returns 1; the program may also call it */
	BB_ENTERED_BY_ONCE, /* a helper, and it must return 0; the program may also call it */
};

struct bb_cuts {
	struct bb_cut *v; /* by slot; a cut before an instruction precedes the one after it */
	uint32_t n;
	bool *in_loop;            /* by slot: true if a backward jump in its function spans it */
	enum bb_entered *entered; /* by function; BB_ENTERED_NEVER if it has no cuts */
};

/* Finds the cuts and keeps one in `every`; 1 keeps all. 0 or -ENOMEM. */
int bb_cuts__find(const struct bb_code *code, const struct bb_cfg *g, enum bb_cut_detail detail,
		  uint32_t every, struct bb_cuts *ret_cuts, struct bb_err *err);
void bb_cuts__done(struct bb_cuts *c);

/* The function that the helper called at slot `at` calls back in the same run; -1 if there is none.
 */
int64_t bb_cuts__called_back(const struct bb_code *code, const struct bb_cfg *g, uint32_t at);

#endif
