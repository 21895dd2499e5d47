/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan/plan.h"

#include "base/parse.h"
#include "base/text.h"
#include "plan/field.h"

/* The parameter of a drive. Each variant has one case for each of the n values. */
struct param {
	const char *name; /* NULL if the drive has no parameter */
	/* values[n]; NULL if the inputs are the values, or if there is no parameter */
	const uint32_t *values;
	const struct bb_inputs *inputs;
	bool numbered; /* the names of all inputs are whole numbers */
	bool is_fill;  /* each value is a number of entries to which maps are filled */
	size_t n;
};

/* Refuses leading zeros, so that two names never give one number. */
static bool is_number(const char *name, uint32_t *ret_value)
{
	char again[16];
	uint64_t v = 0;

	if (bb_parse_u64(name, &v) || v > UINT32_MAX)
		return false;
	snprintf(again, sizeof(again), "%u", (uint32_t)v);
	*ret_value = (uint32_t)v;
	return !strcmp(again, name);
}

static struct param param_of(const struct bb_scenario *s, const struct bb_drive_spec *d)
{
	const struct bb_inputs *in = &d->inputs;
	struct param p = {.n = 1};
	uint32_t v = 0;

	if (d->kind->takes_inputs && in->n && !d->order) {
		p = (struct param){.inputs = in, .n = in->n, .numbered = true};
		p.name = in->n > 1 ? "input" : NULL;
		for (size_t i = 0; p.numbered && i < in->n; i++)
			p.numbered = is_number(in->v[i].name, &v);
	} else if (!d->kind->takes_inputs && d->kind->param) {
		p = (struct param){.name = d->kind->param, .values = d->values.v, .n = d->values.n};
	}
	if (s->fill_counts.n && !d->kind->counts) {
		p.name = "entries";
		p.values = s->fill_counts.v;
		p.n = s->fill_counts.n;
		p.is_fill = true;
	}
	return p;
}

static bool is_in(const char *name, const char *const *names, size_t n)
{
	return BB_ANY(names, n, !strcmp(*it, name));
}

/* Says that `word` is not among the valid names have[n]. The n_others names after them are valid in
 * other scenarios, so the message may suggest one of them, too. */
static int say_unknown(const char *kind, const char *word, const struct bb_scenario *s,
		       const char *const *have, size_t n, size_t n_others, struct bb_err *err)
{
	const char *near = bb_nearest(word, have, n);
	char list[1024] = "";

	if (near)
		return bb_fail(err, -ENOENT, "scenario '%s' has no %s '%s'; did you mean '%s'?",
			       s->name, kind, word, near);
	for (size_t i = 0; i < n; i++)
		bb_list_words(list, sizeof(list), ", ", "%s", have[i]);
	return bb_fail(err, -ENOENT, "scenario '%s' has no %s '%s'%s; it has: %s", s->name, kind,
		       word,
		       is_in(word, have + n, n_others)
			       ? ""
			       : bb_phrase__suggest(word, have + n, n_others).text,
		       list);
}

/* --drive "in-situ" names all drives in situ, "in-situ-packets" only one of them. "parallel" names
 * "parallel" and "parallel-same". */
static bool is_called(const struct bb_drive_spec *d, const char *name)
{
	return !strcmp(name, bb_drive_name(d)) ||
	       ((d->kind->name || d->same_input) && !strcmp(name, d->kind->with));
}

static int check_names(const struct bb_scenario *s, const struct bb_plan_opts *opts,
		       struct bb_err *err)
{
	size_t most = s->n_variants > s->n_drives ? s->n_variants : s->n_drives;
	const char **have = bb_calloc(most + bb_n_drive_kinds, sizeof(*have));
	int rc = 0;

