/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/*
 * A model of caches, for accesses of one CPU to addresses. It has a cache of 32 KiB for
 * instructions and one of 32 KiB for data (L1, 8 ways each), and behind both one of 8 MiB (LL, 16
 * ways). Lines have 64 bytes; the line of a set that was not used for the longest time makes room.
 * There is no prefetching. Caches are empty at first.
 */
struct bb_cache_model;

#define BB_CACHE_L1_BYTES (UINT32_C(32) << 10)
#define BB_CACHE_LL_BYTES (UINT32_C(8) << 20)

/* Number of accesses by where the line was found. An access to two lines counts once, at the slower
 * of both. */
struct bb_cache_counts {
	uint64_t l1, ll, ram;
};

struct bb_cache_model *bb_cache_model__new(void);
void bb_cache_model__free(struct bb_cache_model *m);

/* Accesses `size_bytes` (0 counts as 1) from `address` on, of instructions or of data, and counts
 * it in *counts (NULL: in nothing). */
void bb_cache_model__access(struct bb_cache_model *m, uint64_t address, uint32_t size_bytes,
			    bool is_code, struct bb_cache_counts *counts);

/* Returns an estimate of cycles: 1 for an access to L1, 5 to LL, 35 to RAM (as Iai and
 * cg_annotate). */
uint64_t bb_cache_counts__cycles(const struct bb_cache_counts *counts);
