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
	v->type = copy_or_null(from->type, &ok);
	v->pinned = copy_or_null(from->pinned, &ok);
	v->description = copy_or_null(from->description, &ok);
	v->consumer = copy_or_null(from->consumer, &ok);
	v->sampler = copy_or_null(from->sampler, &ok);
	v->binary = copy_or_null(from->binary, &ok);
	v->function = copy_or_null(from->function, &ok);
	v->pid = from->pid;
	v->binary_at = copy_or_null(from->binary_at, &ok);
	v->fired_at = copy_or_null(from->fired_at, &ok);
	ok &= !bb_fired_by__copy(&from->fired_by, &v->fired_by);
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

/* Twins that are like the drives that have them. */
struct twin {
	bool (*has)(const struct bb_drive_spec *d);
	bool (*is)(const struct bb_drive_spec *d);
	void (*make)(struct bb_drive_spec *twin);
	const char *what; /* a step drive alone can do so */
};

static int add_twins(struct bb_scenario *s, const struct twin *t, struct bb_err *err)
{
	struct bb_drive_spec *drives;
	size_t n = s->n_drives, n_twins = 0;

	for (size_t i = 0; i < n; i++) {
		if (t->is(&s->drives[i]))
			return 0;
		n_twins += t->has(&s->drives[i]);
	}
	if (!n_twins)
		return bb_fail(err, -EINVAL,
			       "scenario '%s' has no drive 'with: step', and no other drive can %s",
			       s->name, t->what);
	drives = reallocarray(s->drives, n + n_twins, sizeof(*drives));
	if (!drives)
		return bb_fail_nomem(err);
	s->drives = drives;
	for (size_t i = 0; i < n; i++) {
		struct bb_drive_spec *twin = &drives[s->n_drives];

		if (!t->has(&drives[i]))
			continue;
		s->n_drives++;
		if (!copy_step(&drives[i], twin))
			return bb_fail_nomem(err);
		t->make(twin);
		twin->samples = 0;
	}
	return 0;
}

static bool can_be_cold(const struct bb_drive_spec *d)
{
	return d->kind->cold_name != NULL;
}

static bool is_cold(const struct bb_drive_spec *d)
{
	return d->caches == BB_CACHES_COLD;
}

static void make_cold(struct bb_drive_spec *twin)
{
	twin->caches = BB_CACHES_COLD;
}

int bb_scenario__add_cold(struct bb_scenario *s, struct bb_err *err)
{
	return add_twins(s, &(struct twin){can_be_cold, is_cold, make_cold, "empty caches"}, err);
}

static const struct bb_drive_kind *lines_like(const struct bb_drive_spec *d)
{
	return bb_drive_kind_find("lines", d->event ? d->event : d->kind->by[0]);
}

static bool can_be_by_line(const struct bb_drive_spec *d)
{
	return !strcmp(d->kind->with, "step") && !is_cold(d) && lines_like(d);
}

static bool is_by_line(const struct bb_drive_spec *d)
{
	return d->kind->by_line;
}

static void make_by_line(struct bb_drive_spec *twin)
{
	twin->kind = lines_like(twin);
}

int bb_scenario__add_lines(struct bb_scenario *s, struct bb_err *err)
{
	return add_twins(s, &(struct twin){can_be_by_line, is_by_line, make_by_line, "time lines"},
			 err);
}
