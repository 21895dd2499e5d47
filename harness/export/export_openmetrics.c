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

/* One value of a figure; `bound`: which end of its interval, or the "value" itself. */
static void put_sample(const struct bb_figure_row *f, const char *family, const char *bound,
		       double value, double scale, FILE *mem)
{
	if (!isfinite(value))
		return;
	fputs(family, mem);
	if (f->c)
		bb_openmetrics_label("benchmark", f->name, "{", mem);
	bb_openmetrics_label("scenario", f->scenario, f->c ? "," : "{", mem);
	bb_openmetrics_label("variant", f->variant, ",", mem);
	bb_openmetrics_label(f->c ? "drive" : "program", f->c ? f->c->drive : f->program->program,
			     ",", mem);
	bb_openmetrics_label(f->c ? "estimate" : "type", f->c ? bound : f->program->type, ",", mem);
	fputs("} ", mem);
	bb_json_double(mem, value * scale);
	putc('\n', mem);
}

/* All figures of one metric; nanoseconds become seconds. */
static void put_family(const struct bb_report *r, const struct bb_metric_def *def, FILE *mem)
{
	bool is_time = !strcmp(def->unit, "ns"), any = false;
	const char *unit = is_time ? "_seconds" : !strcmp(def->unit, "B") ? "_bytes" : "";
	double scale = is_time ? S_PER_NS : 1;
	char name[96];
	size_t len = (size_t)snprintf(name, sizeof(name), "bpfbench_%s", def->name);

	if (is_time && !strcmp(name + len - 3, "_ns"))
		name[len - 3] = '\0';
	if (!strstr(name, unit))
		strncat(name, unit, sizeof(name) - strlen(name) - 1);
	for (struct bb_figure_row f = {0}; bb_figure_row__next(&f, r);) {
		if (f.def != def)
			continue;
		if (!any)
			fprintf(mem, "# HELP %s %s\n# TYPE %s gauge\n", name, def->doc, name);
		if (!any && is_time)
			fprintf(mem, "# UNIT %s seconds\n", name);
		any = true;
		put_sample(&f, name, "value", f.e.value, scale, mem);
		put_sample(&f, name, "lower", f.e.lo, scale, mem);
		put_sample(&f, name, "upper", f.e.hi, scale, mem);
	}
}

int bb_export_openmetrics(const struct bb_report *r, FILE *mem, struct bb_err *err)
{
	(void)err;
	for (size_t i = 0; i < bb_n_metrics; i++)
		put_family(r, &bb_metrics[i], mem);
	for (size_t i = 0; i < bb_n_static_metrics; i++)
		put_family(r, &bb_static_metrics[i], mem);
	fputs("# EOF\n", mem);
	return 0;
}
