/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/*
 * A model of the caches of one CPU. It has an L1 cache for instructions and an L1 cache for data,
 * of 32 KiB and 8 ways each. Behind these two is the last-level cache (LL), of 8 MiB and 16 ways.
 * Lines have 64 bytes. A new line replaces the least recently used line of its set. There is no
 * prefetching. The caches are empty at first.
 */
struct bb_cache_model;

#define BB_CACHE_L1_BYTES (UINT32_C(32) << 10)
#define BB_CACHE_LL_BYTES (UINT32_C(8) << 20)

/* Number of accesses whose cache line was found in L1, in LL, or only in memory. An access to two
 * lines counts once, at the slower of the two levels. */
struct bb_cache_counts {
	uint64_t l1, ll, ram;
};

struct bb_cache_model *bb_cache_model__new(void);
void bb_cache_model__free(struct bb_cache_model *m);

/* Accesses the `size_bytes` bytes from `address` on (0 counts as 1 byte), through the cache for
 * instructions (`is_code`) or for data. Adds the access to `*counts`, unless `counts` is NULL. */
void bb_cache_model__access(struct bb_cache_model *m, uint64_t address, uint32_t size_bytes,
			    bool is_code, struct bb_cache_counts *counts);

/* Returns an estimate of cycles: 1 for an access to L1, 5 to LL, 35 to RAM. Iai and
 * cg_annotate estimate in the same way. */
uint64_t bb_cache_counts__cycles(const struct bb_cache_counts *counts);
