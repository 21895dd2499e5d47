/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "drivers/prepare.h"

#include "base/deadline.h"
#include "drivers/companions.h"
#include "drivers/trigger_test_run.h"

/* Adds to the message which item of `prepare` it is about. */
static int say_which(const struct bb_prepare_spec *p, int rc, struct bb_err *err)
{
	return rc && err ? bb_fail(err, rc, "prepare: '%s': %s", p->program, err->msg) : rc;
}

static int load(const struct bb_test_prog *prog, const struct bb_prepare_spec *p,
		struct bb_target **ret_target, struct bb_err *err)
{
	int rc = bb_companion__load(prog, p->program, ret_target, err);

	if (!rc && !bb_target__shares_map(prog->target, *ret_target))
		rc = bb_fail(err, -EINVAL, "it shares no map with '%s', so its runs change nothing",
			     prog->spec->program);
	return say_which(p, rc, err);
}

int bb_prepare__open(struct bb_test_prog *prog, struct bb_err *err)
{
	const struct bb_variant_spec *v = prog->spec;
	int rc = 0;

	if (prog->prepare && !bb_target__shares_map(prog->target, prog->prepare[0]))
		bb_prepare__close(prog);
	if (!v->n_prepare || prog->prepare)
		return 0;
	prog->prepare = bb_calloc(v->n_prepare, sizeof(*prog->prepare));
	for (size_t i = 0; !rc && i < v->n_prepare; i++)
		rc = load(prog, &v->prepare[i], &prog->prepare[i], err);
	if (rc)
		bb_prepare__close(prog);
	return rc;
}

static int run_all(const struct bb_prepare_spec *p, struct bb_target *target, struct bb_err *err)
{
	const struct bb_test_run_type *type;
	uint32_t prog_type;
	int rc = bb_target__prog_type(target, &prog_type, err);

	rc = rc ? rc : bb_test_run_type__find(prog_type, &type, err);
	for (size_t i = 0; !rc && (!i || i < p->inputs.n); i++)
		rc = bb_test_run__times(target, type,
					p->inputs.n ? &p->inputs.v[i] : type->otherwise,
					p->times ? p->times : 1, err);
	return say_which(p, rc, err);
}

int bb_prepare__run(const struct bb_test_prog *prog, struct bb_err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && prog->prepare && i < prog->spec->n_prepare; i++)
		rc = run_all(&prog->spec->prepare[i], prog->prepare[i], err);
	return rc;
}

void bb_prepare__close(struct bb_test_prog *prog)
{
	for (size_t i = 0; prog->prepare && i < prog->spec->n_prepare; i++)
		bb_target__free(prog->prepare[i]);
	free(prog->prepare);
	prog->prepare = NULL;
}
