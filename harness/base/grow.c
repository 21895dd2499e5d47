/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/grow.h"

void *bb_append(void *items, size_t *n, size_t item_size)
{
	void *old, *grown;

	memcpy(&old, items, sizeof(old));
	grown = *n & (*n - 1) ? old : reallocarray(old, *n ? 2 * *n : 1, item_size);
	if (!grown)
		return NULL;
	memcpy(items, &grown, sizeof(grown));
	return memset((char *)grown + (*n)++ * item_size, 0, item_size);
}

int bb_reserve(void *items, size_t n, size_t *size, size_t item_size)
{
	size_t more = *size ? *size : 16;
	void *old, *grown;

	if (n <= *size)
		return 0;
	while (more < n)
		if (__builtin_mul_overflow(more, 2, &more))
			return -ENOMEM;
	memcpy(&old, items, sizeof(old));
	grown = reallocarray(old, more, item_size);
	if (!grown)
		return -ENOMEM;
	memcpy(items, &grown, sizeof(grown));
	*size = more;
	return 0;
}
