/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "plan/scenario.h"

/*
 * The order in which runs take the inputs of a mix: run i takes the input with the index v[i].
 * Run n takes v[0] again. The same inputs, order and seed give the same v.
 *
 *   recorded  the order of the inputs in the scenario
 *   random    inputs are drawn by their weights. Without weights, v is a series of passes. Each
 *             pass has every input once, in a random order of its own.
 *   zipf      flows are drawn. A flow's probability is proportional to 1 / its rank (Zipf's law
 *             with exponent 1). The flow of the scenario's first input has rank 1, the next new
 *             flow rank 2. The packets of a flow come in the order of the scenario.
 */

/* BB_ORDER_NONE means `random` without weights. n is the number of runs until the order repeats, 0
 * if there are no inputs. The caller frees v. */
struct bb_u32_list bb_mix__make(const struct bb_inputs *inputs, enum bb_order order, uint64_t seed);

/* Writes "test runs on a mix of 3000 inputs, in random order". Not for BB_ORDER_NONE. */
void bb_mix__words(const struct bb_inputs *inputs, enum bb_order order, char *ret_words,
		   size_t size);
