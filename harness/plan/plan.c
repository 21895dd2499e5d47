/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan/plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"

/* The parameter that a drive runs over; NULL values[] means that it has none. */
struct param {
	const char *name;
	const uint32_t *values;
	size_t n;
};

static struct param param_of(const struct bb_drive_spec *d)
{
	if (!strcmp(d->with, "step"))
		return (struct param){"stack_depth", d->stack_depth.v, d->stack_depth.n};
	if (!strcmp(d->with, "in-situ"))
		return (struct param){"freq_hz", d->freq_hz.v, d->freq_hz.n};
	return (struct param){NULL, NULL, 1};
}

static bool is_in(const char *name, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

static int say_unknown(const char *kind, const char *word, const struct bb_scenario *s, const char *const *have, size_t n,
		       struct bb_err *err)
{
	const char *near = bb_nearest(word, have, n);
	char list[1024] = "";

	if (near)
		return bb_fail(err, -ENOENT, "scenario '%s' has no %s '%s'; did you mean '%s'?", s->name, kind, word, near);
	for (size_t i = 0; i < n; i++) {
		size_t used = strlen(list);

		snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "", have[i]);
	}
	return bb_fail(err, -ENOENT, "scenario '%s' has no %s '%s'; it has: %s", s->name, kind, word, list);
}

/* Every name asked for must exist. */
static int check_names(const struct bb_scenario *s, const struct bb_plan_opts *opts, struct bb_err *err)
{
	size_t most = s->n_variants > s->n_drives ? s->n_variants : s->n_drives;
	const char **have = calloc(most ? most : 1, sizeof(*have));
	int rc = 0;

	if (!have)
		return bb_fail_nomem(err);
	for (size_t i = 0; i < s->n_variants; i++)
		have[i] = s->variants[i].name;
	for (size_t i = 0; !rc && i < opts->n_variants; i++)
		if (!is_in(opts->variants[i], have, s->n_variants))
			rc = say_unknown("variant", opts->variants[i], s, have, s->n_variants, err);
	for (size_t i = 0; i < s->n_drives; i++)
		have[i] = s->drives[i].with;
	for (size_t i = 0; !rc && i < opts->n_drives; i++)
		if (!is_in(opts->drives[i], have, s->n_drives))
			rc = say_unknown("drive", opts->drives[i], s, have, s->n_drives, err);
	free(have);
	return rc;
}

static int add_cell(struct bb_plan *p, const struct bb_plan_opts *opts, const struct bb_variant_spec *v,
		    const struct bb_drive_spec *d, const struct param *param, size_t i)
{
	struct bb_cell *cells = realloc(p->cells, (p->n_cells + 1) * sizeof(*cells));
	struct bb_cell *c;
	size_t len;

	if (!cells)
		return -ENOMEM;
	p->cells = cells;
	c = &cells[p->n_cells++];
	memset(c, 0, sizeof(*c));
	c->variant = v;
	c->drive = d;
	c->param = param->name;
	c->param_value = param->values ? param->values[i] : 0;
	c->floor = BB_NO_CELL;
	c->samples = opts->samples ? opts->samples : d->samples ? d->samples : BB_DEFAULT_SAMPLES;
	if (!strcmp(d->with, "in-situ"))
		c->seconds = d->seconds > 0 ? d->seconds : BB_DEFAULT_SECONDS;
	snprintf(c->name, sizeof(c->name), "%s/%s/%s", p->scenario->name, v->name, d->with);
	len = strlen(c->name);
	if (c->param)
		snprintf(c->name + len, sizeof(c->name) - len, "/%s=%u", c->param, c->param_value);
	return 0;
}

static void find_floors(struct bb_plan *p)
{
	for (size_t i = 0; i < p->n_cells; i++) {
		struct bb_cell *c = &p->cells[i];

		for (size_t j = 0; p->scenario->floor && j < p->n_cells; j++) {
			const struct bb_cell *f = &p->cells[j];

			if (j != i && f->drive == c->drive && f->param_value == c->param_value &&
			    !strcmp(f->variant->name, p->scenario->floor))
				c->floor = j;
		}
	}
}

static bool wanted(const struct bb_scenario *s, const struct bb_plan_opts *opts, const struct bb_variant_spec *v)
{
	return !opts->n_variants || is_in(v->name, opts->variants, opts->n_variants) ||
	       (s->floor && !strcmp(v->name, s->floor));
}

int bb_plan__make(const struct bb_scenario *scenario, const struct bb_plan_opts *opts, struct bb_plan *ret_plan,
		  struct bb_err *err)
{
	struct bb_plan p = {.scenario = scenario};
	int rc = check_names(scenario, opts, err);

	if (rc)
		return rc;
	p.loads = opts->loads ? opts->loads : scenario->loads ? scenario->loads : BB_DEFAULT_LOADS;
	for (size_t d = 0; d < scenario->n_drives; d++) {
		struct param param = param_of(&scenario->drives[d]);

		if (opts->n_drives && !is_in(scenario->drives[d].with, opts->drives, opts->n_drives))
			continue;
		for (size_t i = 0; i < param.n; i++) {
			for (size_t v = 0; v < scenario->n_variants; v++) {
				if (!wanted(scenario, opts, &scenario->variants[v]))
					continue;
				if (add_cell(&p, opts, &scenario->variants[v], &scenario->drives[d], &param, i)) {
					bb_plan__done(&p);
					return bb_fail_nomem(err);
				}
			}
		}
	}
	if (!p.n_cells)
		return bb_fail(err, -EINVAL, "scenario '%s': nothing is left to measure", scenario->name);
	find_floors(&p);
	*ret_plan = p;
	return 0;
}

void bb_plan__done(struct bb_plan *p)
{
	if (!p)
		return;
	free(p->cells);
	memset(p, 0, sizeof(*p));
}
