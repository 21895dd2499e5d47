/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "plan/scenario.h"

/*
 * The order of the inputs of a mix, as a list of their indexes. After its end, the list starts
 * again. The same inputs, order and seed give the same list.
 *
 *   recorded  as in the list
 *   random    drawn by their weights; without weights, each input comes once per pass, and each
 *             pass is shuffled anew
 *   zipf      a flow is drawn with a probability proportional to 1 / its rank (Zipf's law with
 *             exponent 1); the flow that appears first in the list has rank 1. The packets of a
 *             flow come in the order of the list.
 */
struct bb_mix {
	uint32_t *v; /* v[n], owned */
	size_t n;    /* 0: there are no inputs */
};

/* BB_ORDER_NONE means `random` without weights. */
void bb_mix__make(const struct bb_inputs *inputs, enum bb_order order, uint64_t seed,
		  struct bb_mix *ret_mix);
void bb_mix__done(struct bb_mix *m);

/* Writes "test runs on a mix of 3000 inputs, in random order". */
void bb_mix__words(const struct bb_inputs *inputs, enum bb_order order, char *ret_words,
		   size_t size);
