/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "drivers/companions.h"

#include "base/deadline.h"
#include "bpf/object_info.h"

/* the most programs to try as companions; loading one of a large object takes half a second */
#define TRIES_MOST 32u

static bool is_event(const struct bb_attach_point *p)
{
	return bb_attach_kinds[p->kind].of_kernel || p->kind == BB_AT_CGROUP;
}

/* True if programs at `p` and at `other` may be attached together. A function that we call or that
 * has a uprobe runs only its own programs, so both must then be on one function. */
static bool goes_beside(const struct bb_attach_point *p, const struct bb_attach_point *other)
{
	if (bb_attach_point__same_event(p, other))
		return false;
	if (p->kind == BB_AT_OWN_FUNCTION || p->kind == BB_AT_UPROBE ||
	    p->kind == BB_AT_UPROBE_MULTI)
		return p->kind == other->kind && !strcmp(p->target, other->target);
	return is_event(p) && is_event(other);
}

static void add_if_beside(const struct bb_test_prog *prog, const struct bb_test_prog *other,
			  bool shares_map, const struct bb_test_prog **others, size_t *n)
{
	if (*n < BB_BESIDE_MOST && other->fire.trigger &&
	    bb_target__is_of_object(prog->target, other->target) &&
	    goes_beside(&prog->fire.point, &other->fire.point) &&
	    !BB_ANY(others, *n,
		    bb_attach_point__same_event(&(*it)->fire.point, &other->fire.point)) &&
	    (shares_map || bb_target__shares_map(prog->target, other->target)))
		others[(*n)++] = other;
}

size_t bb_beside__find(const struct bb_test_prog *prog,
		       const struct bb_test_prog *ret_others[BB_BESIDE_MOST])
{
	size_t n = 0;

	for (size_t i = 0; i < prog->n_all; i++)
		add_if_beside(prog, &prog->all[i], false, ret_others, &n);
	for (size_t i = 0; i < prog->n_companions; i++)
		add_if_beside(prog, &prog->companions[i], true, ret_others, &n);
	return n;
}

static bool is_in_session(const struct bb_test_prog *prog, const char *program)
{
	return !strcmp(prog->spec->program, program) ||
	       BB_ANY(prog->all, prog->n_all,
		      it->spec && !strcmp(it->spec->program, program) &&
			      bb_target__is_of_object(prog->target, it->target));
}

/* Returns false if `p` is not attached beside `prog`. */
static bool has_point(const struct bb_test_prog *prog, const struct bb_object_program *p,
		      struct bb_attach_point *ret_point)
{
	struct bb_attach_point own;

	bb_attach_point__from_section(p->section, p->type, p->attach_type, ret_point);
	if (prog->fire.point.kind == BB_AT_OWN_FUNCTION &&
	    bb_attach_point__on_own_function(ret_point, &own)) {
		memcpy(own.args, prog->fire.point.args, sizeof(own.args));
		*ret_point = own;
	}
	return goes_beside(&prog->fire.point, ret_point);
}

int bb_companion__load(const struct bb_test_prog *prog, const char *program,
		       struct bb_target **ret_target, struct bb_err *err)
{
	const struct bb_variant_spec *v = prog->spec;
	struct bb_target *t = NULL;
	int rc = bb_target__open(&(struct bb_source_spec){.path = prog->target->where,
							  .program = program,
							  .globals = v->globals,
							  .n_globals = v->n_globals,
							  .self = prog->self},
				 &t, err);

	if (rc)
		return rc;
	/* bb_target__say_maps() comes first, because only maps with equal contents are shared */
	bb_target__say_maps(t, &v->maps);
	bb_target__borrow_maps(t, prog->target);
	rc = bb_target__load(t, err);
	if (rc)
		bb_target__free(t);
	else
		*ret_target = t;
	return rc;
}

void bb_companions__open(struct bb_test_prog *prog, bool allow_system_wide)
{
	struct bb_object_info info;
	size_t tries = 0;

	if (BB_ANY(prog->companions, prog->n_companions,
		   !bb_target__shares_map(prog->target, it->target)))
		bb_companions__close(prog);
	if (prog->companions || bb_target__is_live(prog->target) ||
	    bb_object_info__read(prog->target->where, &info, NULL))
		return;
	prog->companions = bb_calloc(BB_BESIDE_MOST, sizeof(*prog->companions));
	for (size_t i = 0; i < info.n_programs && tries < TRIES_MOST &&
			   prog->n_companions < BB_BESIDE_MOST && !bb_must_end();
	     i++) {
		const struct bb_object_program *p = &info.programs[i];
		struct bb_attach_point point;
		struct bb_target *target;

		if (is_in_session(prog, p->name) || !has_point(prog, p, &point))
			continue;
		tries++;
		if (bb_companion__load(prog, p->name, &target, NULL))
			continue;
		if (!bb_target__shares_map(prog->target, target) ||
		    (!allow_system_wide && bb_reach__check(&point, target, NULL))) {
			bb_target__free(target);
			continue;
		}
		prog->companions[prog->n_companions++] = (struct bb_test_prog){
			.target = target,
			.jit_mod64 = -1,
			.fire = {.trigger = prog->fire.trigger, .point = point},
		};
	}
	bb_object_info__done(&info);
}

void bb_companions__close(struct bb_test_prog *prog)
{
	for (size_t i = 0; i < prog->n_companions; i++)
		bb_target__free(prog->companions[i].target);
	free(prog->companions);
	prog->companions = NULL;
	prog->n_companions = 0;
}
