/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/*
 * A model of caches, for accesses of one CPU to addresses. It has a cache of 32 KiB for
 * instructions and one of 32 KiB for data (L1, 8 ways each), and behind both one of 8 MiB (last
 * level, LL, 16 ways). Lines have 64 bytes. A new line replaces the least recently used line of its
 * set.
 * There is no prefetching. Caches are empty at first.
 */
struct bb_cache_model;

#define BB_CACHE_L1_BYTES (UINT32_C(32) << 10)
#define BB_CACHE_LL_BYTES (UINT32_C(8) << 20)

/* Number of accesses by the level at which the line was found: L1, LL or memory. An access to two
 * lines counts once, at the slower of their levels. */
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
