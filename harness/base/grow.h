/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BASE_GROW_H
#define BB_BASE_GROW_H

#include "base/std.h"

/*
 * One item more, zeroed, at the end of the array `*items` of `*n`; `items` points to the pointer.
 * All its items came by bb_append(): the array doubles whenever n reaches a power of two, so that
 * no capacity need be kept. Returns the new item, or NULL when out of memory.
 */
void *bb_append(void *items, size_t *n, size_t item_size);

/*
 * Room for n items in the array `*items`, of which `*size` fit by now. Doubles. 0 or -ENOMEM (the
 * old one is still good).
 */
int bb_reserve(void *items, size_t n, size_t *size, size_t item_size);

/* A list of texts of somebody else's. */
struct bb_strings {
	const char *const *v;
	size_t n;
};

#endif
