/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes a run in the formats that are JSON. */

#include "base/json_writer.h"
#include "core/drive_kind.h"
#include "export/exporter.h"
#include "store/run_json.h"

int bb_export_json(const struct bb_report *r, FILE *mem, struct bb_err *)
{
	bb_run_json__write(r, mem);
	return 0;
}

/* Bencher Metric Format v0 is one JSON object: {"case": {"measure": {"value": x, "lower_value": x,
 * "upper_value": x}}}. Bencher accepts an empty object as a success, so a run without any figure is
 * an error. A case without a valid sample is left out, and bb_export_say_left_out() names it. */
#define NAME_MAX_BYTES 1024 /* Bencher accepts names of up to this number of bytes */

/* Returns the name of the BMF measure for a metric of the case, or NULL if BMF does not have it. */
static const char *slug_of(const struct bb_case *c, const struct bb_metric_def *def)
{
	/* Bencher applies one threshold to all values of a measure. A lag is not a program's
	 * latency, so it has a measure of its own. */
	static const struct {
		const char *metric, *slug;
	} of_lags[] = {
		{"latency", "lag"}, {"p50", "lag-p50"}, {"p90", "lag-p90"},
		{"p99", "lag-p99"}, {"drops", "drops"},
	};

	for (size_t i = 0; bb_drive_kind_named(c->drive)->sample.is_lag && i < BB_LEN(of_lags); i++)
		if (!strcmp(def->name, of_lags[i].metric))
			return of_lags[i].slug;
	return def->slug;
}

static int fail_twice(const char *name, const char *what, struct bb_err *err)
{
	return bb_fail(err, -EEXIST,
		       "%s: %s have this name and Bencher would keep only one: name them apart",
		       name, what);
}

/* True if a timed case, or a counted case before `c`, has the name of `c`. */
static bool is_taken(const struct bb_report *r, const struct bb_counted_case *c)
{
	if (bb_report__find_case(r, c->name))
		return true;
	for (size_t i = 0; i < r->n_counted; i++)
		for (size_t k = 0; k < r->counted[i].n_cases; k++) {
			if (&r->counted[i].cases[k] == c)
				return false;
			if (!strcmp(r->counted[i].cases[k].name, c->name))
				return true;
		}
	return false;
}

static int check(const struct bb_report *r, struct bb_err *err)
{
	bool has_figures = BB_ANY(r->cases, r->n_cases, isfinite(it->summary.latency.value));
	int rc = 0;

	for (size_t i = 0; !has_figures && i < r->n_counted; i++)
		has_figures = BB_ANY(r->counted[i].cases, r->counted[i].n_cases,
				     bb_counted_case__counts(it));
	if (r->incomplete)
		return bb_fail(err, -ECANCELED,
			       "run is incomplete (%s): no BMF is written (see --format table)",
			       r->incomplete);
	if (!has_figures)
		return bb_fail(err, -ENODATA,
			       "nothing was measured (%zu cases%s%s): no BMF is written, as "
			       "Bencher takes an empty one for a success",
			       r->n_cases + r->n_counted,
			       r->n_cases   ? "; the first: "
			       : r->n_skips ? "; skipped: "
					    : "",
			       r->n_cases   ? bb_case__why_no_sample(&r->cases[0])
			       : r->n_skips ? r->skips[0].why
					    : "");
	for (size_t i = 0; !rc && i < r->n_cases + r->n_programs; i++) {
		const struct bb_case *c = i < r->n_cases ? &r->cases[i] : NULL;
		const struct bb_program *p = c ? NULL : &r->programs[i - r->n_cases];
		const char *name = c ? c->name : p->name;
		size_t len = strlen(name);

		if (!len || len > NAME_MAX_BYTES)
			rc = bb_fail(err, -ENAMETOOLONG,
				     "a benchmark's name has %zu bytes, Bencher takes 1 to %d: "
				     "shorten scenario '%.40s' or variant '%.40s'",
				     len, NAME_MAX_BYTES, c ? c->scenario : p->scenario,
				     c ? c->variant : p->variant);
		else if (c && bb_report__find_case(r, name) != c)
			rc = fail_twice(name, "two cases", err);
		else if (p &&
			 (bb_report__find_case(r, name) || bb_report__find_program(r, name) != p))
			rc = fail_twice(name, "a program and a case, or two programs,", err);
	}
	for (size_t i = 0; i < r->n_counted; i++)
		for (size_t k = 0; !rc && k < r->counted[i].n_cases; k++)
			if (is_taken(r, &r->counted[i].cases[k]))
				rc = fail_twice(r->counted[i].cases[k].name, "two cases", err);
	return rc;
}

