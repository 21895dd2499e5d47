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

static void put_entry(struct bb_json *w, const char *name, const struct bb_metric_def *def,
		      const struct bb_estimate *e, const struct bb_case *c)
{
	bb_json__open(w, NULL, "{");
	bb_json__add_text(w, "name", name);
	bb_json__add_text(w, "unit", def->unit);
	bb_json__add_fixed(w, "value", e->value);
	if (isfinite(e->lo) && isfinite(e->hi)) {
		FILE *out = bb_json__add(w, "range");

		putc('"', out);
		bb_json_fixed(out, e->lo);
		fputs(" .. ", out);
		bb_json_fixed(out, e->hi);
		putc('"', out);
	}
	if (c)
		fprintf(bb_json__add(w, "extra"), "\"%llu samples, %u loads\"",
			(unsigned long long)c->summary.samples, c->summary.loads);
	bb_json__close(w);
}

/* "fun_xdp/v3/step/input=17 latency-p50": a chart a figure. The latency is the benchmark itself. */
static const char *name_of(const char *benchmark, const struct bb_metric_def *def, char *buf,
			   size_t size)
{
	snprintf(buf, size, "%s %s", benchmark, def->slug);
	return buf;
}

static int compose(const struct bb_report *r, enum bb_direction direction, FILE *mem,
		   struct bb_err *err)
{
	char name[2048];
	struct bb_json w = {.out = mem, .indent = 2};

	bb_json__open(&w, NULL, "[\n");
	for (size_t i = 0; i < r->n_cases; i++) {
		const struct bb_case *c = &r->cases[i];

		if (!isfinite(c->summary.latency.value))
			continue;
		for (size_t k = 0; k < bb_n_metrics; k++) {
			const struct bb_estimate *e = bb_metric_of(&c->summary, &bb_metrics[k]);

			if (bb_metrics[k].slug && bb_metrics[k].direction == direction &&
			    isfinite(e->value))
				put_entry(&w, name_of(c->name, &bb_metrics[k], name, sizeof(name)),
					  &bb_metrics[k], e, c);
		}
	}
	for (size_t i = 0; i < r->n_programs; i++) {
		for (size_t k = 0; k < bb_n_static_metrics; k++) {
			const struct bb_metric_def *def = &bb_static_metrics[k];
			const struct bb_estimate e = {bb_static_of(&r->programs[i].metrics, def),
						      NAN, NAN};

			if (def->direction == direction && isfinite(e.value))
				put_entry(&w, name_of(r->programs[i].name, def, name, sizeof(name)),
					  def, &e, NULL);
		}
	}
	if (!w.open[0].any)
		return bb_fail(err, -ENODATA, "the run has no figure of which %s is better",
			       direction == BB_LOWER_IS_BETTER ? "less" : "more");
	bb_json__end(&w);
	return 0;
}

static int compose_smaller(const struct bb_report *r, FILE *mem, struct bb_err *err)
{
	return compose(r, BB_LOWER_IS_BETTER, mem, err);
}

static int compose_bigger(const struct bb_report *r, FILE *mem, struct bb_err *err)
{
	return compose(r, BB_HIGHER_IS_BETTER, mem, err);
}

int bb_export_github_smaller(const struct bb_report *r, FILE *out, struct bb_err *err)
{
	return bb_export_whole(r, out, compose_smaller, err);
}

int bb_export_github_bigger(const struct bb_report *r, FILE *out, struct bb_err *err)
{
	return bb_export_whole(r, out, compose_bigger, err);
}
