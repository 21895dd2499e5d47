/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/arena.h"

void bb_arena__hold(struct bb_arena *a, void *thing, void (*let_go)(void *thing))
{
	BB_PUSH(a->held, a->n, (struct bb_arena_held){thing, let_go});
}

void *bb_arena__own(struct bb_arena *a, void *memory)
{
	bb_arena__hold(a, memory, free);
	return memory;
}

void *bb_arena__extend(struct bb_arena *a, const void *items, size_t n, size_t more,
		       size_t item_size)
{
	void *all = bb_arena__own(a, bb_calloc(n + more, item_size));

	return n ? memcpy(all, items, n * item_size) : all;
}

void bb_arena__done(struct bb_arena *a)
{
	for (size_t i = 0; i < a->n; i++)
		a->held[i].let_go(a->held[i].thing);
	free(a->held);
	*a = (struct bb_arena){0};
}
