/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/json_writer.h"
#include "export/exporter.h"

/*
 * The Go benchmark format, for benchstat (golang.org/design/14313-benchmark-format): a line a load,
 * as benchstat wants the same name ten times or more and makes the interval itself. Static metrics
 * are exact units.
 */

/* A name of the format has no white space; ours begins with a capital. */
static void put_name(const char *text, FILE *mem)
{
	fputs("Benchmark", mem);
	for (size_t i = 0; text[i]; i++) {
		int c = (unsigned char)text[i];

		putc(isspace(c) || iscntrl(c) ? '_' : i ? c : toupper(c), mem);
	}
}

static int put_case(const struct bb_case *c, FILE *mem)
{
	double *ns = calloc(c->n_series + 1, sizeof(*ns));
	int rc = ns ? bb_case__locations(c, ns) : -ENOMEM;

	for (size_t i = 0; !rc && i < c->n_series; i++) {
		if (isnan(ns[i]))
			continue;
		put_name(c->name, mem);
		fprintf(mem, " %llu ", (unsigned long long)c->series[i].hist.n);
		bb_json_double(mem, ns[i]);
		fputs(" ns/op\n", mem);
	}
	free(ns);
	return rc;
}

int bb_export_benchfmt(const struct bb_report *r, FILE *mem, struct bb_err *err)
{
	fprintf(mem, "toolchain: clang %s\ngoos: linux\ngoarch: %s\ncpu: %s\nkernel: %s\n",
		r->fingerprint.clang, r->fingerprint.arch, r->fingerprint.cpu_model,
		r->fingerprint.kernel_release);
	fputs("Unit ns/op better=lower\n", mem);
	for (size_t i = 0; i < bb_n_static_metrics; i++)
		fprintf(mem, "Unit %s better=lower assume=%s\n", bb_static_metrics[i].slug,
			bb_static_metrics[i].kind == BB_METRIC_EXACT ? "exact" : "nothing");
	for (size_t i = 0; i < r->n_cases; i++)
		if (put_case(&r->cases[i], mem))
			return bb_fail_nomem(err);
	for (size_t i = 0; i < r->n_programs; i++) {
		put_name(r->programs[i].name, mem);
		fputs(" 1", mem);
		for (size_t k = 0; k < bb_n_static_metrics; k++) {
			const struct bb_metric_def *def = &bb_static_metrics[k];
			double value = bb_static_of(&r->programs[i].metrics, def);

			if (isfinite(value))
				fprintf(mem, " %.0f %s", value, def->slug);
		}
		putc('\n', mem);
	}
	return 0;
}
