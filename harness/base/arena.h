/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* Memory that is freed together, such as all texts and lists of a scenario. An arena of zeros is
 * empty. */
struct bb_arena {
	struct bb_arena_held {
		void *thing;
		void (*let_go)(void *thing);
	} * held;
	size_t n;
};

/* bb_arena__done() frees `memory`, which is from malloc(3) or NULL. Returns `memory`. */
void *bb_arena__own(struct bb_arena *a, void *memory);

/* bb_arena__done() calls let_go(thing). */
void bb_arena__hold(struct bb_arena *a, void *thing, void (*let_go)(void *thing));

/* Returns a copy of items[n] with `more` zeroed items behind it. */
void *bb_arena__extend(struct bb_arena *a, const void *items, size_t n, size_t more,
		       size_t item_size);

/* Leaves the arena empty. */
void bb_arena__done(struct bb_arena *a);
