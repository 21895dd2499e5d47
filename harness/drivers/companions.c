/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "drivers/companions.h"

#include <stdlib.h>
#include <string.h>

#include "base/deadline.h"
#include "bpf/object_info.h"
#include "bpf/source.h"
#include "fire/reach.h"

#define TRIES_MOST 32u /* programs of large objects take half a second each to load */

/* --- which programs go beside another --- */

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

/* --- those of its object that the session does not measure --- */

static bool is_in_session(const struct bb_test_prog *subject, const char *program)
{
	for (size_t i = 0; i < subject->n_all; i++)
		if (subject->all[i].spec && !strcmp(subject->all[i].spec->program, program) &&
		    bb_target__is_of_object(subject->target, subject->all[i].target))
			return true;
	return !strcmp(subject->spec->program, program);
}

/* Where it would be attached beside the subject, if it would. */
static bool has_point(const struct bb_test_prog *subject, const struct bb_object_program *p,
		      struct bb_attach_point *ret_point)
{
	struct bb_attach_point own;

	bb_attach_point__from_section(p->section, p->type, p->attach_type, ret_point);
	if (subject->fire.point.kind == BB_AT_OWN_FUNCTION &&
	    bb_attach_point__on_own_function(ret_point, &own)) {
		memcpy(own.args, subject->fire.point.args, sizeof(own.args));
		*ret_point = own;
	}
	return bb_beside__goes(&subject->fire.point, ret_point);
}

static int load(const struct bb_test_prog *subject, const char *path, const char *program,
		struct bb_target **ret_target)
{
	const struct bb_variant_spec *v = subject->spec;
	struct bb_target *t = NULL;
	int rc = bb_target__open_as(path, program, NULL, v->globals, v->n_globals, subject->self,
				    &t, NULL);

	if (rc)
		return rc;
	bb_target__borrow_maps(t, subject->target);
	rc = bb_target__load(t, NULL);
	if (rc)
		bb_target__free(t);
	else
		*ret_target = t;
	return rc;
}

static void add(struct bb_test_prog *subject, const char *path, const struct bb_object_program *p,
		const struct bb_attach_point *point, bool allow_system_wide)
{
	struct bb_test_prog *c = &subject->companions[subject->n_companions];
	struct bb_target *target;

	if (load(subject, path, p->name, &target))
		return;
	if (!bb_target__shares_map(subject->target, target) ||
	    (!allow_system_wide && bb_reach__check(point, target, NULL))) {
		bb_target__free(target);
		return;
	}
	*c = (struct bb_test_prog){.target = target, .jit_mod64 = -1};
	c->fire = (struct bb_fire_found){.trigger = subject->fire.trigger, .point = *point};
	subject->n_companions++;
}

void bb_companions__open(struct bb_test_prog *subject, bool allow_system_wide)
{
	const char *path = bb_target__source(subject->target)->where;
	struct bb_object_info info;
	size_t tries = 0;

	if (subject->companions || bb_target__is_adopted(subject->target) ||
	    bb_object_info__read(path, &info, NULL))
		return;
	subject->companions = calloc(BB_BESIDE_MOST, sizeof(*subject->companions));
	for (size_t i = 0; subject->companions && i < info.n_programs && tries < TRIES_MOST &&
			   subject->n_companions < BB_BESIDE_MOST && !bb_must_end();
	     i++) {
		const struct bb_object_program *p = &info.programs[i];
		struct bb_attach_point point;

		if (is_in_session(subject, p->name) || !has_point(subject, p, &point))
			continue;
		tries++;
		add(subject, path, p, &point, allow_system_wide);
	}
	bb_object_info__done(&info);
}

void bb_companions__refresh(struct bb_test_prog *subject, bool allow_system_wide)
{
	bool stale = false;

	for (size_t i = 0; i < subject->n_companions; i++)
		stale |= !bb_target__shares_map(subject->target, subject->companions[i].target);
	if (stale) {
		bb_companions__close(subject);
		bb_companions__open(subject, allow_system_wide);
	}
}

void bb_companions__close(struct bb_test_prog *subject)
{
	for (size_t i = 0; i < subject->n_companions; i++)
		bb_target__free(subject->companions[i].target);
	free(subject->companions);
	subject->companions = NULL;
	subject->n_companions = 0;
}
