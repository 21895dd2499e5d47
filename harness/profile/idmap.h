/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PROFILE_IDMAP_H
#define BB_PROFILE_IDMAP_H

#include <stddef.h>
#include <stdint.h>

#define BB_NO_ID UINT32_MAX

/*
 * Pairs of 64-bit numbers to 32-bit ids: a hash table with open addressing (linear probing, at most
 * half full). Zeroed is empty.
 */
struct bb_idmap_entry {
	uint64_t a, b;
	uint32_t id; /* plus 1; 0: free */
};

struct bb_idmap {
	struct bb_idmap_entry *entries;
	size_t n, size; /* size: 0 or a power of two */
};

/* BB_NO_ID: not there. */
uint32_t bb_idmap__get(const struct bb_idmap *m, uint64_t a, uint64_t b);

/* Set or replace; `id` is not BB_NO_ID. 0 or -ENOMEM. */
int bb_idmap__put(struct bb_idmap *m, uint64_t a, uint64_t b, uint32_t id);

void bb_idmap__done(struct bb_idmap *m);

#endif
