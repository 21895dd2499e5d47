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
bool bb_beside__goes(const struct bb_attach_point *p, const struct bb_attach_point *other)
{
	if (bb_attach_point__same_event(p, other))
		return false;
	if (is_function(p))
		return p->kind == other->kind && !strcmp(p->target, other->target);
	return is_event(p) && is_event(other);
}

struct found {
	const struct bb_test_prog *others[BB_BESIDE_MOST];
	size_t n;
};

static void look_at(const struct bb_test_prog *subject, const struct bb_test_prog *other,
		    bool shares_map, struct found *f)
{
	bool goes = f->n < BB_BESIDE_MOST && other->fire.trigger &&
		    bb_target__is_of_object(subject->target, other->target) &&
		    bb_beside__goes(&subject->fire.point, &other->fire.point);

	for (size_t k = 0; goes && k < f->n; k++)
		goes = !bb_attach_point__same_event(&f->others[k]->fire.point, &other->fire.point);
	if (goes && (shares_map || bb_target__shares_map(subject->target, other->target)))
		f->others[f->n++] = other;
}

size_t bb_beside__find(const struct bb_test_prog *subject, const struct bb_test_prog **ret_others)
{
	struct found f = {.n = 0};

	for (size_t i = 0; i < subject->n_all; i++)
		look_at(subject, &subject->all[i], false, &f);
	for (size_t i = 0; i < subject->n_companions; i++)
		look_at(subject, &subject->companions[i], true, &f);
	if (ret_others)
		memcpy(ret_others, f.others, f.n * sizeof(f.others[0]));
	return f.n;
}
