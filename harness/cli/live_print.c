/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/live_print.h"

#include "base/json_writer.h"
#include "base/text.h"
#include "bpf/prog_type.h"
#include "export/exporter.h"
#include "export/table_cells.h"

#define NS_PER_S 1e9
#define IDLE_NAMED 8 /* most names in the line about programs that did not run */
/* a percentile is marked "~" if less than this share of the program's runs was timed */
#define SHARE_MIN 0.9

static void add_number(struct bb_doc *d, const char *mark, double value)
{
	struct bb_table_cell cell = bb_table_cell_number(value, value);

	bb_doc__cell_if(d, cell.text[0], "%s%s", mark, cell.text);
}

static bool is_idle(const struct bb_live_row *r)
{
	return !r->runs && !r->unclear && !r->own_runs && !r->misses;
}

static void add_notes(const struct bb_live_row *rows, size_t n, size_t n_idle, struct bb_doc *d)
{
	size_t named = 0;

	for (size_t i = 0; i < n; i++) {
		const struct bb_live_row *r = &rows[i];

		if (r->unclear)
			bb_doc__add(d, BB_DOC_PARAGRAPH, NULL,
				    "id %" PRIu32 ": bpfbench's own readings make it run, and "
				    "these runs cannot be told from the others: no figures",
				    r->program.id);
		else if (r->own_runs)
			bb_doc__add(d, BB_DOC_PARAGRAPH, NULL,
				    "id %" PRIu32 ": bpfbench's own readings made it run %s times "
				    "a second; those runs are left out, and none of the others "
				    "was alone",
				    r->program.id,
				    bb_table_cell_value((double)r->own_runs / r->seconds).text);
	}
	if (!n)
		bb_doc__add(d, BB_DOC_PARAGRAPH, NULL, "no BPF program is loaded");
	if (!n_idle)
		return;
	bb_doc__add(d, BB_DOC_PARAGRAPH, NULL, "%zu program%s did not run:", n_idle,
		    bb_plural(n_idle));
	for (size_t i = 0; i < n && named < IDLE_NAMED; i++) {
		const char *name = rows[i].program.name;

		/* a name that several of these programs have is listed once */
		if (is_idle(&rows[i]) &&
		    !BB_ANY(rows, i, is_idle(it) && !strcmp(it->program.name, name)))
			bb_doc__append(d, "%s %s", named++ ? "," : "", name[0] ? name : "-");
	}
	bb_doc__append(d, "%s (--all lists %s)", named < n_idle ? ", ..." : "",
		       n_idle == 1 ? "it" : "them");
}

/* `has_details` is true if the table has the columns that a narrow terminal lacks. */
static void add_key(const struct bb_live_row *rows, size_t n, bool has_details, char **command,
		    struct bb_doc *d)
{
	bool has_any = false, has_single = false, has_means = false, has_few = false;
	const struct bb_live_row *first = NULL;
	char *line;

	for (size_t i = 0; i < n; i++) {
		if (is_idle(&rows[i]))
			continue;
		first = first || rows[i].gone ? first : &rows[i];
		has_any = true;
		has_single |= rows[i].mean_of == 1;
		has_means |= rows[i].mean_of > 1;
		has_few |= rows[i].mean_of && bb_live_row__share(&rows[i]) < SHARE_MIN;
	}
	if (!has_any) {
		bb_doc__add(d, BB_DOC_PARAGRAPH, "next",
			    "`sudo bpfbench live --for 10`, while something happens; "
			    "`sudo bpfbench live -- COMMAND` starts it");
		return;
	}
	bb_doc__add(d, BB_DOC_CLOSING, NULL,
		    "ns/run: mean of all runs, with the 10-40 ns that bpf_stats costs, without an "
		    "interval; CPU %%: of one CPU");
	if (has_single || has_means)
		bb_doc__add(d, BB_DOC_PARAGRAPH, NULL,
			    "p50, p90, p99: of runs that could be timed one by one%s%s",
			    has_means ? ", or of means of a few" : "",
			    has_few ? "; ~: these are less than 90 % of all" : "");
	if (has_details)
		bb_doc__add(d, BB_DOC_PARAGRAPH, NULL,
			    "mean of: runs that were timed together; share %%: of all runs that "
			    "are in p50 to p99; misses/s: runs that the kernel refused");
	/* the programs of a command are unloaded when it ends, so bpfbench has to start it */
	if (command) {
		line = bb_command_line(command);
		bb_doc__add(d, BB_DOC_PARAGRAPH, "next",
			    "`sudo bpfbench -- %s` (with 95 %% intervals)", line);
		free(line);
	} else if (first) {
		bb_doc__add(d, BB_DOC_PARAGRAPH, "next",
			    "`sudo bpfbench --prog-id %" PRIu32 "` (this program, with 95 %% "
			    "intervals, while it is loaded)",
			    first->program.id);
	} else {
		bb_doc__add(d, BB_DOC_PARAGRAPH, "next",
			    "`sudo bpfbench -- LOADER` (LOADER loads these programs again; with 95 "
			    "%% intervals)");
	}
}

