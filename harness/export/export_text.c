/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes a run in the formats that are lines of text. */

#include "base/json_writer.h"
#include "export/exporter.h"
#include "judge/annotated.h"

/* CSV for spreadsheets and data frames (RFC 4180, but lines end in \n). Each figure is a row. A
 * missing figure has no row, and a cell without a value is empty. */
static const char csv_head[] = "benchmark,scenario,variant,drive,parameter,parameter_value,metric,"
			       "unit,value,lower,upper,samples,loads\n";

static void put_csv_text(const char *text, FILE *mem)
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

static void put_csv_number(double value, FILE *mem)
{
	putc(',', mem);
	if (isfinite(value))
		bb_json_double(mem, value);
}

int bb_export_csv(const struct bb_report *r, FILE *mem, struct bb_err *)
{
	fputs(csv_head, mem);
	for (struct bb_figure_row f = {0}; bb_figure_row__next(&f, r);) {
		const char *const names[] = {f.name, f.scenario, f.variant, f.c ? f.c->drive : NULL,
					     f.c ? f.c->param : NULL};

		for (size_t i = 0; i < BB_LEN(names); i++) {
			put_csv_text(names[i], mem);
			putc(',', mem);
		}
		if (f.c && f.c->param)
			fprintf(mem, "%u", f.c->param_value);
		fprintf(mem, ",%s,%s", f.def->name, f.def->unit);
		put_csv_number(f.e.value, mem);
		put_csv_number(f.e.lo, mem);
		put_csv_number(f.e.hi, mem);
		if (f.c)
			fprintf(mem, ",%llu,%u\n", (unsigned long long)f.c->summary.samples,
				f.c->summary.loads);
		else
			fputs(",,\n", mem);
	}
	return 0;
}

/* The Go benchmark format for benchstat (golang.org/design/14313-benchmark-format). Each load of a
 * program into the kernel is a line, because benchstat computes the interval itself from lines of
 * one name. Static metrics that are exact have "assume=exact". */

/* Writes a name as the format demands it: with a capital first letter, and without white space. */
static void put_benchmark(const char *text, FILE *mem)
{
	fputs("Benchmark", mem);
	for (size_t i = 0; text[i]; i++) {
		int c = (unsigned char)text[i];

		putc(isspace(c) || iscntrl(c) ? '_' : i ? c : toupper(c), mem);
	}
}

