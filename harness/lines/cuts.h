/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_LINES_CUTS_H
#define BB_LINES_CUTS_H

#include "base/err.h"
#include "base/std.h"
#include "bpf/code.h"
#include "exact/cfg.h"

/*
 * Points of a program at which a clone of it (lines/cut_clone.h) can end: where a function begins,
 * before and after each call, where the code of another line begins, before an exit. What runs
 * between two of them that follow each other is one part of the run.
 */
struct bb_cut {
	uint32_t slot;
	bool after;  /* behind the call at `slot`, not before the instruction there */
	bool is_off; /* the verifier does not let the program end here */
};

/* Finer ones are left out where the verifier does not cope, or a run passes too many. */
enum bb_cut_detail {
	BB_CUT_CALLS, /* those outside of loops */
	BB_CUT_LINES, /* and lines outside of loops: in one a cut costs as much as a round */
	BB_CUT_LOOPS, /* and calls in loops */
	BB_CUT_ALL,   /* and the functions that the main one calls, or has called back */
};

/* How a function is come to, which says how a run that is cut in it gets out of it. */
enum bb_entered {
	BB_ENTERED_NEVER, /* or in ways that allow no cuts */
	BB_ENTERED_MAIN,
	BB_ENTERED_BY_CALL,
	BB_ENTERED_BY_LOOP, /* a helper calls it until it returns 1; perhaps the program, too */
	BB_ENTERED_BY_ONCE, /* a helper calls it, and it must return 0; likewise */
};

struct bb_cuts {
	struct bb_cut *v; /* by place; those before an instruction first */
	uint32_t n;
	bool *in_loop;            /* by slot: a jump of its function leads back over it */
	enum bb_entered *entered; /* by function; those that have no cuts are never entered */
};

/* Of each `every` places one, for programs with very many (1: all). 0 or -ENOMEM. */
int bb_cuts__find(const struct bb_code *code, const struct bb_cfg *g, enum bb_cut_detail detail,
		  uint32_t every, struct bb_cuts *ret_cuts, struct bb_err *err);
void bb_cuts__done(struct bb_cuts *c);

/* The function that the helper call at slot `at` calls back in the same run; -1: none. */
int64_t bb_cuts__called_back(const struct bb_code *code, const struct bb_cfg *g, uint32_t at);

#endif