	for (size_t i = 0; i < s->n_variants; i++)
		have[i] = s->variants[i].name;
	for (size_t i = 0; !rc && i < opts->variants.n; i++)
		if (!is_in(opts->variants.v[i], have, s->n_variants))
			rc = say_unknown("variant", opts->variants.v[i], s, have, s->n_variants, 0,
					 err);
	for (size_t i = 0; i < s->n_drives; i++)
		have[i] = bb_drive_name(&s->drives[i]);
	for (size_t i = 0; i < bb_n_drive_kinds; i++)
		have[s->n_drives + i] = bb_drive_kind_name(bb_drive_kinds[i]);
	for (size_t i = 0; !rc && i < opts->drives.n; i++) {
		if (!BB_ANY(s->drives, s->n_drives, is_called(it, opts->drives.v[i])))
			rc = say_unknown("drive", opts->drives.v[i], s, have, s->n_drives,
					 bb_n_drive_kinds, err);
	}
	free(have);
	return rc;
}

/* p->cases must have room for the case. */
static void add_case(struct bb_plan *p, const struct bb_plan_opts *opts,
		     const struct bb_variant_spec *v, const struct bb_drive_spec *d,
		     const struct param *param, size_t i)
{
	struct bb_plan_case *c = &p->cases[p->n_cases++];
	const struct bb_drive_kind *kind = d->kind;
	const struct bb_pace *pace = bb_drive_pace(d);
	double seconds = d->seconds > 0 ? d->seconds : kind->seconds;
	bool is_placed = kind->needs_bpf && !(seconds > 0) && !kind->counts &&
			 param->n <= BB_SWEEP_MOST_LOADED;

	*c = (struct bb_plan_case){.variant = v,
				   .drive = d,
				   .param = param->name,
				   .input = param->inputs
						    ? &param->inputs->v[param->is_fill ? 0 : i]
						    : NULL,
				   .floor = BB_NO_CASE,
				   .seconds = seconds,
				   .loads = p->loads,
				   .samples = opts->samples ? opts->samples : d->samples};
	if (!c->loads)
		c->loads = is_placed ? BB_DEFAULT_LOADS : BB_DEFAULT_SLICES;
	if (!c->samples) {
		c->samples = pace->samples;
		if (pace->sweep_samples && c->samples > pace->sweep_samples / param->n)
			c->samples = (uint32_t)(pace->sweep_samples / param->n);
		if (pace->sweep_samples && c->samples < c->loads)
			c->samples = c->loads;
	}
	c->what = (size_t)snprintf(c->name, sizeof(c->name), "%s/%s/", p->scenario->name, v->name);
	size_t len = c->what + (size_t)snprintf(c->name + c->what, sizeof(c->name) - c->what, "%s",
						bb_drive_name(d));
	if (param->values)
		c->param_value = c->driver_param = param->values[i];
	if (param->is_fill)
		c->driver_param = d->values.n ? d->values.v[0] : 0;
	if (!c->param)
		return;
	c->value = len + strlen(c->param) + 2;
	if (!c->input || param->is_fill) {
		snprintf(c->name + len, sizeof(c->name) - len, "/%s=%u", c->param, c->param_value);
		return;
	}
	c->param_value = c->driver_param = (uint32_t)i;
	if (param->numbered)
		is_number(c->input->name, &c->param_value);
	snprintf(c->name + len, sizeof(c->name) - len, "/%s=%s", c->param, c->input->name);
}

static bool wanted(const struct bb_plan_opts *opts, const struct bb_drive_spec *d,
		   const char *variant)
{
	if (d->n_variants && !is_in(variant, (const char *const *)d->variants, d->n_variants))
		return false;
	return !opts->variants.n || is_in(variant, opts->variants.v, opts->variants.n);
}

