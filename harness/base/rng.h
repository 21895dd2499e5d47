/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* xoshiro256** (Blackman & Vigna 2018). The same seed gives the same numbers on every machine. */
struct bb_rng {
	uint64_t s[4];
};

void bb_rng_seed(struct bb_rng *rng, uint64_t seed);
uint64_t bb_rng_u64(struct bb_rng *rng);

/* Returns a number from 0 to n - 1, all equally probable; n >= 1. */
uint64_t bb_rng_below(struct bb_rng *rng, uint64_t n);

/* Returns a uniform number in [0, 1). */
double bb_rng_double(struct bb_rng *rng);

/* Returns a standard normal deviate (Box & Muller 1958). */
double bb_rng_normal(struct bb_rng *rng);

/* Shuffles x[n] uniformly (Fisher & Yates 1938). */
void bb_rng_shuffle(struct bb_rng *rng, uint32_t *x, size_t n);
