/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <string.h>

#include "base/json_writer.h"
#include "export/exporter.h"

/*
 * OpenMetrics text (openmetrics.io, 1.0), which Prometheus' textfile collector reads too: gauges,
 * no timestamps, base units. A metric is a family; with --output the file appears whole or not at
 * all, as the collector wants it.
 */
#define S_PER_NS 1e-9

struct family {
	const struct bb_metric_def *def;
	bool is_time; /* ns, which become seconds */
	char name[96];
};

static struct family family_of(const struct bb_metric_def *def)
{
	struct family f = {.def = def, .is_time = !strcmp(def->unit, "ns")};
	const char *unit = f.is_time ? "_seconds" : !strcmp(def->unit, "B") ? "_bytes" : "";
	size_t len;

	snprintf(f.name, sizeof(f.name), "bpfbench_%s", def->name);
	len = strlen(f.name);
	if (f.is_time && len > 3 && !strcmp(f.name + len - 3, "_ns"))
		f.name[len - 3] = '\0';
	if (*unit && !strstr(f.name, unit))
		strncat(f.name, unit, sizeof(f.name) - strlen(f.name) - 1);
	return f;
}

static void put_family(const struct family *f, FILE *mem)
{
	fprintf(mem, "# HELP %s %s\n# TYPE %s gauge\n", f->name, f->def->doc, f->name);
	if (f->is_time)
		fprintf(mem, "# UNIT %s seconds\n", f->name);
}

void bb_openmetrics_label(const char *name, const char *value, const char *before, FILE *mem)
{
	fprintf(mem, "%s%s=\"", before, name);
	for (; value && *value; value++) {
		if (*value == '"' || *value == '\\')
			putc('\\', mem);
		if (*value == '\n')
			fputs("\\n", mem);
		else
			putc(*value, mem);
	}
	putc('"', mem);
}

static void put_value(const struct family *f, double value, FILE *mem)
{
	fputs("} ", mem);
	bb_json_double(mem, f->is_time ? value * S_PER_NS : value);
	putc('\n', mem);
}

/* The estimate, and beside it the ends of its interval under a label of their own. */
static void put_case(const struct family *f, const struct bb_case *c, const char *bound,
		     double value, FILE *mem)
{
	if (!isfinite(value))
		return;
	fputs(f->name, mem);
	bb_openmetrics_label("benchmark", c->name, "{", mem);
	bb_openmetrics_label("scenario", c->scenario, ",", mem);
	bb_openmetrics_label("variant", c->variant, ",", mem);
	bb_openmetrics_label("drive", c->drive, ",", mem);
	bb_openmetrics_label("estimate", bound, ",", mem);
	put_value(f, value, mem);
}

static bool any_case(const struct bb_report *r, const struct bb_metric_def *def)
{
	for (size_t i = 0; i < r->n_cases; i++)
		if (isfinite(bb_metric_of(&r->cases[i].summary, def)->value))
			return true;
	return false;
}

static bool any_program(const struct bb_report *r, const struct bb_metric_def *def)
{
	for (size_t i = 0; i < r->n_programs; i++)
		if (isfinite(bb_static_of(&r->programs[i].metrics, def)))
			return true;
	return false;
}

static void put_metric(const struct bb_report *r, const struct bb_metric_def *def, FILE *mem)
{
	struct family f = family_of(def);

	put_family(&f, mem);
	for (size_t i = 0; i < r->n_cases; i++) {
		const struct bb_estimate *e = bb_metric_of(&r->cases[i].summary, def);

		put_case(&f, &r->cases[i], "value", e->value, mem);
		put_case(&f, &r->cases[i], "lower", e->lo, mem);
		put_case(&f, &r->cases[i], "upper", e->hi, mem);
	}
}

static void put_static_metric(const struct bb_report *r, const struct bb_metric_def *def, FILE *mem)
{
	struct family f = family_of(def);

	put_family(&f, mem);
	for (size_t i = 0; i < r->n_programs; i++) {
		const struct bb_program *p = &r->programs[i];
		double value = bb_static_of(&p->metrics, def);

		if (!isfinite(value))
			continue;
		fputs(f.name, mem);
		bb_openmetrics_label("scenario", p->scenario, "{", mem);
		bb_openmetrics_label("variant", p->variant, ",", mem);
		bb_openmetrics_label("program", p->program, ",", mem);
		bb_openmetrics_label("type", p->type, ",", mem);
		put_value(&f, value, mem);
	}
}

static int compose(const struct bb_report *r, FILE *mem, struct bb_err *err)
{
	(void)err;
	for (size_t i = 0; i < bb_n_metrics; i++)
		if (any_case(r, &bb_metrics[i]))
			put_metric(r, &bb_metrics[i], mem);
	for (size_t i = 0; i < bb_n_static_metrics; i++)
		if (any_program(r, &bb_static_metrics[i]))
			put_static_metric(r, &bb_static_metrics[i], mem);
	fputs("# EOF\n", mem);
	return 0;
}

int bb_export_openmetrics(const struct bb_report *r, FILE *out, struct bb_err *err)
{
	return bb_export_whole(r, out, compose, err);
}
