/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <math.h>

#include "base/json_writer.h"
#include "export/exporter.h"

/*
 * benchmark-action/github-action-benchmark: [{"name", "unit", "value", "range", "extra"}], and one
 * direction a file (customSmallerIsBetter, customBiggerIsBetter). Like BMF it has no place for what
 * is missing, so that is an error.
 */

/* "fun_xdp/v3/step/input=17 latency-p50": a chart a figure. The latency is the benchmark itself. */
static void put_entry(struct bb_json *w, const struct bb_figure_row *f)
{
	char name[2048];

	snprintf(name, sizeof(name), "%s %s", f->name, f->def->slug);
	bb_json__open(w, NULL, "{");
	bb_json__add_text(w, "name", name);
	bb_json__add_text(w, "unit", f->def->unit);
	bb_json__add_fixed(w, "value", f->e.value);
	if (isfinite(f->e.lo) && isfinite(f->e.hi)) {
		FILE *out = bb_json__add(w, "range");

		putc('"', out);
		bb_json_fixed(out, f->e.lo);
		fputs(" .. ", out);
		bb_json_fixed(out, f->e.hi);
		putc('"', out);
	}
	if (f->c)
		fprintf(bb_json__add(w, "extra"), "\"%llu samples, %u loads\"",
			(unsigned long long)f->c->summary.samples, f->c->summary.loads);
	bb_json__close(w);
}

static int put_direction(const struct bb_report *r, enum bb_direction direction, FILE *mem,
			 struct bb_err *err)
{
	struct bb_json w = {.out = mem, .indent = 2};

	bb_json__open(&w, NULL, "[\n");
	for (struct bb_figure_row f = {0}; bb_figure_row__next(&f, r);)
		if (f.def->slug && f.def->direction == direction &&
		    (!f.c || isfinite(f.c->summary.latency.value)))
			put_entry(&w, &f);
	if (!w.open[0].any)
		return bb_fail(err, -ENODATA, "the run has no figure of which %s is better",
			       direction == BB_LOWER_IS_BETTER ? "less" : "more");
	bb_json__end(&w);
	return 0;
}

int bb_export_github_smaller(const struct bb_report *r, FILE *mem, struct bb_err *err)
{
	return put_direction(r, BB_LOWER_IS_BETTER, mem, err);
}

int bb_export_github_bigger(const struct bb_report *r, FILE *mem, struct bb_err *err)
{
	return put_direction(r, BB_HIGHER_IS_BETTER, mem, err);
}
