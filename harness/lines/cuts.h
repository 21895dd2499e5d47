/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "exact/cfg.h"

/* A point at which a clone of a program (lines/cut_clone.h) can end a run. */
struct bb_cut {
	uint32_t slot;
	bool after;  /* true if after the call at `slot`, false if before the instruction */
	bool is_off; /* true if the verifier does not let the program end here */
};

/* Which cuts are made. Each value adds cuts to the one before. We use less detail if the verifier
 * gives up or a run passes too many cuts. */
enum bb_cut_detail {
	BB_CUT_CALLS, /* start and exits of the main function, and calls outside loops */
	/* also lines outside loops, and edges of loops; a check in a loop would cost as much as an
	 * iteration */
	BB_CUT_LINES,
	BB_CUT_LOOPS, /* also calls in loops */
	BB_CUT_ALL,   /* also cuts in called functions and in callbacks */
};

/* Who calls a function. This decides what the function returns when it ends early. */
enum bb_entered {
	/* Nobody calls it, or callers expect different return values. The function then gets no
	 * cuts. */
	BB_ENTERED_NEVER,
	BB_ENTERED_MAIN,
	BB_ENTERED_BY_CALL,
	/* a helper calls it until it returns 1; the program may call it, too */
	BB_ENTERED_BY_LOOP,
	/* a helper calls it once, and it must return 0; the program may call it, too */
	BB_ENTERED_BY_ONCE,
};

struct bb_cuts {
	/* sorted by slot, the cut before an instruction first */
	struct bb_cut *v;
	uint32_t n;
	bool *in_loop; /* by slot: true if a backward jump spans it */
	/* by function */
	enum bb_entered *entered;
};

/* Finds the cuts: all at starts and exits of functions, and those of each `every`th other slot. */
void bb_cuts__find(const struct bb_code *code, const struct bb_cfg *g, enum bb_cut_detail detail,
		   uint32_t every, struct bb_cuts *ret_cuts);
void bb_cuts__done(struct bb_cuts *c);

/* Returns the function that the helper called at slot `at` calls back in the same run, or -1. */
int64_t bb_cuts__called_back(const struct bb_code *code, const struct bb_cfg *g, uint32_t at);
