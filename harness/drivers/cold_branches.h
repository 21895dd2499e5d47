/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_DRIVERS_COLD_BRANCHES_H
#define BB_DRIVERS_COLD_BRANCHES_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/*
 * Code that fills instruction caches and branch predictors: a function of 512 conditional branches,
 * half of them taken at random, copied to 64 places. Its 32 768 branches are more than any BTB
 * holds (Intel's Golden Cove: 12 288 targets), and its code is more than an L1 instruction cache.
 * The function refers to nothing outside of itself, so that a copy runs wherever it is; made by the
 * compiler at once, the branches would take it half a minute.
 */
struct bb_cold_branches {
	char *copies; /* executable; NULL: not open */
	size_t copy_bytes, map_bytes;
};

/* 0, -ENOTSUP where the machine does not let us run code that we have written, -ENOMEM. */
int bb_cold_branches__open(struct bb_cold_branches *ret_branches, struct bb_err *err);
void bb_cold_branches__run(const struct bb_cold_branches *b, uint64_t random);
void bb_cold_branches__close(struct bb_cold_branches *b); /* takes one that is not open */

#endif