/* Writes one measure of the benchmark `name`, unless its value is missing. `*open` is the benchmark
 * whose object is open. If that is another one, closes its object and opens one for `name`. */
static void write_measure(const char *name, const char *slug, struct bb_estimate e,
			  const char **open, struct bb_json *w)
{
	if (!slug || !isfinite(e.value))
		return;
	if (*open != name) {
		if (*open)
			bb_json__close(w);
		bb_json__open(w, name, "{\n");
		*open = name;
	}
	bb_json__open(w, slug, "{");
	bb_json__add_fixed(w, "value", e.value);
	bb_json__add_fixed(w, "lower_value", e.lo);
	bb_json__add_fixed(w, "upper_value", e.hi);
	bb_json__close(w);
}

int bb_export_bmf(const struct bb_report *r, FILE *mem, struct bb_err *err)
{
	int rc = check(r, err);
	struct bb_json w = {.out = mem, .indent = 2};
	const char *open = NULL;

	if (rc)
		return rc;
	bb_json__open(&w, NULL, "{\n");
	for (struct bb_figure_row f = {0}; bb_figure_row__next(&f, r);)
		if (f.c && isfinite(f.c->summary.latency.value))
			write_measure(f.name, slug_of(f.c, f.def), f.e, &open, &w);
	for (size_t i = 0; i < r->n_counted; i++)
		for (size_t k = 0; k < r->counted[i].n_cases; k++) {
			const struct bb_counted_case *c = &r->counted[i].cases[k];

			if (bb_counted_case__counts(c))
				write_measure(c->name, bb_metric_instructions.slug,
					      bb_counted_case__instructions(c), &open, &w);
		}
	for (struct bb_figure_row f = {0}; bb_figure_row__next(&f, r);)
		if (f.program)
			write_measure(f.name, f.def->slug, f.e, &open, &w);
	bb_json__end(&w);
	return 0;
}

/* The format of benchmark-action/github-action-benchmark: [{"name", "unit", "value", "range",
 * "extra"}]. In one file, less is better for all figures (customSmallerIsBetter), or more
 * (customBiggerIsBetter). A figure cannot be missing, so a run without figures is an error. */

static int put_direction(const struct bb_report *r, enum bb_direction direction, FILE *mem,
			 struct bb_err *err)
{
	struct bb_json w = {.out = mem, .indent = 2};

	bb_json__open(&w, NULL, "[\n");
	for (struct bb_figure_row f = {0}; bb_figure_row__next(&f, r);) {
		char name[2048];

		if (!f.def->slug || f.def->direction != direction ||
		    (f.c && !isfinite(f.c->summary.latency.value)))
			continue;
		/* the name becomes a chart: "fun_xdp/v3/step/input=17 latency-p50" */
		snprintf(name, sizeof(name), "%s %s", f.name, f.def->slug);
		bb_json__open(&w, NULL, "{");
		bb_json__add_text(&w, "name", name);
		bb_json__add_text(&w, "unit", f.def->unit);
		bb_json__add_fixed(&w, "value", f.e.value);
		if (isfinite(f.e.lo) && isfinite(f.e.hi)) {
			FILE *out = bb_json__add(&w, "range");

			putc('"', out);
			bb_json_fixed(out, f.e.lo);
			fputs(" .. ", out);
			bb_json_fixed(out, f.e.hi);
			putc('"', out);
		}
		if (f.c)
			fprintf(bb_json__add(&w, "extra"), "\"%llu samples, %u loads\"",
				(unsigned long long)f.c->summary.samples, f.c->summary.loads);
		bb_json__close(&w);
	}
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
