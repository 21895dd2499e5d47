/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* A model of one CPU's caches: an L1 cache for instructions and one for data, of 32 KiB and 8 ways,
 * and a last-level cache (LL) of 8 MiB and 16 ways. A new line replaces the least recently used
 * line of its set. There is no prefetching. The caches are empty at first. */
struct bb_cache_model;

#define BB_CACHE_L1_BYTES (UINT32_C(32) << 10)
#define BB_CACHE_LL_BYTES (UINT32_C(8) << 20)

/* Accesses whose cache line was in L1, in LL, or only in memory. An access to two lines counts
 * once, at the slower level. */
struct bb_cache_counts {
	uint64_t l1, ll, ram;
};

struct bb_cache_model *bb_cache_model__new(void);
void bb_cache_model__free(struct bb_cache_model *m);

/* Accesses the `size_bytes` bytes from `address` on (0 counts as 1 byte). `counts` may be NULL. */
void bb_cache_model__access(struct bb_cache_model *m, uint64_t address, uint32_t size_bytes,
			    bool is_code, struct bb_cache_counts *counts);

/* Estimates cycles as Iai and cg_annotate do: 1 for an access to L1, 5 to LL, 35 to RAM. */
uint64_t bb_cache_counts__cycles(const struct bb_cache_counts *counts);