static void print_table(const struct bb_live_row *rows, size_t n, const struct bb_live_view *view,
			FILE *out)
{
	static const struct bb_doc_column columns[] = {
		{BB_NUMBER("id")},
		{BB_TEXT("type"), .drop = 1},
		{BB_TEXT("name")},
		{BB_NUMBER("runs/s")},
		{BB_NUMBER("ns/run")},
		{BB_NUMBER("p50")},
		{BB_NUMBER("p90")},
		{BB_NUMBER("p99"), .drop = 1},
		{BB_NUMBER("mean of"), .drop = 1},
		{BB_NUMBER("share %"), .drop = 1},
		{BB_NUMBER("CPU %")},
		{BB_NUMBER("misses/s"), .drop = 1},
	};
	struct bb_doc d = {0};
	size_t n_idle = 0, table = n > 0;
	double seconds = 0;

	/* `seconds` of a row is the time that its program was loaded in the period. At least one
	 * program was loaded all the time, so the largest is the length of the period. */
	for (size_t i = 0; i < n; i++)
		seconds = fmax(seconds, rows[i].seconds);
	if (n)
		bb_doc__add(&d, BB_DOC_PARAGRAPH, NULL, "%zu program%s in %.1f s", n, bb_plural(n),
			    seconds);
	bb_doc__table(&d, columns, BB_LEN(columns));
	for (size_t i = 0; i < n; i++) {
		const struct bb_live_row *r = &rows[i];
		const char *mark = bb_live_row__share(r) < SHARE_MIN ? "~" : "";

		if (!view->all && is_idle(r)) {
			n_idle++;
			continue;
		}
		bb_doc__cell(&d, "%" PRIu32, r->program.id);
		bb_doc__text_cell(&d, bb_prog_type_name(r->program.type).text);
		bb_doc__cell(&d, "%s%s", r->program.name[0] ? r->program.name : "-",
			     r->gone ? " (gone)" : "");
		add_number(&d, "", r->runs_per_s);
		add_number(&d, "", r->ns_per_run);
		add_number(&d, mark, r->p50);
		add_number(&d, mark, r->p90);
		add_number(&d, mark, r->p99);
		bb_doc__cell_if(&d, r->mean_of, "%" PRIu32, r->mean_of);
		add_number(&d, "", 100 * bb_live_row__share(r));
		add_number(&d, "", 100 * r->cpu_share);
		add_number(&d, "", r->misses_per_s);
	}
	add_notes(rows, n, n_idle, &d);
	add_key(rows, n,
		bb_doc_block__shows_column(&d.blocks[table], BB_LEN(columns) - 1, &view->look),
		view->command, &d);
	bb_doc__text(&d, &view->look, out);
	bb_doc__done(&d);
}

static void print_json(const struct bb_live_row *rows, size_t n, const struct bb_live_view *,
		       FILE *out)
{
	struct bb_json w = {.out = out, .indent = 1};

	bb_json__open(&w, NULL, "{\n");
	bb_json__add_text(&w, "format", "bpfbench-live");
	bb_json__add_u64(&w, "version", 1);
	bb_json__open(&w, "programs", "[\n");
	for (const struct bb_live_row *r = rows; r < rows + n; r++) {
		bb_json__open(&w, NULL, "{");
		bb_json__add_u64(&w, "id", r->program.id);
		bb_json__add_text(&w, "type", bb_prog_type_name(r->program.type).text);
		bb_json__add_text(&w, "name", r->program.name);
		bb_json__add_bool(&w, "gone", r->gone);
		bb_json__add_double(&w, "seconds", r->seconds);
		if (r->unclear)
			bb_json__add_text(&w, "runs", NULL);
		else
			bb_json__add_u64(&w, "runs", r->runs);
		bb_json__add_double(&w, "runs_per_s", r->runs_per_s);
		bb_json__add_double(&w, "ns_per_run", r->ns_per_run);
		bb_json__add_double(&w, "cpu_share", r->cpu_share);
		bb_json__add_u64(&w, "misses", r->misses);
		bb_json__add_u64(&w, "own_runs", r->own_runs);
		bb_json__add_u64(&w, "mean_of", r->mean_of);
		bb_json__add_u64(&w, "windows", r->windows);
		bb_json__add_double(&w, "p50_ns", r->p50);
		bb_json__add_double(&w, "p90_ns", r->p90);
		bb_json__add_double(&w, "p99_ns", r->p99);
		bb_json__add_u64(&w, "total_runs", r->total.run_cnt);
		bb_json__add_u64(&w, "total_ns", r->total.run_time_ns);
		bb_json__add_u64(&w, "total_misses", r->total.recursion_misses);
		bb_json__close(&w);
	}
	bb_json__end(&w);
}

