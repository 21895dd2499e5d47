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

static bool set_text(char **text, const char *to)
{
	free(*text);
	*text = strdup(to);
	return *text != NULL;
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
	names = reallocarray(d->variants, d->n_variants + 2, sizeof(*names));
	if (!names)
		return false;
	d->variants = names;
	names[d->n_variants + 1] = NULL;
	names[d->n_variants] = strdup(name);
	return names[d->n_variants++] != NULL;
}

int bb_scenario__add_variant(struct bb_scenario *s, const char *name, const char *like,
			     const char *object, struct bb_err *err)
{
	const struct bb_variant_spec *from = bb_scenario__variant(s, like);
	struct bb_variant_spec *variants, *v;
	bool ok;

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
	ok = !bb_variant__copy(from, v) && set_text(&v->name, name) &&
	     (!object || set_text(&v->object, object));
	for (size_t i = 0; ok && i < s->n_drives; i++)
		ok = drive_like(&s->drives[i], name, like);
	return ok ? 0 : bb_fail_nomem(err);
}

const char *bb_drive_name(const struct bb_drive_spec *d)
{
	return d->caches == BB_CACHES_COLD ? d->kind->cold_name : bb_drive_kind_name(d->kind);
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
		if (bb_drive__copy(&drives[i], twin))
			return bb_fail_nomem(err);
		t->make(twin);
		twin->samples = 0;
		twin->seconds = 0;
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
