/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "drivers/test_prog.h"

#include "base/deadline.h"
#include "base/give_way.h"
#include "drivers/companions.h"
#include "drivers/trigger_test_run.h"
#include "exact/only_reads.h"
#include "fire/firer.h"

/* The programs of the scenario key `prepare` run before each series of samples, by
 * BPF_PROG_TEST_RUN. They bring the maps into the state that the measured program finds in
 * production. They are of the same object and share its maps, but not its global variables. */

static void close_prepares(struct bb_test_prog *prog)
{
	for (size_t i = 0; prog->prepare && i < prog->spec->n_prepare; i++)
		bb_target__free(prog->prepare[i]);
	free(prog->prepare);
	prog->prepare = NULL;
}

static int say_which(const struct bb_prepare_spec *p, int rc, struct bb_err *err)
{
	return rc && err ? bb_fail(err, rc, "prepare: '%s': %s", p->program, err->msg) : rc;
}

/* Loads the programs of `prepare`, unless they are loaded and share maps with the current load of
 * the measured program, which must be loaded. Returns 0; -EINVAL for a program that shares no map,
 * or an input that its type does not take; or another -errno. */
static int open_prepares(struct bb_test_prog *prog, struct bb_err *err)
{
	const struct bb_variant_spec *v = prog->spec;
	int rc = 0;

	if (prog->prepare && !bb_target__shares_map(prog->target, prog->prepare[0]))
		close_prepares(prog);
	if (!v->n_prepare || prog->prepare)
		return 0;
	prog->prepare = bb_calloc(v->n_prepare, sizeof(*prog->prepare));
	for (size_t i = 0; !rc && i < v->n_prepare; i++) {
		const struct bb_prepare_spec *p = &v->prepare[i];

		rc = bb_companion__load(prog, p->program, &prog->prepare[i], err);
		if (!rc && !bb_target__shares_map(prog->target, prog->prepare[i]))
			rc = bb_fail(err, -EINVAL,
				     "it shares no map with '%s', so its runs change nothing",
				     v->program);
		rc = say_which(p, rc, err);
	}
	if (rc)
		close_prepares(prog);
	return rc;
}

static bool asks_for(const struct bb_variant_spec *v, enum bb_self what)
{
	if (BB_ANY(v->globals, v->n_globals, it->self == what))
		return true;
	for (size_t i = 0; i < v->maps.n; i++)
		if (BB_ANY(v->maps.v[i].entries, v->maps.v[i].n_entries,
			   it->key.self == what || it->value.self == what))
			return true;
	return false;
}

static int find_pid(struct bb_test_prog *s, struct bb_err *err)
{
	const struct bb_variant_spec *v = s->spec;
	int rc = 0;

	if (v->fired_by.run)
		return bb_fail(err, -ENOTSUP,
			       "{pid: self}: the command of 'fired_by: {run: ...}' is another "
			       "process each time");
	s->self->pid = v->pid;
	if (!v->pid) {
		rc = bb_reserve_pid(&s->self_pid, err);
		s->self->pid = rc ? 0 : (uint32_t)s->self_pid;
	}
	return rc;
}

/* Finds the values for `{pid: self}` and the like in the scenario, before the program is loaded. */
static int find_self(struct bb_test_prog *s, struct bb_err *err)
{
	const struct bb_variant_spec *v = s->spec;
	const struct bb_fire_site *site = bb_fire_site__shared();
	bool pid = asks_for(v, BB_SELF_PID) || asks_for(v, BB_SELF_PID_TGID),
	     cgroup = asks_for(v, BB_SELF_CGROUP), comm = asks_for(v, BB_SELF_COMM);
	int rc = 0;

	if (!pid && !cgroup && !comm && !(v->knows_pid && site))
		return 0;
	if (!site)
		return bb_fail(err, -ENOTSUP,
			       "{... : self} is of the process that fires, which only drives of "
			       "'trigger: fire' and 'hook' have");
	if ((cgroup || comm) && (v->pid || v->fired_by.run || v->fired_by.call))
		return bb_fail(err, -ENOTSUP,
			       "{%s: self} is known only where a trigger of the catalogue fires",
			       cgroup ? "cgroup" : "comm");
	if (cgroup && site->cgroup_fd < 0)
		return bb_fail(err, -ENOTSUP, "{cgroup: self}: there is no cgroup of ours: %s",
			       site->why_no_cgroup);
	s->self = bb_calloc(1, sizeof(*s->self));
	snprintf(s->self->comm, sizeof(s->self->comm), "%s", BB_FIRER_NAME);
	s->self->cgroup_id = site->cgroup_id;
	s->self->cgroup_fd = site->cgroup_fd;
	if (pid)
		rc = find_pid(s, err);
	else if (v->knows_pid)
		find_pid(s, NULL);
	return rc;
}

