/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_RUN_PLACEMENT_H
#define BB_RUN_PLACEMENT_H

#include <stdint.h>

#include "base/err.h"
#include "base/rng.h"
#include "drivers/test_prog.h"

/*
 * Where the loads of one program in a run are put. The kernel puts each load at a random address of
 * a page or a pack (kernel/bpf/core.c, bpf_jit_binary_pack_alloc), in steps of the architecture's
 * alignment and within bounds that follow from the size of the code: 4 to 14 addresses mod 64 were
 * seen on x86. Which they are is found by loading; then the program is loaded again until it is at
 * one of the places that the run has had least often, so that all are measured equally often
 * (stats/loads.h).
 */
struct bb_placement {
	uint32_t taken[BB_PLACES]; /* loads that were measured */
	double most_s, spent_s;    /* of loading beyond one load a round */
	double load_s;             /* of one, the longest so far */
};

/* Find the places of a loaded program. `most_s`: for all loading beyond one load a round.
 */
int bb_placement__find(struct bb_placement *p, struct bb_test_prog *prog, struct bb_rng *rng,
		       double most_s, struct bb_err *err);

/* The load of the next round. Where the time for it is over, wherever it comes to be. */
int bb_placement__load(struct bb_placement *p, struct bb_test_prog *prog, struct bb_rng *rng,
		       struct bb_err *err);

/*
 * The share of random loads that come to be at `mod64`, by all loads so far: equal shares unless
 * the counts contradict them (chi-square, P < 0.1 %), as an equal share has no noise. NAN: not
 * known.
 */
double bb_placement_share(const struct bb_test_prog *prog, int mod64);

#endif
