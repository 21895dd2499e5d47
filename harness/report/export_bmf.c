/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "report/exporter.h"
#include "report/json_out.h"

/*
 * Bencher Metric Format v0: {"case": {"measure": {"value": x, "lower_value": x, "upper_value": x}}}, one JSON object.
 * Bencher takes `{}` and a missing benchmark for good news, so whatever was to be measured and was not is an error
 * here, and nothing is written.
 */
#define NAME_MAX_BYTES 1024	/* of a benchmark's name, as Bencher checks it */

static const char *why_nothing(const struct bb_case *c)
{
	for (size_t i = 0; i < c->n_series; i++)
		if (bb_series_why_void(&c->series[i]))
			return bb_series_why_void(&c->series[i]);
	return "it was not measured";
}

static int check_case(const struct bb_report *r, const struct bb_case *c, struct bb_err *err)
{
	size_t len = strlen(c->name);

	if (!len || len > NAME_MAX_BYTES)
		return bb_fail(err, -ENAMETOOLONG, "a benchmark's name has %zu bytes, Bencher takes 1 to %d: "
			       "shorten scenario '%.40s' or variant '%.40s'", len, NAME_MAX_BYTES, c->scenario,
			       c->variant);
	if (bb_report__find_case(r, c->name) != c)
		return bb_fail(err, -EEXIST, "%s: two cases have this name and Bencher would keep only one: name "
			       "them apart", c->name);
	if (!isfinite(c->summary.latency.value))
		return bb_fail(err, -ENODATA, "%s: no valid sample (%s): no BMF is written, never 0.0 (see "
			       "--format table)", c->name, why_nothing(c));
	return 0;
}

static int check(const struct bb_report *r, struct bb_err *err)
{
	size_t measured = 0;
	int rc = 0;

	if (r->incomplete)
		return bb_fail(err, -ECANCELED, "run is incomplete (%s): no BMF is written (see --format table)",
			       r->incomplete);
	for (size_t i = 0; i < r->n_cases; i++)
		measured += isfinite(r->cases[i].summary.latency.value) ? 1 : 0;
	if (!measured)
		return bb_fail(err, -ENODATA, "nothing was measured (%zu cases%s%s): no BMF is written, as Bencher "
			       "takes an empty one for a success", r->n_cases, r->n_cases ? "; the first: " :
			       r->n_skips ? "; skipped: " : "", r->n_cases ? why_nothing(&r->cases[0]) :
			       r->n_skips ? r->skips[0].why : "");
	for (size_t i = 0; !rc && i < r->n_cases; i++)
		rc = check_case(r, &r->cases[i], err);
	return rc;
}

static void write_value(const char *before, const char *key, double value, FILE *mem)
{
	if (!isfinite(value))
		return;
	fprintf(mem, "%s\"%s\": ", before, key);
	bb_json_fixed(mem, value);
}

static void write_case(const struct bb_case *c, FILE *mem)
{
	const char *between = "\n";

	fputs("  ", mem);
	bb_json_text(mem, c->name);
	fputs(": {", mem);
	for (size_t i = 0; i < bb_n_metrics; i++) {
		const struct bb_estimate *e = bb_metric_of(&c->summary, &bb_metrics[i]);

		if (!bb_metrics[i].slug || !isfinite(e->value))
			continue;
		fprintf(mem, "%s    \"%s\": {", between, bb_metrics[i].slug);
		write_value("", "value", e->value, mem);
		write_value(", ", "lower_value", e->lo, mem);
		write_value(", ", "upper_value", e->hi, mem);
		putc('}', mem);
		between = ",\n";
	}
	fputs("\n  }", mem);
}

static int compose(const struct bb_report *r, FILE *mem, struct bb_err *err)
{
	int rc = check(r, err);

	if (rc)
		return rc;
	fputs("{\n", mem);
	for (size_t i = 0; i < r->n_cases; i++) {
		if (i)
			fputs(",\n", mem);
		write_case(&r->cases[i], mem);
	}
	fputs("\n}\n", mem);
	return 0;
}

int bb_export_bmf(const struct bb_report *r, FILE *out, struct bb_err *err)
{
	return bb_export_whole(r, out, compose, err);
}