int bb_test_prog__open(const struct bb_variant_spec *spec, const char *object_path,
		       struct bb_test_prog *ret_prog, struct bb_err *err)
{
	struct bb_test_prog s = {.spec = spec, .jit_mod64 = -1};
	int rc = 0;

	if (bb_variant_is_live(spec)) {
		rc = bb_target__open(&(struct bb_source_spec){.pinned = spec->pinned,
							      .id = spec->id},
				     &s.target, err);
	} else if (object_path) {
		rc = find_self(&s, err);
		if (!rc)
			rc = bb_target__open(&(struct bb_source_spec){.path = object_path,
								      .program = spec->program,
								      .type = spec->type,
								      .globals = spec->globals,
								      .n_globals = spec->n_globals,
								      .self = s.self},
					     &s.target, err);
	}
	if (rc) {
		bb_test_prog__close(&s);
		return rc;
	}
	if (s.target && !bb_variant_is_live(spec))
		bb_target__say_maps(s.target, &spec->maps);
	*ret_prog = s;
	return 0;
}

/* For the drive `fake`, which loads nothing. `where` is a set of JIT addresses modulo 64. */
static int random_place(struct bb_rng *rng, uint64_t where)
{
	int mod64 = __builtin_ctzll(where);

	if (where == bb_place(mod64))
		return mod64;
	do
		mod64 = (int)bb_rng_below(rng, BB_PLACES);
	while (!(where & bb_place(mod64)));
	return mod64;
}

int bb_test_prog__load(struct bb_test_prog *s, struct bb_rng *rng, uint64_t where,
		       unsigned int max_tries, struct bb_err *err)
{
	int rc = 0;

	bb_give_way();
	if (s->target) {
		rc = bb_target__load_at(s->target, where, max_tries, s->seen_mod64, err);
		s->jit_mod64 = s->target->jit_mod64;
	} else if (s->in_place) {
		s->jit_mod64 = -1;
	} else {
		s->jit_mod64 = random_place(rng, where);
	}
	/* a load that a signal or the deadline broke off has not failed */
	return bb_unless_broken_off(rc);
}

int bb_test_prog__reset_maps(struct bb_test_prog *s, struct bb_err *err)
{
	if (!s->target)
		return 0;
	int rc = open_prepares(s, err);
	if (rc)
		return rc;
	/* Maps that no program changes are written only once. But if globals have values of the
	 * process that fires, other code may write to the maps in the next load. */
	if (!BB_ANY(s->spec->globals, s->spec->n_globals, it->self))
		bb_target__find_steady(s->target, bb_target__only_reads);
	rc = bb_target__reset_maps(s->target, err);
	for (size_t i = 0; !rc && s->prepare && i < s->spec->n_prepare; i++) {
		const struct bb_prepare_spec *p = &s->spec->prepare[i];
		const struct bb_test_run_type *type;
		uint32_t prog_type;

		rc = bb_target__prog_type(s->prepare[i], &prog_type, err);
		if (!rc)
			rc = bb_test_run_type__find(prog_type, &type, err);
		for (size_t k = 0; !rc && (!k || k < p->inputs.n); k++)
			rc = bb_test_run__times(s->prepare[i], type,
						p->inputs.n ? &p->inputs.v[k] : type->otherwise,
						p->times ? p->times : 1, err);
		rc = say_which(p, rc, err);
	}
	return rc;
}

void bb_test_prog__close(struct bb_test_prog *s)
{
	bb_companions__close(s);
	close_prepares(s);
	bb_target__free(s->target);
	free(s->self);
	*s = (struct bb_test_prog){.jit_mod64 = -1};
}
