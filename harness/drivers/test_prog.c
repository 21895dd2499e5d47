/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "drivers/test_prog.h"

#include "base/deadline.h"
#include "base/give_way.h"

int bb_test_prog__open(const struct bb_variant_spec *spec, const char *object_path,
		       struct bb_test_prog *ret_subject, struct bb_err *err)
{
	struct bb_test_prog s = {.spec = spec, .jit_mod64 = -1};
	int rc = 0;

	if (bb_variant_is_live(spec))
		rc = bb_target__adopt(spec->id, spec->pinned, &s.target, err);
	else if (object_path)
		rc = bb_target__open_as(object_path, spec->program, spec->type, spec->globals,
					spec->n_globals, &s.target, err);
	if (rc)
		return rc;
	if (s.target && !bb_variant_is_live(spec)) /* another's maps hold what they hold */
		bb_target__say_maps(s.target, &spec->maps);
	*ret_subject = s;
	return 0;
}

/* A made-up place among `where`. */
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
		s->jit_mod64 = bb_target__jit_mod64(s->target);
	} else if (s->in_place) {
		s->jit_mod64 = -1;
	} else {
		s->jit_mod64 = random_place(rng, where);
	}
	/* a load that was broken off is no load that failed */
	return bb_unless_broken_off(rc);
}

int bb_test_prog__reset_maps(struct bb_test_prog *s, struct bb_err *err)
{
	return s->target ? bb_target__reset_maps(s->target, err) : 0;
}

void bb_test_prog__close(struct bb_test_prog *s)
{
	if (!s)
		return;
	bb_target__free(s->target);
	*s = (struct bb_test_prog){.jit_mod64 = -1};
}
