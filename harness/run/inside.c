/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/inside.h"

#include "run/record.h"

struct bb_inside_path_name bb_inside_path_name(const struct bb_inside_path *p)
{
	struct bb_inside_path_name name = {"rest"};

	if (p->key >> 32)
		snprintf(name.text, sizeof(name.text), "%08" PRIx32, (uint32_t)(p->key >> 32));
	else if (p->key)
		snprintf(name.text, sizeof(name.text), "%" PRIu32, (uint32_t)p->key);
	return name;
}

static struct bb_case *add_case(struct bb_report *r, const char *scenario, const char *variant,
				const struct bb_inside_path *p, double seconds, double clock_ns)
{
	struct bb_case *c = BB_ADD(bb_case_record, r, cases);
	struct bb_series *s;
	double mean = bb_inside_path__mean(p, clock_ns);

	c->name = bb_asprintf("%s/%s/" BB_DRIVE_INSIDE, scenario, variant);
	c->scenario = bb_strdup(scenario);
	c->variant = bb_strdup(variant);
	c->drive = bb_strdup(BB_DRIVE_INSIDE);
	c->is_live = true;
	s = bb_record__series(c, 0, -1);
	s->elapsed_s = seconds;
	s->run_cnt = p->runs;
	s->multi = p->runs - p->timed;
	s->run_time_ns = isnan(mean) ? 0 : (uint64_t)(mean * (double)p->runs);
	bb_inside_path__samples(p, clock_ns, &s->hist);
	return c;
}

/* Returns the name of program `i`, followed by a number if an earlier program that ran has the same
 * name; free it. */
static char *name_variant(const struct bb_inside *in, const struct bb_inside_figures *figures,
			  size_t i)
{
	const char *name = *in->programs[i].name ? in->programs[i].name : "no-name";
	size_t n = 1;

	for (size_t k = 0; k < i; k++)
		n += figures[k].all.runs && !strcmp(in->programs[k].name, in->programs[i].name);
	return n > 1 ? bb_asprintf("%s-%zu", name, n) : bb_strdup(name);
}

static void add_paths(const struct bb_inside_figures *f, const char *scenario, const char *variant,
		      double seconds, double clock_ns, size_t n_paths, struct bb_report *r)
{
	for (size_t k = 0; f->n_paths > 1 && k < f->n_paths && k < n_paths; k++) {
		const struct bb_inside_path *p = &f->paths[k];
		char *name = bb_asprintf("%s.%s", variant, bb_inside_path_name(p).text);

		add_case(r, scenario, name, p, seconds, clock_ns)->path_share = (double)p->runs /
										(double)f->all.runs;
		free(name);
	}
}

void bb_inside__report(const struct bb_inside *in, const struct bb_inside_figures *figures,
		       uint64_t ended_ns, const char *scenario, size_t n_paths,
		       struct bb_report *report)
{
	for (size_t i = 0; i < in->n_programs; i++) {
		double seconds = (double)(ended_ns - in->programs[i].began_ns) * 1e-9;
		double clock_ns = in->price.clock_ns;
		char *variant;

		if (!in->programs[i].id || !figures[i].all.runs)
			continue;
		variant = name_variant(in, figures, i);
		add_case(report, scenario, variant, &figures[i].all, seconds, clock_ns);
		add_paths(&figures[i], scenario, variant, seconds, clock_ns, n_paths, report);
		free(variant);
	}
}