int bb_export_benchfmt(const struct bb_report *r, FILE *mem, struct bb_err *)
{
	fprintf(mem, "toolchain: clang %s\ngoos: linux\ngoarch: %s\ncpu: %s\nkernel: %s\n",
		r->fingerprint.clang, r->fingerprint.arch, r->fingerprint.cpu_model,
		r->fingerprint.kernel_release);
	fputs("Unit ns/op better=lower\n", mem);
	for (size_t i = 0; i < bb_n_static_metrics; i++)
		fprintf(mem, "Unit %s better=lower assume=%s\n", bb_static_metrics[i].slug,
			bb_static_metrics[i].kind == BB_METRIC_EXACT ? "exact" : "nothing");
	for (size_t i = 0; i < r->n_cases; i++) {
		const struct bb_case *c = &r->cases[i];
		double *ns = bb_calloc(c->n_series + 1, sizeof(*ns));

		bb_case__locations(c, ns);
		for (size_t k = 0; k < c->n_series; k++) {
			if (isnan(ns[k]))
				continue;
			put_benchmark(c->name, mem);
			fprintf(mem, " %llu ", (unsigned long long)c->series[k].hist.n);
			bb_json_double(mem, ns[k]);
			fputs(" ns/op\n", mem);
		}
		free(ns);
	}
	for (size_t i = 0; i < r->n_programs; i++) {
		put_benchmark(r->programs[i].name, mem);
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

/* The format of `veristat -o csv` (tools/testing/selftests/bpf/veristat.c), so that `veristat -C
 * OLD NEW` can compare runs of bpfbench. Numbers are whole. veristat knows no missing values, so a
 * column is left out if any program has no figure for it. */
static const struct {
	const char *name;
	size_t offset; /* in struct bb_prog_static */
	double scale;
} columns[] = {
	{"duration", offsetof(struct bb_prog_static, verify_ns), 1e-3}, /* veristat's unit is us */
	{"total_insns", offsetof(struct bb_prog_static, verified_insns), 1},
	{"total_states", offsetof(struct bb_prog_static, total_states), 1},
	{"prog_size_jited", offsetof(struct bb_prog_static, jited_bytes), 1},
};

#define N_COLUMNS (BB_LEN(columns))

static double value_of(const struct bb_program *p, size_t column)
{
	return *(const double *)((const char *)&p->metrics + columns[column].offset) *
	       columns[column].scale;
}

/* Writes the last part of a path, with '_' for ',' and control characters: veristat has no
 * quotes. */
static void put_bare(const char *text, FILE *mem)
{
	for (text = basename(text); *text; text++)
		putc(*text == ',' || (unsigned char)*text < 0x20 ? '_' : *text, mem);
}

int bb_export_veristat(const struct bb_report *r, FILE *mem, struct bb_err *err)
{
	bool all_have[N_COLUMNS];

	if (!r->n_programs)
		return bb_fail(err, -ENODATA,
			       "there is no BPF program in this run: nothing for veristat");
	fputs("file_name,prog_name,verdict", mem);
	for (size_t k = 0; k < N_COLUMNS; k++) {
		all_have[k] = true;
		for (size_t i = 0; i < r->n_programs; i++)
			all_have[k] &= isfinite(value_of(&r->programs[i], k));
		if (all_have[k])
			fprintf(mem, ",%s", columns[k].name);
	}
	putc('\n', mem);
	for (size_t i = 0; i < r->n_programs; i++) {
		put_bare(r->programs[i].object, mem);
		putc(',', mem);
		put_bare(r->programs[i].program, mem);
		/* programs that do not load have no row, so each verdict is "success" */
		fputs(",success", mem);
		for (size_t k = 0; k < N_COLUMNS; k++)
			if (all_have[k])
				fprintf(mem, ",%.0f", value_of(&r->programs[i], k));
		putc('\n', mem);
	}
	return 0;
}

/* lcov's tracefile (geninfo(1)), for coverage viewers such as genhtml: how often each line of the
 * source was executed. Each program is a test, and viewers add up the counts of all tests. */

/* Writes the lines[n] of one file, without line 0, which stands for code of the compiler. */
static void put_file(const struct bb_counted *c, const struct bb_counted_line *lines, size_t n,
		     FILE *mem)
{
	size_t found = 0, hit = 0;

	fputs("TN:", mem);
	for (const char *at = c->name; *at; at++) /* only letters, digits and '_' are allowed */
		putc(isalnum((unsigned char)*at) ? *at : '_', mem);
	fprintf(mem, "\nSF:%s\n", lines[0].file);
	for (size_t i = 0; i < n; i++) {
		if (!lines[i].line)
			continue;
		fprintf(mem, "DA:%u,%" PRIu64 "\n", lines[i].line, lines[i].executions);
		found++;
		hit += lines[i].executions > 0;
	}
	fprintf(mem, "LF:%zu\nLH:%zu\nend_of_record\n", found, hit);
}

int bb_export_lcov(const struct bb_report *r, FILE *mem, struct bb_err *err)
{
	size_t files = 0;

	for (size_t k = 0; k < r->n_counted; k++) {
		const struct bb_counted *c = &r->counted[k];

		for (size_t i = 0, n; i < c->n_lines; i += n, files++) {
			n = bb_counted__lines_of_file(c, i);
			put_file(c, &c->lines[i], n, mem);
		}
	}
	if (!files)
		return bb_fail(err, -ENODATA, "%s",
			       r->n_counted ? "the programs have no line information: build them "
					      "with -g"
					    : "the run has no counts: it needs a drive {with: "
					      "exact}");
	return 0;
}

/* OpenMetrics text (openmetrics.io, 1.0): gauges without timestamps, in base units. Each metric is
 * a family. The textfile collector of Prometheus reads it, too, but only whole files. So --output
 * replaces the file in one step. */
#define S_PER_NS 1e-9

/* Writes the text `before`, then NAME="VALUE" with the escapes of OpenMetrics. */
static void put_label(const char *name, const char *value, const char *before, FILE *mem)
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

void bb_openmetrics_family(const char *name, const char *type, const char *unit, const char *help,
			   FILE *out)
{
	fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
	if (unit)
		fprintf(out, "# UNIT %s %s\n", name, unit);
}

static void begin_sample(const char *name, const char *suffix,
			 const struct bb_openmetrics_labels *labels, FILE *out)
{
	fprintf(out, "%s%s{id=\"%" PRIu32 "\"", name, suffix, labels->id);
	put_label("type", labels->type, ",", out);
	put_label("name", labels->name, ",", out);
	if (labels->path)
		put_label("path", labels->path, ",", out);
}

void bb_openmetrics_sample(const char *name, const char *suffix,
			   const struct bb_openmetrics_labels *labels, const char *quantile,
			   double value, FILE *out)
{
	if (!isfinite(value))
		return;
	begin_sample(name, suffix, labels, out);
	if (quantile)
		put_label("quantile", quantile, ",", out);
	/* bb_json_double() tries several precisions, which would cost a server most of its time */
	fprintf(out, "} %.15g\n", value);
}

/* Returns the upper bound of bucket `i` as text. Caches it: a server writes thousands a second. */
static const char *le_of(size_t i)
{
	static char texts[BB_TIME_BUCKETS][24];

	if (!*texts[i] && i + 1 < BB_TIME_BUCKETS)
		snprintf(texts[i], sizeof(texts[i]), "%.15g", bb_time_bucket_bound(i) / 1e9);
	else if (!*texts[i])
		strcpy(texts[i], "+Inf");
	return texts[i];
}

void bb_openmetrics_histogram(const char *name, const struct bb_openmetrics_labels *labels,
			      const struct bb_time_buckets *b, FILE *out)
{
	char *head = NULL;
	size_t size;
	uint64_t sum = 0;

	if (!b->n)
		return;
	FILE *mem = bb_open_memstream(&head, &size);
	begin_sample(name, "_bucket", labels, mem);
	bb_close_memstream(mem);
	for (size_t i = 0; i < BB_TIME_BUCKETS; i++) {
		sum += b->counts[i];
		fprintf(out, "%s,le=\"%s\"} %" PRIu64 "\n", head, le_of(i), sum);
	}
	free(head);
	bb_openmetrics_sample(name, "_count", labels, NULL, (double)b->n, out);
	bb_openmetrics_sample(name, "_sum", labels, NULL, b->sum_ns * S_PER_NS, out);
}

/* Writes one value of a figure as a sample. For a case, `bound` becomes the label `estimate`:
 * "value", "lower" or "upper". Figures of programs have no interval and no such label. */
static void put_sample(const struct bb_figure_row *f, const char *family, const char *bound,
		       double value, double scale, FILE *mem)
{
	if (!isfinite(value))
		return;
	fputs(family, mem);
	if (f->c)
		put_label("benchmark", f->name, "{", mem);
	put_label("scenario", f->scenario, f->c ? "," : "{", mem);
	put_label("variant", f->variant, ",", mem);
	put_label(f->c ? "drive" : "program", f->c ? f->c->drive : f->program->program, ",", mem);
	put_label(f->c ? "estimate" : "type", f->c ? bound : f->program->type, ",", mem);
	fputs("} ", mem);
	bb_json_double(mem, value * scale);
	putc('\n', mem);
}

/* Writes all figures of one metric as a family, with times in seconds. */
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
			bb_openmetrics_family(name, "gauge", is_time ? "seconds" : NULL, def->doc,
					      mem);
		any = true;
		put_sample(&f, name, "value", f.e.value, scale, mem);
		put_sample(&f, name, "lower", f.e.lo, scale, mem);
		put_sample(&f, name, "upper", f.e.hi, scale, mem);
	}
}

int bb_export_openmetrics(const struct bb_report *r, FILE *mem, struct bb_err *)
{
	for (size_t i = 0; i < bb_n_metrics; i++)
		put_family(r, &bb_metrics[i], mem);
	for (size_t i = 0; i < bb_n_static_metrics; i++)
		put_family(r, &bb_static_metrics[i], mem);
	fputs("# EOF\n", mem);
	return 0;
}
