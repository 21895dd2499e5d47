/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/live_print.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/json_writer.h"
#include "bpf/prog_type.h"
#include "export/exporter.h"
#include "export/documents.h"

#define NS_PER_S 1e9
#define IDLE_NAMED 8  /* in the line about programs that did not run */
#define SHARE_MIN 0.9 /* of the runs: a distribution that covers fewer is marked */

/* --- for people --- */

static void add_number(struct bb_doc *d, const char *mark, double value)
{
	struct bb_table_cell cell = bb_table_cell_number(value, value);

	bb_doc__cell(d, "%s%s", cell.text[0] ? mark : "", cell.text[0] ? cell.text : "-");
}

static void put_own_runs(const struct bb_live_row *r, FILE *out)
{
	if (r->unclear)
		fprintf(out,
			"id %" PRIu32 ": bpfbench's own readings make it run, and these runs "
			"cannot be told from the others: no figures\n",
			r->program.id);
	else if (r->own_runs)
		fprintf(out,
			"id %" PRIu32 ": bpfbench's own readings made it run %s times a second; "
			"those runs are left out, and none of the others was alone\n",
			r->program.id, bb_table_cell_value((double)r->own_runs / r->seconds).text);
}

static bool is_idle(const struct bb_live_row *r)
{
	return !r->runs && !r->unclear && !r->own_runs && !r->misses;
}

/* Their names in one line. */
static void put_idle(const struct bb_live_row *rows, size_t n, size_t n_idle, FILE *out)
{
	size_t named = 0;

	if (!n_idle)
		return;
	fprintf(out, "%zu program%s did not run:", n_idle, n_idle == 1 ? "" : "s");
	for (size_t i = 0; i < n && named < IDLE_NAMED; i++)
		if (is_idle(&rows[i]))
			fprintf(out, "%s %s", named++ ? "," : "",
				rows[i].program.name[0] ? rows[i].program.name : "-");
	fprintf(out, "%s (--all lists %s)\n", named < n_idle ? ", ..." : "",
		n_idle == 1 ? "it" : "them");
}

static void put_row(const struct bb_live_row *r, struct bb_doc *d)
{
	const char *mark = bb_live_row__share(r) < SHARE_MIN ? "~" : "";

	bb_doc__cell(d, "%" PRIu32, r->program.id);
	bb_doc__text_cell(d, bb_prog_type_name(r->program.type).text);
	bb_doc__cell(d, "%s%s", r->program.name[0] ? r->program.name : "-",
		     r->gone ? " (gone)" : "");
	add_number(d, "", r->runs_per_s);
	add_number(d, "", r->ns_per_run);
	add_number(d, mark, r->p50);
	add_number(d, mark, r->p90);
	add_number(d, mark, r->p99);
	if (r->mean_of)
		bb_doc__cell(d, "%" PRIu32, r->mean_of);
	else
		bb_doc__text_cell(d, "-");
	add_number(d, "", 100 * bb_live_row__share(r));
	add_number(d, "", 100 * r->cpu_share);
	add_number(d, "", r->misses_per_s);
}

static int print_table(const struct bb_live_row *rows, size_t n, bool all, FILE *out)
{
	static const struct bb_doc_column columns[] = {
		{BB_NUMBER("id")},      {BB_TEXT("type")},     {BB_TEXT("name")},
		{BB_NUMBER("runs/s")},  {BB_NUMBER("ns/run")}, {BB_NUMBER("p50")},
		{BB_NUMBER("p90")},     {BB_NUMBER("p99")},    {BB_NUMBER("mean of")},
		{BB_NUMBER("share %")}, {BB_NUMBER("CPU %")},  {BB_NUMBER("misses/s")},
	};
	struct bb_doc d = {0};
	size_t n_idle = 0;
	int rc;

	bb_doc__table(&d, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < n; i++) {
		if (!all && is_idle(&rows[i]))
			n_idle++;
		else
			put_row(&rows[i], &d);
	}
	rc = bb_doc__text(&d, &bb_doc_plain_look, out);
	bb_doc__done(&d);
	for (size_t i = 0; !rc && i < n; i++)
		put_own_runs(&rows[i], out);
	put_idle(rows, n, n_idle, out);
	return rc;
}

/* --- JSON --- */

static void put_program(const struct bb_live_row *r, struct bb_json *w)
{
	bb_json__open(w, NULL, "{");
	bb_json__add_u64(w, "id", r->program.id);
	bb_json__add_text(w, "type", bb_prog_type_name(r->program.type).text);
	bb_json__add_text(w, "name", r->program.name);
	bb_json__add_bool(w, "gone", r->gone);
	bb_json__add_double(w, "seconds", r->seconds);
	if (r->unclear)
		bb_json__add_text(w, "runs", NULL);
	else
		bb_json__add_u64(w, "runs", r->runs);
	bb_json__add_double(w, "runs_per_s", r->runs_per_s);
	bb_json__add_double(w, "ns_per_run", r->ns_per_run);
	bb_json__add_double(w, "cpu_share", r->cpu_share);
	bb_json__add_u64(w, "misses", r->misses);
	bb_json__add_u64(w, "own_runs", r->own_runs);
	bb_json__add_u64(w, "mean_of", r->mean_of);
	bb_json__add_u64(w, "windows", r->windows);
	bb_json__add_double(w, "p50_ns", r->p50);
	bb_json__add_double(w, "p90_ns", r->p90);
	bb_json__add_double(w, "p99_ns", r->p99);
	bb_json__add_u64(w, "total_runs", r->total.run_cnt);
	bb_json__add_u64(w, "total_ns", r->total.run_time_ns);
	bb_json__add_u64(w, "total_misses", r->total.recursion_misses);
	bb_json__close(w);
}

