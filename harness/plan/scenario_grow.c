/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a scenario gets besides what its file says: variants of other objects, drives with emptied
 * caches. */
#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/drive_kind.h"
#include "plan/scenario.h"

static char *copy_or_null(const char *text, bool *ok)
{
	char *copy = text ? strdup(text) : NULL;

	*ok &= !text || copy;
	return copy;
}

static bool copy_u32s(const struct bb_u32_list *from, struct bb_u32_list *to)
{
	if (!from->n)
		return true;
	to->v = calloc(from->n, sizeof(*to->v));
	if (!to->v)
		return false;
	memcpy(to->v, from->v, from->n * sizeof(*to->v));
	to->n = from->n;
	return true;
}

/* A drive that names its variants drives the copy of one of them, too. False when out of memory. */
static bool drive_like(struct bb_drive_spec *d, const char *name, const char *like)
{
	char **names;
	size_t i = 0;

	while (i < d->n_variants && strcmp(d->variants[i], like))
		i++;
	if (i == d->n_variants)
		return true;
	names = reallocarray(d->variants, d->n_variants + 1, sizeof(*names));
	if (!names)
		return false;
	d->variants = names;
	names[d->n_variants] = strdup(name);
	return names[d->n_variants++] != NULL;
}

int bb_scenario__add_variant(struct bb_scenario *s, const char *name, const char *like,
			     const char *object, struct bb_err *err)
{
	const struct bb_variant_spec *from = bb_scenario__variant(s, like);
	struct bb_variant_spec *variants, *v;
	bool ok = true;

	assert(from);
	if (bb_scenario__variant(s, name))
		return bb_fail(err, -EEXIST, "scenario '%s' has a variant '%s' already", s->name,
			       name);
	variants = reallocarray(s->variants, s->n_variants + 1, sizeof(*variants));
	if (!variants)
		return bb_fail_nomem(err);
	from = &variants[from - s->variants];
	s->variants = variants;
	v = &variants[s->n_variants++];
	memset(v, 0, sizeof(*v));
	v->where = from->where;
	v->name = copy_or_null(name, &ok);
	v->program = copy_or_null(from->program, &ok);
	v->object = copy_or_null(object ? object : from->object, &ok);
	v->id = from->id;
	v->pinned = copy_or_null(from->pinned, &ok);
	v->description = copy_or_null(from->description, &ok);
	v->consumer = copy_or_null(from->consumer, &ok);
	v->sampler = copy_or_null(from->sampler, &ok);
	v->globals = calloc(from->n_globals + 1, sizeof(*v->globals));
	ok &= v->globals != NULL;
	for (size_t i = 0; ok && i < from->n_globals; i++) {
		v->globals[i] = from->globals[i];
		v->globals[i].name = copy_or_null(from->globals[i].name, &ok);
		v->n_globals++;
	}
	ok = ok && !bb_map_specs__inherit(&v->maps, &from->maps);
	for (size_t i = 0; ok && i < s->n_drives; i++)
		ok = drive_like(&s->drives[i], name, like);
	return ok ? 0 : bb_fail_nomem(err);
}

const char *bb_drive_name(const struct bb_drive_spec *d)
{
	return d->caches == BB_CACHES_COLD ? d->kind->cold_name : bb_drive_kind_name(d->kind);
}

/* A drive that can be cold has no workload and calls no function. */
static bool copy_step(const struct bb_drive_spec *from, struct bb_drive_spec *to)
{
	bool ok = true;

	*to = (struct bb_drive_spec){
		.kind = from->kind,
		.caches = from->caches,
		.samples = from->samples,
		.step.consumer = from->step.consumer,
		.where = from->where,
	};
	to->event = copy_or_null(from->event, &ok);
	to->step.inside = copy_or_null(from->step.inside, &ok);
	to->floor = copy_or_null(from->floor, &ok);
	to->variants = calloc(from->n_variants + 1, sizeof(*to->variants));
	ok &= to->variants != NULL;
	while (ok && to->n_variants < from->n_variants) {
		to->variants[to->n_variants] = copy_or_null(from->variants[to->n_variants], &ok);
		to->n_variants++;
	}
	return ok && copy_u32s(&from->values, &to->values) &&
	       !bb_inputs__copy(&from->inputs, &to->inputs);
}

static bool can_be_cold(const struct bb_drive_spec *d)
{
	return d->kind->cold_name != NULL;
}

int bb_scenario__add_cold(struct bb_scenario *s, struct bb_err *err)
{
	struct bb_drive_spec *drives;
	size_t n = s->n_drives, n_steps = 0;

	for (size_t i = 0; i < n; i++) {
		if (s->drives[i].caches == BB_CACHES_COLD)
			return 0;
		n_steps += can_be_cold(&s->drives[i]);
	}
	if (!n_steps)
		return bb_fail(err, -EINVAL,
			       "scenario '%s' has no drive 'with: step', and no other drive can "
			       "empty caches",
			       s->name);
	drives = reallocarray(s->drives, n + n_steps, sizeof(*drives));
	if (!drives)
		return bb_fail_nomem(err);
	s->drives = drives;
	for (size_t i = 0; i < n; i++) {
		struct bb_drive_spec *twin = &drives[s->n_drives];

		if (!can_be_cold(&drives[i]))
			continue;
		s->n_drives++;
		if (!copy_step(&drives[i], twin))
			return bb_fail_nomem(err);
		twin->caches = BB_CACHES_COLD;
		twin->samples = 0;
	}
	return 0;
}
