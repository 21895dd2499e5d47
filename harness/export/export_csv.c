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
	bool quoted = text && strpbrk(text, ",\"\n\r");

	fputs(quoted ? "\"" : "", mem);
	for (; text && *text; text++) {
		if (*text == '"')
			putc('"', mem);
		putc(*text, mem);
	}
	fputs(quoted ? "\"" : "", mem);
}

static void put_number(double value, FILE *mem)
{
	putc(',', mem);
	if (isfinite(value))
		bb_json_double(mem, value);
}

int bb_export_csv(const struct bb_report *r, FILE *mem, struct bb_err *err)
{
	(void)err;
	fputs(head, mem);
	for (struct bb_figure_row f = {0}; bb_figure_row__next(&f, r);) {
		const char *const names[] = {f.name, f.scenario, f.variant, f.c ? f.c->drive : NULL,
					     f.c ? f.c->param : NULL};

		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			put_text(names[i], mem);
			putc(',', mem);
		}
		if (f.c && f.c->param)
			fprintf(mem, "%u", f.c->param_value);
		fprintf(mem, ",%s,%s", f.def->name, f.def->unit);
		put_number(f.e.value, mem);
		put_number(f.e.lo, mem);
		put_number(f.e.hi, mem);
		if (f.c)
			fprintf(mem, ",%llu,%u\n", (unsigned long long)f.c->summary.samples,
				f.c->summary.loads);
		else
			fputs(",,\n", mem);
	}
	return 0;
}