static int print_json(const struct bb_live_row *rows, size_t n, bool all, FILE *out)
{
	(void)all;
	struct bb_json w = {.out = out, .indent = 1};

	bb_json__open(&w, NULL, "{\n");
	bb_json__add_text(&w, "format", "bpfbench-live");
	bb_json__add_u64(&w, "version", 1);
	bb_json__open(&w, "programs", "[\n");
	for (size_t i = 0; i < n; i++)
		put_program(&rows[i], &w);
	bb_json__end(&w);
	return 0;
}

/* --- OpenMetrics 1.0 --- */

/* A family of one number a program; `unit` is the end of its name, or NULL. */
struct family {
	const char *name, *type, *unit, *help;
	double (*value)(const struct bb_live_row *row); /* NAN: no sample */
};

static double total_runs(const struct bb_live_row *row)
{
	return (double)row->total.run_cnt;
}

static double total_seconds(const struct bb_live_row *row)
{
	return (double)row->total.run_time_ns / NS_PER_S;
}

static double total_misses(const struct bb_live_row *row)
{
	return (double)row->total.recursion_misses;
}

static double rate(const struct bb_live_row *row)
{
	return row->runs_per_s;
}

static double mean_seconds(const struct bb_live_row *row)
{
	return row->ns_per_run / NS_PER_S;
}

static double cpu_ratio(const struct bb_live_row *row)
{
	return row->cpu_share;
}

static const struct family families[] = {
	{"bpf_program_runs", "counter", NULL,
	 "Runs since the program was loaded, counted only while bpf_stats is on, those that "
	 "reading the counters caused among them.",
	 total_runs},
	{"bpf_program_run_time_seconds", "counter", "seconds", "Time of these runs.",
	 total_seconds},
	{"bpf_program_recursion_misses", "counter", NULL,
	 "Runs that the kernel left out because the program was running already.", total_misses},
	{"bpf_program_run_rate", "gauge", NULL, "Runs per second of the period watched.", rate},
	{"bpf_program_mean_run_seconds", "gauge", "seconds", "Mean of all runs of the period.",
	 mean_seconds},
	{"bpf_program_cpu_ratio", "gauge", "ratio",
	 "Share of one CPU that the runs of the period took.", cpu_ratio},
};

/* Without the closing brace, as a quantile may follow. */
static void put_labels(const struct bb_live_row *row, FILE *out)
{
	fprintf(out, "{id=\"%" PRIu32 "\"", row->program.id);
	bb_openmetrics_label("type", bb_prog_type_name(row->program.type).text, ",", out);
	bb_openmetrics_label("name", row->program.name, ",", out);
}

static void put_sample(const char *name, const char *suffix, const struct bb_live_row *row,
		       const char *quantile, double value, FILE *out)
{
	if (isnan(value))
		return;
	fprintf(out, "%s%s", name, suffix);
	put_labels(row, out);
	if (quantile)
		fprintf(out, ",quantile=\"%s\"", quantile);
	fputs("} ", out);
	bb_json_double(out, value);
	putc('\n', out);
}

static void put_family(const struct family *f, const struct bb_live_row *rows, size_t n, FILE *out)
{
	fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", f->name, f->help, f->name, f->type);
	if (f->unit)
		fprintf(out, "# UNIT %s %s\n", f->name, f->unit);
	for (size_t i = 0; i < n; i++)
		put_sample(f->name, strcmp(f->type, "counter") ? "" : "_total", &rows[i], NULL,
			   f->value(&rows[i]), out);
}

/* Only of runs that were alone between two readings; how many they are of all stands beside it.
 * Means of several runs are none. */
static void put_singles(const struct bb_live_row *rows, size_t n, FILE *out)
{
	static const char name[] = "bpf_program_single_run_seconds";

	fprintf(out,
		"# HELP %s Runs of the period that were timed one by one.\n# TYPE %s summary\n# "
		"UNIT %s seconds\n",
		name, name, name);
	for (size_t i = 0; i < n; i++) {
		const struct bb_live_row *r = &rows[i];

		if (r->mean_of > 1)
			continue;
		put_sample(name, "", r, "0.5", r->p50 / NS_PER_S, out);
		put_sample(name, "", r, "0.9", r->p90 / NS_PER_S, out);
		put_sample(name, "", r, "0.99", r->p99 / NS_PER_S, out);
		put_sample(name, "_count", r, NULL, (double)r->windows, out);
		put_sample(name, "_sum", r, NULL, r->windows_ns / NS_PER_S, out);
	}
}

static int print_openmetrics(const struct bb_live_row *rows, size_t n, bool all, FILE *out)
{
	(void)all;
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		put_family(&families[i], rows, n, out);
	put_singles(rows, n, out);
	fputs("# EOF\n", out);
	return 0;
}

const struct bb_live_format bb_live_formats[] = {
	{"table", "for people", print_table},
	{"json", "everything, an object a program", print_json},
	{"openmetrics", "OpenMetrics 1.0 text, for Prometheus and other readers of its format",
	 print_openmetrics},
};

const size_t bb_n_live_formats = sizeof(bb_live_formats) / sizeof(bb_live_formats[0]);

const struct bb_live_format *bb_live_format_find(const char *name)
{
	for (size_t i = 0; i < bb_n_live_formats; i++)
		if (!strcmp(bb_live_formats[i].name, name))
			return &bb_live_formats[i];
	return NULL;
}