/* Metric families with one number for each program. `unit` is the end of the name, or NULL. */
static const struct {
	const char *name, *type, *unit, *help;
} families[] = {
	{"bpf_program_runs", "counter", NULL,
	 "Runs since the program was loaded, counted only while bpf_stats is on, those that "
	 "reading the counters caused among them."},
	{"bpf_program_run_time_seconds", "counter", "seconds", "Time of these runs."},
	{"bpf_program_recursion_misses", "counter", NULL,
	 "Runs that the kernel left out because the program was running already."},
	{"bpf_program_run_rate", "gauge", NULL, "Runs per second of the period watched."},
	{"bpf_program_mean_run_seconds", "gauge", "seconds", "Mean of all runs of the period."},
	{"bpf_program_cpu_ratio", "gauge", "ratio",
	 "Share of one CPU that the runs of the period took."},
};

static struct bb_openmetrics_labels labels_of(const struct bb_live_row *r)
{
	struct bb_openmetrics_labels labels = {.id = r->program.id, .name = r->program.name};

	snprintf(labels.type, sizeof(labels.type), "%s", bb_prog_type_name(r->program.type).text);
	return labels;
}

static void print_openmetrics(const struct bb_live_row *rows, size_t n, const struct bb_live_view *,
			      FILE *out)
{
	static const char period[] = "bpf_program_single_run_seconds";
	static const char total[] = "bpf_program_single_run_duration_seconds";

	for (size_t k = 0; k < BB_LEN(families); k++) {
		const char *name = families[k].name, *type = families[k].type;

		bb_openmetrics_family(name, type, families[k].unit, families[k].help, out);
		for (const struct bb_live_row *r = rows; r < rows + n; r++) {
			struct bb_openmetrics_labels labels = labels_of(r);
			const double values[] = {(double)r->total.run_cnt,
						 (double)r->total.run_time_ns / NS_PER_S,
						 (double)r->total.recursion_misses,
						 r->runs_per_s,
						 r->ns_per_run / NS_PER_S,
						 r->cpu_share};

			bb_openmetrics_sample(name, strcmp(type, "counter") ? "" : "_total",
					      &labels, NULL, values[k], out);
		}
	}
	/* A summary of the period, and a histogram since the watch began. They count only runs that
	 * were alone between two readings of the counters. */
	bb_openmetrics_family(period, "summary", "seconds",
			      "Runs of the period that were timed one by one.", out);
	for (const struct bb_live_row *r = rows; r < rows + n; r++) {
		struct bb_openmetrics_labels labels = labels_of(r);

		/* this program has no times of single runs, because its runs were timed several at
		 * once */
		if (r->mean_of > 1)
			continue;
		bb_openmetrics_sample(period, "", &labels, "0.5", r->p50 / NS_PER_S, out);
		bb_openmetrics_sample(period, "", &labels, "0.9", r->p90 / NS_PER_S, out);
		bb_openmetrics_sample(period, "", &labels, "0.99", r->p99 / NS_PER_S, out);
		bb_openmetrics_sample(period, "_count", &labels, NULL, (double)r->windows, out);
		bb_openmetrics_sample(period, "_sum", &labels, NULL, r->windows_ns / NS_PER_S, out);
	}
	bb_openmetrics_family(total, "histogram", "seconds",
			      "Runs that were timed one by one since the watch began.", out);
	for (const struct bb_live_row *r = rows; r < rows + n; r++) {
		struct bb_openmetrics_labels labels = labels_of(r);

		bb_openmetrics_histogram(total, &labels, &r->single, out);
	}
	fputs("# EOF\n", out);
}

const struct bb_live_format bb_live_formats[BB_N_LIVE_FORMATS] = {
	[BB_LIVE_TABLE] = {"table", print_table},
	[BB_LIVE_JSON] = {"json", print_json},
	[BB_LIVE_OPENMETRICS] = {"openmetrics", print_openmetrics},
};
