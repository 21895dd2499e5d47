/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "drivers/beside.h"

#include <string.h>

static bool is_function(const struct bb_attach_point *p)
{
	return p->kind == BB_AT_OWN_FUNCTION || p->kind == BB_AT_UPROBE ||
	       p->kind == BB_AT_UPROBE_MULTI;
}

/* Is it run by what happens in the kernel, whoever fires it? */
static bool is_event(const struct bb_attach_point *p)
{
	switch (p->kind) {
	case BB_AT_TRACEPOINT:
	case BB_AT_RAW_TP:
	case BB_AT_BTF:
	case BB_AT_KPROBE:
	case BB_AT_KPROBE_MULTI:
	case BB_AT_CGROUP: return true;
	default: return false;
	}
}

/* May the two be attached at a time? A call of a function brings those that are on it alone. */
static bool goes_beside(const struct bb_attach_point *p, const struct bb_attach_point *other)
{
	if (bb_attach_point__same_event(p, other))
		return false;
	if (is_function(p))
		return p->kind == other->kind && !strcmp(p->target, other->target);
	return is_event(p) && is_event(other);
}

size_t bb_beside__find(const struct bb_test_prog *subject, const struct bb_test_prog **ret_others)
{
	const struct bb_test_prog *others[BB_BESIDE_MOST];
	size_t n = 0;

	for (size_t i = 0; i < subject->n_all && n < BB_BESIDE_MOST; i++) {
		const struct bb_test_prog *other = &subject->all[i];
		bool goes = other->fire.trigger &&
			    bb_target__is_of_object(subject->target, other->target) &&
			    goes_beside(&subject->fire.point, &other->fire.point);

		for (size_t k = 0; goes && k < n; k++)
			goes = !bb_attach_point__same_event(&others[k]->fire.point,
							    &other->fire.point);
		if (goes && bb_target__shares_map(subject->target, other->target))
			others[n++] = other;
	}
	if (ret_others)
		memcpy(ret_others, others, n * sizeof(others[0]));
	return n;
}
