/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "exact/cfg.h"

/* Points at which a clone of a program (lines/cut_clone.h) can end: at the start of a function,
 * before and after a call, at the first instruction of another source line, at the edges of a loop,
 * and before an exit. */
struct bb_cut {
	uint32_t slot;
	bool after;  /* true: the cut is after the call at `slot`; false: before the instruction */
	bool is_off; /* true: the verifier does not let the program end here */
};

/* Which cuts are made. Each value adds cuts to those of the value before it. We use less detail if
 * the verifier gives up or a run passes too many cuts. */
enum bb_cut_detail {
	BB_CUT_CALLS, /* start and exits of the main function, and calls outside loops */
	/* also lines outside loops, and edges of loops. Lines in loops get no cuts, because a check
	 * there would cost as much as an iteration of the loop. */
	BB_CUT_LINES,
	BB_CUT_LOOPS, /* also calls in loops */
	BB_CUT_ALL,   /* also cuts of all these kinds in the functions that the main function
			 calls, and in callbacks */
};

/* Who calls a function. This decides the value that the function returns when it ends early. */
enum bb_entered {
	/* nobody calls it, or its callers expect different return values; the function then gets no
	 * cuts */
	BB_ENTERED_NEVER,
	BB_ENTERED_MAIN,
	BB_ENTERED_BY_CALL,
	/* a helper calls the function until it returns 1; the program may also call it */
	BB_ENTERED_BY_LOOP,
	/* a helper calls the function once, and the function must return 0; the program may also
	 * call it */
	BB_ENTERED_BY_ONCE,
};

struct bb_cuts {
	/* sorted by slot; a cut before an instruction precedes the cut after it */
	struct bb_cut *v;
	uint32_t n;
	bool *in_loop; /* in_loop[slot]: true if a backward jump spans the slot */
	/* by function: who calls it; BB_ENTERED_NEVER if it has no cuts */
	enum bb_entered *entered;
};

/* Finds the cuts. Keeps all cuts at the start and the exits of each function. Of the other
 * slots, keeps the cuts of every `every`th one; all if `every` is 1. Free the cuts with
 * bb_cuts__done(). */
void bb_cuts__find(const struct bb_code *code, const struct bb_cfg *g, enum bb_cut_detail detail,
		   uint32_t every, struct bb_cuts *ret_cuts);
void bb_cuts__done(struct bb_cuts *c);

/* If the instruction at slot `at` calls a helper that calls back a function of the program in the
 * same run, returns this function; otherwise -1. */
int64_t bb_cuts__called_back(const struct bb_code *code, const struct bb_cfg *g, uint32_t at);
