/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "plan/scenario.h"

/*
 * The order in which the inputs of a mix come: indexes of inputs, repeated from the beginning at
 * the end. The same inputs, order and seed give the same indexes.
 *
 *   recorded  as in the list
 *   random    by their weights; without weights each comes once in a pass, and each pass is
 *             shuffled anew
 *   zipf      a flow is drawn with a probability proportional to 1 / its rank (Zipf's law with
 *             exponent 1); ranks are by first appearance in the list. The packets of a flow come
 *             in the order of the list.
 */
struct bb_mix {
	uint32_t *v; /* v[n], owned */
	size_t n;    /* 0: there are no inputs */
};

/* BB_ORDER_NONE means `random` without weights. */
void bb_mix__make(const struct bb_inputs *inputs, enum bb_order order, uint64_t seed,
		  struct bb_mix *ret_mix);
void bb_mix__done(struct bb_mix *m);

/* Writes "3000 inputs in random order". */
void bb_mix__words(const struct bb_inputs *inputs, enum bb_order order, char *ret_words,
		   size_t size);
