/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "plan/scenario.h"

static void variant_done(struct bb_variant_spec *v)
{
	for (size_t i = 0; i < v->n_globals; i++)
		free(v->globals[i].name);
	free(v->globals);
	bb_map_specs__done(&v->maps);
	free(v->name);
	free(v->program);
	free(v->object);
	free(v->type);
	free(v->pinned);
	free(v->description);
	free(v->binary);
	free(v->function);
	bb_fired_by__done(&v->fired_by);
	free(v->binary_at);
	free(v->fired_at);
	free(v->consumer);
	free(v->sampler);
}

static void drive_done(struct bb_drive_spec *d)
{
	for (size_t i = 0; i < d->target.n_args; i++)
		free(d->target.args[i]);
	free(d->target.args);
	free(d->target.workload);
	for (size_t i = 0; i < d->n_variants; i++)
		free(d->variants[i]);
	free(d->variants);
	free(d->floor);
	bb_inputs__done(&d->inputs);
	free(d->event);
	free(d->values.v);
	free(d->step.inside);
	free(d->call.function);
}

void bb_scenario__free(struct bb_scenario *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n_variants; i++)
		variant_done(&s->variants[i]);
	for (size_t i = 0; i < s->n_drives; i++)
		drive_done(&s->drives[i]);
	free(s->variants);
	free(s->drives);
	bb_map_specs__done(&s->maps);
	free(s->path);
	free(s->name);
	free(s->description);
	free(s->object);
	free(s->floor);
	free(s->anchor);
	free(s);
}
