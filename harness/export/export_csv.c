/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <string.h>

#include "base/json_writer.h"
#include "export/exporter.h"

/*
 * A row a figure (RFC 4180, but lines end in \n): what spreadsheets pivot and data frames read.
 * Cells that are absent are empty, and figures that are absent have no row.
 */
static const char head[] = "benchmark,scenario,variant,drive,parameter,parameter_value,metric,unit,"
			   "value,lower,upper,samples,loads\n";

static void put_text(const char *text, FILE *mem)
{
	if (text && !strpbrk(text, ",\"\n\r")) {
		fputs(text, mem);
		return;
	}
	if (!text)
		return;
	putc('"', mem);
	for (; *text; text++) {
		if (*text == '"')
			putc('"', mem);
		putc(*text, mem);
	}
	putc('"', mem);
}

static void put_texts(const char *const *texts, size_t n, FILE *mem)
{
	for (size_t i = 0; i < n; i++) {
		put_text(texts[i], mem);
		putc(',', mem);
	}
}

static void put_number(double value, FILE *mem)
{
	putc(',', mem);
	if (isfinite(value))
		bb_json_double(mem, value);
}

static void put_case(const struct bb_case *c, FILE *mem)
{
	const char *const names[] = {c->name, c->scenario, c->variant, c->drive, c->param};

	for (size_t i = 0; i < bb_n_metrics; i++) {
		const struct bb_estimate *e = bb_metric_of(&c->summary, &bb_metrics[i]);

		if (!isfinite(e->value))
			continue;
		put_texts(names, 5, mem);
		if (c->param)
			fprintf(mem, "%u", c->param_value);
		fprintf(mem, ",%s,%s", bb_metrics[i].name, bb_metrics[i].unit);
		put_number(e->value, mem);
		put_number(e->lo, mem);
		put_number(e->hi, mem);
		fprintf(mem, ",%llu,%u\n", (unsigned long long)c->summary.samples,
			c->summary.loads);
	}
}

static void put_program(const struct bb_program *p, FILE *mem)
{
	const char *const names[] = {p->name, p->scenario, p->variant};

	for (size_t i = 0; i < bb_n_static_metrics; i++) {
		double value = bb_static_of(&p->metrics, &bb_static_metrics[i]);

		if (!isfinite(value))
			continue;
		put_texts(names, 3, mem);
		fprintf(mem, ",,,%s,%s", bb_static_metrics[i].name, bb_static_metrics[i].unit);
		put_number(value, mem);
		fputs(",,,,\n", mem);
	}
}

static int compose(const struct bb_report *r, FILE *mem, struct bb_err *err)
{
	(void)err;
	fputs(head, mem);
	for (size_t i = 0; i < r->n_cases; i++)
		put_case(&r->cases[i], mem);
	for (size_t i = 0; i < r->n_programs; i++)
		put_program(&r->programs[i], mem);
	return 0;
}

int bb_export_csv(const struct bb_report *r, FILE *out, struct bb_err *err)
{
	return bb_export_whole(r, out, compose, err);
}
