/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fire/choose.h"

uint64_t bb_fewest_runs(const uint64_t *runs, size_t n)
{
	uint64_t least = UINT64_MAX;
	size_t same = 0;

	for (size_t i = 0; i < n; i++) {
		same = runs[i] < least ? 0 : same;
		least = runs[i] < least ? runs[i] : least;
		same += runs[i] == least;
	}
	return n && same * 4 >= n ? least : 0;
}

const struct bb_tried *bb_choose(const struct bb_attach_point *point, const struct bb_tried *tried,
				 size_t n)
{
	const struct bb_tried *best = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct bb_tried *t = &tried[i];

		if (!t->runs || (best && t->runs > best->runs))
			continue;
		if (!best || t->runs < best->runs ||
		    (t->runs > 1 && t->ns < best->ns &&
		     bb_trigger__distance(t->trigger, point) ==
			     bb_trigger__distance(best->trigger, point)))
			best = t;
	}
	return best;
}