/* Adds the cases of a drive, grouped by value of the parameter. Each group has its own floor. */
static void add_drive(struct bb_plan *p, const struct bb_plan_opts *opts,
		      const struct bb_drive_spec *d)
{
	const struct bb_scenario *s = p->scenario;
	struct param param = param_of(s, d);

	if (!BB_ANY(s->variants, s->n_variants, wanted(opts, d, it->name)))
		return; /* no variant is left, and a floor alone is of no use */
	bb_resize(&p->cases, p->n_cases + param.n * s->n_variants, sizeof(*p->cases));
	for (size_t i = 0; i < param.n; i++) {
		size_t first = p->n_cases, floor = BB_NO_CASE;
		/* Copies of a variant (bb_scenario__spread_fills()) differ in fill_count. If the
		 * parameter is not the number of entries, only the last copy is measured. */
		size_t nth_fill = param.is_fill ? i : s->fill_counts.n - 1;

		for (size_t k = 0; k < s->n_variants; k++) {
			const struct bb_variant_spec *v = &s->variants[k];
			bool is_floor = d->floor && !d->kind->no_floor &&
					!strcmp(v->name, d->floor);

			if ((v->fill_count && v->fill_count != s->fill_counts.v[nth_fill]) ||
			    (!is_floor && !wanted(opts, d, v->name)))
				continue;
			if (is_floor)
				floor = p->n_cases;
			add_case(p, opts, v, d, &param, i);
		}
		for (size_t c = first; c < p->n_cases; c++)
			if (c != floor && !d->kind->own_floor)
				p->cases[c].floor = floor;
	}
}

/* A drive with `same_input` is compared with a drive of its kind without it, which must have the
 * same first input, and one input for each CPU. */
static int check_same_input(const struct bb_scenario *s, const struct bb_drive_spec *d,
			    struct bb_err *err)
{
	uint32_t most = 1;

	for (size_t i = 0; i < d->values.n; i++)
		most = d->values.v[i] > most ? d->values.v[i] : most;
	if (!d->same_input || bb_scenario__each_input(s, d, most) ||
	    !BB_ANY(s->drives, s->n_drives, it->kind == d->kind && !it->same_input))
		return 0;
	return bb_fail(err, -EINVAL,
		       "drive '%s' of scenario '%s': %zu input%s for %u CPU%s: in the drive '%s', "
		       "each CPU must have an input of its own, and the first must be the same as "
		       "here; give %u inputs (in one pcap, or `flows: %u` of one packet), or take "
		       "fewer CPUs",
		       bb_drive_name(d), s->name, d->inputs.n, bb_plural(d->inputs.n), most,
		       bb_plural(most), d->kind->with, most, most);
}

int bb_plan__make(const struct bb_scenario *scenario, const struct bb_plan_opts *opts,
		  struct bb_plan *ret_plan, struct bb_err *err)
{
	struct bb_plan p = {.scenario = scenario};
	int rc = check_names(scenario, opts, err);

	if (rc)
		return rc;
	p.loads = opts->loads ? opts->loads : scenario->loads;
	for (size_t d = 0; d < scenario->n_drives; d++) {
		if (rc || (opts->drives.n && !BB_ANY(opts->drives.v, opts->drives.n,
						     is_called(&scenario->drives[d], *it))))
			continue;
		rc = check_same_input(scenario, &scenario->drives[d], err);
		add_drive(&p, opts, &scenario->drives[d]);
	}
	if (!rc && !p.n_cases)
		rc = bb_fail(err, -EINVAL, "scenario '%s': nothing is left to measure",
			     scenario->name);
	for (size_t i = 0; i < p.n_cases; i++)
		if (p.cases[i].loads > p.loads)
			p.loads = p.cases[i].loads;
	for (size_t i = 0; !rc && i < p.n_cases; i++) {
		const struct bb_plan_case *c = &p.cases[i], *first = NULL;

		/* only a drive of the same name can have made the same case */
		if (BB_ANY(scenario->drives, (size_t)(c->drive - scenario->drives),
			   !strcmp(bb_drive_name(it), bb_drive_name(c->drive))))
			first = BB_FIND(p.cases, i, !strcmp(it->name, c->name));
		if (first)
			rc = bb_fail(err, -EINVAL,
				     "%s:%u:%u: this drive makes the case '%s' a second time, "
				     "after the drive at %u:%u; two drives called '%s' must differ "
				     "in their variants or in the values of their parameter, or be "
				     "in two scenarios",
				     scenario->path, c->drive->where.line, c->drive->where.col,
				     c->name, first->drive->where.line, first->drive->where.col,
				     bb_drive_name(c->drive));
	}
	if (rc)
		bb_plan__done(&p);
	else
		*ret_plan = p;
	return rc;
}

void bb_plan__done(struct bb_plan *p)
{
	if (!p)
		return;
	free(p->cases);
	memset(p, 0, sizeof(*p));
}
