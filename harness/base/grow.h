/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/*
 * Appends a zeroed item to the array `*items` of `*n` items; `items` is the address of the pointer
 * to the array. All items must come from bb_append(): the array doubles when n reaches a power of
 * two, so no capacity is stored. Returns the new item, or NULL without memory.
 */
void *bb_append(void *items, size_t *n, size_t item_size);

/*
 * Makes room for n items in the array `*items`, which has room for `*size` items; `items` is the
 * address of the pointer to the array. The room doubles as needed. Returns 0, or -ENOMEM with the
 * array unchanged.
 */
int bb_reserve(void *items, size_t n, size_t *size, size_t item_size);

/* A list of borrowed texts. */
struct bb_strings {
	const char *const *v;
	size_t n;
};
