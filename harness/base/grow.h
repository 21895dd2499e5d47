/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BASE_GROW_H
#define BB_BASE_GROW_H

#include <stddef.h>
#include <stdlib.h>

/*
 * Room for one more in an array of n items that doubles whenever n reaches a power of two, so that
 * no capacity need be kept. Returns the array, moved if need be, or NULL (the old one is still
 * good).
 */
static inline void *bb_grow(void *items, size_t n, size_t item_size)
{
	if (n & (n - 1))
		return items;
	return reallocarray(items, n ? 2 * n : 1, item_size);
}

/*
 * One item more, zeroed, at the end of the array `*items` of `*n`; `items` points to the pointer.
 * All its items came by bb_append(). Returns the new item, or NULL when out of memory.
 */
void *bb_append(void *items, size_t *n, size_t item_size);

/*
 * Room for n items in the array `*items`, of which `*size` fit by now. Doubles. 0 or -ENOMEM (the
 * old one is still good).
 */
int bb_reserve(void *items, size_t n, size_t *size, size_t item_size);

#endif
