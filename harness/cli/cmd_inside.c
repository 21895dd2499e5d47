/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <bpf/btf.h>

#include "base/child.h"
#include "base/deadline.h"
#include "base/http.h"
#include "bpf/prog_type.h"
#include "capture/file.h"
#include "capture/watched.h"
#include "cli/capture_options.h"
#include "cli/measure.h"
#include "cli/output.h"
#include "cli/screen.h"
#include "export/table_cells.h"
#include "plan/field.h"
#include "run/inside.h"
#include "stats/quantile.h"

#define TURN_MS 50
/* time between two updates of the table on a terminal and of the served figures, s */
#define LOOK_S 1.0
/* most lines of source that are shown for the difference between two paths */
#define LINES_SHOWN 3

struct inside_args {
	double seconds, time_at_most, save_s;
	uint32_t n_paths;
	uint32_t snap;
	bool no_paths, no_time, no_packets;
	const struct inside_format *format; /* NULL if --format is not given */
	/* address at which figures are served over HTTP, or NULL */
	const char *serve;
	const char *pid_file;
	/* only env, output, results, no_store, quiet and command are used */
	struct bb_measure_args measure;
	char **command; /* points into argv; ends in NULL */
};

struct session {
	struct inside_args *args;
	struct bb_measure *measure;
	const char *name;      /* name of the run */
	struct bb_child saver; /* child that saves the figures so far */
	uint64_t saved_ns;     /* when the last saver ended */
	struct bb_inside inside;
	struct bb_watched command;
	struct bb_take take;               /* the capture; begun only with --output */
	struct bb_inside_figures *figures; /* figures[inside.n_programs] */
	size_t n_figures;
	/* the chains of tail calls, each as a "path" of these figures */
	struct bb_inside_figures chains;
	uint64_t began_ns, ended_ns;
	struct bb_http_server server;
	struct bb_screen screen;
	bool is_screen;
	bool is_cut; /* true if the watch ended before the command did */
};

static int write_file(struct session *s, struct bb_err *err);
static void write_json(const struct session *s, FILE *out);
static void write_openmetrics(const struct session *s, FILE *out);

static const struct inside_format {
	const char *name;
	void (*write)(const struct session *s, FILE *out); /* NULL means write_table() */
} formats[] = {{"table", NULL}, {"json", write_json}, {"openmetrics", write_openmetrics}};

#define ARGS struct inside_args

static const struct bb_option options[] = {
	{"for", 0, "S", bb_read_double, BB_ARG(seconds),
	 "end after this time (default: when the command ends, or at Ctrl-C)", 0.1, 1e6},
	{"time-at-most", 0, "N", bb_read_double, BB_ARG(time_at_most),
	 "timed runs of a program a second (default 20000): of more frequent ones every 2^k-th run "
	 "is timed, and all are counted",
	 1, 1e9},
	{"paths", 0, "N", bb_read_u32, BB_ARG(n_paths),
	 "paths that are shown and stored of a program (default 8)", 1, BB_INSIDE_MOST_PATHS},
	{"no-paths", 0, NULL, bb_read_flag, BB_ARG(no_paths), "do not tell paths apart"},
	{"no-time", 0, NULL, bb_read_flag, BB_ARG(no_time), "read no clock: counts only"},
	{"no-packets", 0, NULL, bb_read_flag, BB_ARG(no_packets),
	 "keep no packets, and no contexts of tracers, in --output (default: two of each path)"},
	{"snap", 0, "BYTES", bb_read_u32, BB_ARG(snap),
	 "bytes that are kept of a packet; zeros take the place of the others (default 96)", 14,
	 BB_INSIDE_MOST_SNAP},
	{"env", 0, "NAME", bb_read_env, BB_ARG(measure.env), BB_ENV_DOC},
	{"format", 'f', "NAME", bb_read_row, BB_ARG(format), "table (default), json or openmetrics",
	 BB_CHOICES(formats)},
	{"serve", 0, "ADDRESS", bb_read_text, BB_ARG(serve),
	 "meanwhile serve the figures as OpenMetrics over HTTP, at 127.0.0.1:PORT or another "
	 "address in numbers; a PORT alone is on 127.0.0.1"},
	{"output", 'o', "FILE", bb_read_text, BB_ARG(measure.output),
	 "also keep the programs, the contents of their maps, as they are at the end, and packets "
	 "of each path in this file, which goes wherever an object goes: bpfbench --object FILE"},
	{"pid-file", 0, "FILE", bb_read_text, BB_ARG(pid_file),
	 "write the command's process id to this file, for a service manager"},
	{"save-every", 0, "S", bb_read_double, BB_ARG(save_s),
	 "with --output, write the file and store the run every S seconds (default 30)", 0.1, 1e6},
	{"results", 0, "DIR", bb_read_text, BB_ARG(measure.results),
	 "store the run in this folder (default " BB_RESULTS ")"},
	{"no-store", 0, NULL, bb_read_flag, BB_ARG(measure.no_store), "do not store the run"},
	{"quiet", 'q', NULL, bb_read_flag, BB_ARG(measure.quiet),
	 "do not say where the run is stored"},
	{0},
};

static void check_args(void *args)
{
	struct inside_args *a = args;

	bb_refuse("which command? bpfbench inside -- COMMAND...", !a->command);
	bb_refuse("--snap and --no-packets are for --output, which keeps packets",
		  (a->snap || a->no_packets) && !a->measure.output);
	bb_refuse("--snap contradicts --no-packets", a->snap && a->no_packets);
	bb_refuse("--save-every is for --output", a->save_s > 0 && !a->measure.output);
	a->save_s = a->save_s > 0 ? a->save_s : 30;
	a->snap = a->snap ? a->snap : 96;
}

static const struct bb_usage usage = {
	.arguments = "-- COMMAND...",
	.doc = "Run a command and show what each of its BPF programs costs under its real load: "
	       "percentiles of its runs, and the paths that they take.",
	.more = "The command gets a clone of each program that it loads. The clone does what the "
		"program does, counts its runs, reads the clock and notes the path. The cost of "
		"the clock readings is measured and taken out of all times. On a terminal the "
		"table is refreshed each second until the command ends, q or Ctrl-C. The command "
		"runs with the rights of bpfbench, its stdin empty, its stdout on stderr. Needs "
		"root.",
	.example = "  sudo bpfbench inside --for 5 -- opensnoop\n"
		   "  sudo bpfbench inside --serve 127.0.0.1:9436 -- opensnoop\n",
	.sets = {{NULL, options, 0}},
	.options_first = true,
	.command = BB_ARG_AT(command),
	.check = check_args,
};

static double runs_per_s(const struct session *s, size_t i)
{
	return (double)s->figures[i].began /
	       ((double)(s->ended_ns - s->inside.programs[i].began_ns) * 1e-9);
}

static double percent_of_cpu(const struct session *s, size_t i)
{
	return bb_inside_path__mean(&s->figures[i].all, s->inside.price.clock_ns) *
	       runs_per_s(s, i) * 1e-7;
}

static const struct {
	double share;
	const char *key;
	/* fewest timed runs for this percentile, so that ten runs are above it */
	uint64_t least;
} percentiles[] = {{0.5, "p50", BB_P50_MIN},
		   {0.9, "p90", BB_P90_MIN},
		   {0.99, "p99", BB_P99_MIN},
		   {0.999, "p99_9", 10 * BB_P99_MIN}};

/* A percentile is NAN if too few runs were timed. `bpfbench show` computes percentiles in this way,
 * too, so that both print the same figures. */
static void compute_percentiles(const struct bb_inside_path *p, double clock_ns, double *ret_ns)
{
	struct bb_hist hist = {0};
	struct bb_sorted sorted;

	bb_inside_path__samples(p, clock_ns, &hist);
	bb_hist_sort(&hist, &sorted);
	for (size_t i = 0; i < BB_LEN(percentiles); i++)
		ret_ns[i] = p->timed < percentiles[i].least
				    ? (double)NAN
				    : bb_hist_quantile(&sorted, percentiles[i].share);
	bb_sorted_done(&sorted);
	bb_hist_done(&hist);
}

static struct bb_table_cell cpu_text(double percent)
{
	return percent > 0 && percent < 0.01 ? bb_table_cell_of("under 0.01 %%")
					     : bb_table_cell_of("%.2g %%", percent);
}

static void add_times(const struct bb_inside_path *p, double clock_ns, struct bb_doc *d)
{
	double mean = bb_inside_path__mean(p, clock_ns),
	       /* the worst time is rounded and could be below the mean */
		worst = fmax(bb_inside_path__worst(p, clock_ns), mean);
	double ns[BB_LEN(percentiles)];

	compute_percentiles(p, clock_ns, ns);
	bb_doc__number_cell(d, mean, mean);
	for (size_t i = 0; i < BB_LEN(percentiles); i++)
		bb_doc__number_cell(d, ns[i], ns[i]);
	bb_doc__number_cell(d, worst, worst);
}

#define TIME_COLUMNS                                                                               \
	{BB_NUMBER("mean")}, {BB_NUMBER("p50")}, {BB_NUMBER("p90"), .drop = 3},                    \
		{BB_NUMBER("p99")}, {BB_NUMBER("p99.9"), .drop = 2},                               \
	{                                                                                          \
		BB_NUMBER("worst")                                                                 \
	}

static const struct bb_doc_column program_columns[] = {
	{BB_TEXT("program")},
	{BB_TEXT("type"), .drop = 3},
	{BB_NUMBER("CPU %")},
	TIME_COLUMNS,
	{BB_NUMBER("runs")},
	{BB_NUMBER("runs/s"), .drop = 3},
	{BB_NUMBER("timed %"), .drop = 1},
};

static const struct bb_doc_column path_columns[] = {
	{BB_TEXT("path")},     {BB_NUMBER("runs")}, {BB_NUMBER("runs %")},
	{BB_NUMBER("time %")}, TIME_COLUMNS,        {BB_TEXT("returns")},
};

static void print_programs(const struct session *s, struct bb_doc *d)
{
	bool has_untimed = false, has_timed = false;
	double all_cpu = 0;
	size_t n = 0;

	for (size_t i = 0; i < s->inside.n_programs; i++) {
		const struct bb_inside_figures *f = &s->figures[i];

		n += f->began != 0;
		has_timed |= f->all.timed != 0;
		all_cpu += f->all.timed ? percent_of_cpu(s, i) : 0;
		has_untimed |= f->all.timed < f->began;
	}
	bb_doc__add(d, BB_DOC_PARAGRAPH, NULL, "%s: %zu BPF program%s ran in %.1f s",
		    s->args->command[0], n, bb_plural(n),
		    (double)(s->ended_ns - s->began_ns) * 1e-9);
	if (has_timed)
		bb_doc__append(d, ", on %s of one CPU", cpu_text(all_cpu).text);
	bb_doc__table(d, program_columns, BB_LEN(program_columns));
	for (size_t i = 0; i < s->inside.n_programs; i++) {
		const struct bb_inside_program *p = &s->inside.programs[i];
		const struct bb_inside_figures *f = &s->figures[i];
		double cpu = percent_of_cpu(s, i);

		if (!p->id || !f->began)
			continue;
		bb_doc__text_cell(d, p->name);
		bb_doc__text_cell(d, bb_prog_type_name(p->type).text);
		bb_doc__number_cell(d, cpu, cpu);
		add_times(&f->all, s->inside.price.clock_ns, d);
		bb_doc__cell(d, "%" PRIu64, f->began);
		bb_doc__number_cell(d, runs_per_s(s, i), runs_per_s(s, i));
		bb_doc__cell(d, has_untimed ? "%.3g" : "",
			     100 * (double)f->all.timed / (double)f->began);
	}
}

static void add_line(const struct btf *btf, const struct bpf_line_info *line, const char *sign,
		     struct bb_doc *d)
{
	char *source = bb_line_source(btf, line);

	bb_doc__add(d, BB_DOC_SUBITEM, NULL, "%s %s", sign, source);
	free(source);
}

/* Adds how `path` differs from the most frequent path, `most`: first the lines that only `path`
 * executes ("+"), then those that only `most` executes ("-"). Adds the numbers of loop iterations
 * and the line of the exit if they differ. */
static void add_lines(const struct bb_inside_program *p, const struct bb_inside_path *path,
		      const struct bb_inside_path *most, const struct btf *btf, struct bb_doc *d)
{
	const struct bpf_line_info *last = NULL;
	int n = 0;

	for (int turn = 0; turn < 2; turn++)
		for (uint32_t b = 0; b < p->cfg.n_blocks && n < LINES_SHOWN; b++) {
			bool here = bb_inside_path__marks(&p->clone, path, b);

			if (here == bb_inside_path__marks(&p->clone, most, b) || here == turn)
				continue;
			const struct bpf_line_info *line = bb_code__line_at(&p->code,
									    p->cfg.blocks[b].first);
			if (line && (!last || BB_SOURCE_LINE(line->line_col) !=
						      BB_SOURCE_LINE(last->line_col)))
				add_line(btf, line, here ? "+" : "-", d), n++;
			last = line;
		}
	if (path->turns != most->turns && n < LINES_SHOWN)
		bb_doc__add(d, BB_DOC_SUBITEM, NULL,
			    "its loops made %" PRIu64 " turns in a run, those of the other "
			    "%" PRIu64,
			    path->turns, most->turns);
	if (path->exit != most->exit) {
		const struct bpf_line_info *line = bb_code__line_at(&p->code,
								    p->clone.exits[path->exit]);

		if (line)
			add_line(btf, line, "ends at", d);
	}
}

/* Compares the texts of two paths in the blocks of `d`. One text begins at block `a` and ends
 * before the next BB_DOC_ITEM. The other text begins at block `b` and ends with the document. */
static bool says_the_same(const struct bb_doc *d, size_t a, size_t b)
{
	while (b < d->n && bb_same_text(d->blocks[a].text, d->blocks[b].text))
		a++, b++;
	return b == d->n && d->blocks[a].kind == BB_DOC_ITEM;
}

/* Adds how path k differs from the most frequent path. If an earlier path has the same lines, adds
 * the name of path k to its item instead. `first` is the first block about these paths. */
static void add_path_lines(const struct session *s, size_t i, size_t k, const struct btf *btf,
			   size_t first, struct bb_doc *d)
{
	const struct bb_inside_path *paths = s->figures[i].paths;
	struct bb_inside_path_name name = bb_inside_path_name(&paths[k]);
	size_t begin = d->n;

	bb_doc__add(d, BB_DOC_ITEM, NULL, "path %s, compared with %s", name.text,
		    bb_inside_path_name(&paths[0]).text);
	add_lines(&s->inside.programs[i], &paths[k], &paths[0], btf, d);
	for (size_t n = first; n < begin; n++) {
		char **text = &d->blocks[n].text, *with;

		if (d->blocks[n].kind != BB_DOC_ITEM || !says_the_same(d, n + 1, begin + 1))
			continue;
		with = strstr(*text, ", compared with ");
		with = bb_asprintf("%.*s, %s%s", (int)(with - *text), *text, name.text, with);
		free(*text);
		*text = with;
		bb_doc__cut(d, begin);
		return;
	}
}

static bool ends_in_call(const struct bb_inside_program *p, const struct bb_inside_path *path)
{
	return bb_insn_is_call(&p->code.insns[p->clone.exits[path->exit]]);
}

static size_t n_shown(const struct session *s, size_t i)
{
	size_t n = s->figures[i].n_paths;

	return n < s->args->n_paths ? n : s->args->n_paths;
}

static void print_paths(const struct session *s, size_t i, struct bb_doc *d)
{
	const struct bb_inside_program *p = &s->inside.programs[i];
	const struct bb_inside_figures *f = &s->figures[i];
	size_t n = n_shown(s, i), first;
	uint64_t others = 0;

	if (f->n_paths < 2)
		return;
	bb_doc__add(d, BB_DOC_TITLE, NULL, "%s: %zu paths (ns per run)", p->name, f->n_paths);
	bb_doc__table(d, path_columns, BB_LEN(path_columns));
	for (size_t k = 0; k < n; k++) {
		const struct bb_inside_path *path = &f->paths[k];
		double time = f->all.sum_ns > 0 ? path->sum_ns / f->all.sum_ns : NAN;

		bb_doc__text_cell(d, bb_inside_path_name(path).text);
		bb_doc__cell(d, "%" PRIu64, path->runs);
		bb_doc__table_cell(d,
				   bb_table_cell_percent((double)path->runs / (double)f->all.runs));
		bb_doc__table_cell(d, bb_table_cell_percent(time));
		add_times(path, s->inside.price.clock_ns, d);
		if (ends_in_call(p, path))
			bb_doc__cell(d, "tail call");
		else
			bb_doc__cell(d, path->varies ? "different values" : "%" PRId64,
				     (int64_t)path->retval);
	}
	for (size_t k = n; k < f->n_paths; k++)
		others += f->paths[k].runs;
	if (others)
		bb_doc__add(d, BB_DOC_SUBITEM, NULL,
			    "%zu more paths, %" PRIu64 " runs in all (`--paths %zu`)",
			    f->n_paths - n, others, f->n_paths);
	struct btf *btf = p->btf_id ? btf__load_from_kernel_by_id(p->btf_id) : NULL;
	first = d->n;
	for (size_t k = 1; btf && k < n; k++)
		if (f->paths[k].key && f->paths[0].key)
			add_path_lines(s, i, k, btf, first, d);
	btf__free(btf);
}

static const struct bb_doc_column chain_columns[] = {
	{BB_TEXT("chain")},
	{BB_NUMBER("runs")},
	{BB_NUMBER("runs %"), .doc = "share of the runs of the chain's first program"},
	TIME_COLUMNS,
};

/* A chain of tail calls has a key in which each byte names one program. */
static unsigned int length_of(uint64_t key)
{
	unsigned int n = 0;

	for (; key; key >>= 8)
		n++;
	return n;
}

/* Returns the index of program number `nth`, from 0 on, in the chain with this key. */
static size_t called_nth(uint64_t key, unsigned int nth)
{
	return (size_t)(key >> 8 * (length_of(key) - 1 - nth) & BB_INSIDE_CHAINED) - 1;
}

/* Returns text such as "first > second > third". The caller frees it. */
static char *name_chain(const struct session *s, uint64_t key)
{
	size_t len;
	char *name = NULL;
	FILE *out = bb_open_memstream(&name, &len);

	fputs(key ? length_of(key) == BB_INSIDE_CHAIN_OF ? "... > " : "" : "others", out);
	for (unsigned int i = 0; i < length_of(key); i++) {
		size_t nth = called_nth(key, i);

		fprintf(out, "%s%s", i ? " > " : "",
			nth < s->inside.n_programs ? s->inside.programs[nth].name : "?");
	}
	bb_close_memstream(out);
	return name;
}

static void print_chains(const struct session *s, struct bb_doc *d)
{
	const struct bb_inside_figures *f = &s->chains;

	if (f->n_paths) {
		bb_doc__add(d, BB_DOC_TITLE, NULL, "tail calls");
		bb_doc__table(d, chain_columns, BB_LEN(chain_columns));
	}
	for (size_t i = 0; i < f->n_paths && i < s->args->n_paths; i++) {
		const struct bb_inside_path *c = &f->paths[i];
		size_t first = c->key ? called_nth(c->key, 0) : s->n_figures;
		char *name = name_chain(s, c->key);
		double share = first < s->n_figures && length_of(c->key) < BB_INSIDE_CHAIN_OF
				       ? (double)c->runs / (double)s->figures[first].began
				       : NAN;

		bb_doc__text_cell(d, name);
		bb_doc__cell(d, "%" PRIu64, c->runs);
		bb_doc__table_cell(d, bb_table_cell_percent(share));
		/* each program of the chain reads the clock */
		add_times(c, s->inside.price.clock_ns * length_of(c->key), d);
		free(name);
	}
}

static void print_others(const struct session *s, struct bb_doc *d)
{
	const struct bb_inside *in = &s->inside;
	size_t replaced = 0, idle = 0, tests = 0;

	for (size_t i = 0; i < in->n_programs; i++) {
		const struct bb_inside_program *p = &in->programs[i];

		replaced += p->id ? p->n_loads : 0;
		idle += p->id && !s->figures[i].began;
		if (!p->id && p->n_insns && p->n_insns < 4) {
			tests += p->n_loads;
			continue;
		}
		if (p->id && p->n_loads > 1 && s->figures[i].began)
			bb_doc__add(d, BB_DOC_ITEM, *p->name ? p->name : "(no name)",
				    "the figures of %zu loads", p->n_loads);
		if (*p->why)
			bb_doc__add(d, BB_DOC_ITEM, *p->name ? p->name : "(no name)", "%s: %s",
				    !p->id                               ? "not replaced"
				    : !p->clone.with                     ? "counted only"
				    : !(p->clone.with & BB_INSIDE_PATHS) ? "without paths"
				    : !(p->clone.with & BB_INSIDE_TIME)  ? "without time"
									: "without packets or tail "
									  "calls",
				    p->why);
	}
	bb_doc__add(d, BB_DOC_CLOSING, "programs", "%zu of %zu loads measured", replaced,
		    in->n_loads);
	if (idle)
		bb_doc__append(d, "; %zu of them never ran", idle);
	if (tests)
		bb_doc__append(d, "; %zu others only tried out the kernel", tests);
}

static void print_cost(const struct session *s, struct bb_doc *d)
{
	const struct bb_inside_price *price = &s->inside.price;
	double ns = 0, seconds = (double)(s->ended_ns - s->began_ns) * 1e-9;
	bool has_untimed = false, has_few = false, has_no_lines = false;

	for (size_t i = 0; i < s->inside.n_programs; i++) {
		double timed = (double)s->figures[i].all.timed;

		ns += timed * price->timed_ns +
		      ((double)s->figures[i].began - timed) *
			      (s->inside.programs[i].clone.with & BB_INSIDE_TIME
				       ? price->untimed_ns
				       : price->counted_ns);
		has_untimed |= s->figures[i].all.timed < s->figures[i].began;
		has_no_lines |= s->figures[i].n_paths > 1 && !s->inside.programs[i].btf_id;
		has_few |= s->figures[i].all.timed && s->figures[i].all.timed < BB_P99_MIN;
	}
	if (has_no_lines)
		bb_doc__add(d, BB_DOC_PARAGRAPH, "paths",
			    "without their lines of source where the program has no BTF");
	bb_doc__add(d, BB_DOC_PARAGRAPH, "mean to worst",
		    "ns of one run, without the %.0f ns that reading the clock takes%s",
		    price->clock_ns, has_few ? "; p50 needs 20 timed runs, p99 1000" : "");
	bb_doc__add(d, BB_DOC_PARAGRAPH, "price",
		    "the instrumented copies took %s of one CPU more than the programs would "
		    "(%.0f ns more in each run%s",
		    cpu_text(ns * 1e-7 / seconds).text, price->timed_ns,
		    has_untimed ? " that is timed" : "");
	if (has_untimed)
		bb_doc__append(d, ", %.0f ns in each of the others", price->untimed_ns);
	bb_doc__append(d, "); each load waited %.1f ms",
		       s->inside.n_loads
			       ? (double)s->inside.spent_ns * 1e-6 / (double)s->inside.n_loads
			       : 0.0);
}

/* If `is_end` is true, adds what to do next. */
static void write_table(const struct session *s, const struct bb_doc_look *look, bool is_end,
			FILE *out)
{
	const struct bb_measure_args *a = &s->args->measure;
	struct bb_doc d = {0};

	print_programs(s, &d);
	print_chains(s, &d);
	for (size_t i = 0; i < s->inside.n_programs; i++)
		print_paths(s, i, &d);
	print_others(s, &d);
	print_cost(s, &d);
	if (is_end && a->output)
		bb_doc__add(&d, BB_DOC_PARAGRAPH, "next",
			    "`sudo bpfbench --object %s` (each program on the bench)", a->output);
	else if (is_end)
		bb_doc__add(&d, BB_DOC_PARAGRAPH, "next",
			    "`sudo bpfbench inside -o %s.capture%s`, then `sudo bpfbench --object "
			    "%s.capture` (each program on the bench)",
			    s->name, a->command + strlen("bpfbench inside"), s->name);
	bb_doc__text(&d, look, out);
	bb_doc__done(&d);
}

static void json_times(const struct bb_inside_path *p, double clock_ns, struct bb_json *w)
{
	double ns[BB_LEN(percentiles)];

	compute_percentiles(p, clock_ns, ns);
	bb_json__add_u64(w, "timed", p->timed);
	bb_json__add_fixed(w, "mean", bb_inside_path__mean(p, clock_ns));
	for (size_t i = 0; i < BB_LEN(percentiles); i++)
		bb_json__add_fixed(w, percentiles[i].key, ns[i]);
	bb_json__add_fixed(w, "worst", bb_inside_path__worst(p, clock_ns));
}

static void write_json(const struct session *s, FILE *out)
{
	struct bb_json w = {.out = out, .indent = 1};

	bb_json__open(&w, NULL, "{\n");
	bb_json__add_double(&w, "clock_ns", s->inside.price.clock_ns);
	bb_json__add_double(&w, "timed_ns", s->inside.price.timed_ns);
	bb_json__add_double(&w, "untimed_ns", s->inside.price.untimed_ns);
	bb_json__add_double(&w, "counted_ns", s->inside.price.counted_ns);
	bb_json__add_u64(&w, "loads", s->inside.n_loads);
	bb_json__add_u64(&w, "spent_ns", s->inside.spent_ns);
	bb_json__open(&w, "programs", "[\n");
	for (size_t i = 0; i < s->inside.n_programs; i++) {
		const struct bb_inside_program *p = &s->inside.programs[i];
		const struct bb_inside_figures *f = &s->figures[i];

		bb_json__open(&w, NULL, "{");
		bb_json__add_text(&w, "name", p->name);
		bb_json__add_text(&w, "type", bb_prog_type_name(p->type).text);
		bb_json__add_u64(&w, "id", p->id);
		bb_json__add_bool(&w, "with_time", p->id && p->clone.with & BB_INSIDE_TIME);
		bb_json__add_bool(&w, "with_paths", p->id && p->clone.with & BB_INSIDE_PATHS);
		bb_json__add_text(&w, "why", p->why);
		bb_json__add_u64(&w, "loads", p->n_loads);
		bb_json__add_u64(&w, "runs", f->began);
		bb_json__add_fixed(&w, "runs_per_s", runs_per_s(s, i));
		json_times(&f->all, s->inside.price.clock_ns, &w);
		bb_json__open(&w, "paths", "[\n");
		for (size_t k = 0; p->clone.with & BB_INSIDE_PATHS && k < f->n_paths; k++) {
			bb_json__open(&w, NULL, "{");
			bb_json__add_text(&w, "path", bb_inside_path_name(&f->paths[k]).text);
			bb_json__add_u64(&w, "runs", f->paths[k].runs);
			bb_json__add_bool(&w, "rest", !f->paths[k].key);
			bb_json__add_bool(&w, "tail_call", ends_in_call(p, &f->paths[k]));
			bb_json__add_bool(&w, "varies", f->paths[k].varies);
			bb_json__add_double(&w, "retval", (double)(int64_t)f->paths[k].retval);
			json_times(&f->paths[k], s->inside.price.clock_ns, &w);
			bb_json__close(&w);
		}
		bb_json__close(&w);
		bb_json__close(&w);
	}
	bb_json__close(&w);
	bb_json__open(&w, "chains", "[\n");
	for (size_t i = 0; i < s->chains.n_paths; i++) {
		const struct bb_inside_path *c = &s->chains.paths[i];
		char *name = name_chain(s, c->key);

		bb_json__open(&w, NULL, "{");
		bb_json__add_text(&w, "programs", name);
		bb_json__add_u64(&w, "runs", c->runs);
		json_times(c, s->inside.price.clock_ns * length_of(c->key), &w);
		bb_json__close(&w);
		free(name);
	}
	bb_json__close(&w);
	bb_json__end(&w);
}

/* A metric family of OpenMetrics, about programs or, if is_path, about their most frequent paths.
 * It counts runs or, if is_time, has histograms of their times. */
struct family {
	const char *name, *help;
	bool is_path, is_time;
};

static void put_sample(const struct session *s, const struct family *f, size_t i,
		       const struct bb_inside_path *path, FILE *out)
{
	const struct bb_inside_program *program = &s->inside.programs[i];
	const struct bb_inside_figures *of = &s->figures[i];
	struct bb_inside_path_name name = bb_inside_path_name(path ? path : &of->all);
	struct bb_openmetrics_labels labels = {.id = program->id,
					       .name = program->name,
					       .path = path ? name.text : NULL};
	struct bb_time_buckets buckets = {0};
	struct bb_hist times = {0};

	snprintf(labels.type, sizeof(labels.type), "%s", bb_prog_type_name(program->type).text);
	if (!f->is_time) {
		bb_openmetrics_sample(f->name, "_total", &labels, NULL,
				      (double)(path ? path->runs : of->began), out);
		return;
	}
	bb_inside_path__samples(path ? path : &of->all, s->inside.price.clock_ns, &times);
	bb_time_buckets__add(&buckets, &times);
	bb_openmetrics_histogram(f->name, &labels, &buckets, out);
	bb_hist_done(&times);
}

static void write_openmetrics(const struct session *s, FILE *out)
{
	static const struct family families[] = {
		{"bpf_program_runs", "Runs of the program's clone.", false, false},
		{"bpf_program_run_duration_seconds", "Runs that were timed, less the clock.", false,
		 true},
		{"bpf_path_runs", "Runs that took the path.", true, false},
		{"bpf_path_run_duration_seconds",
		 "Runs that took the path and were timed, less the clock.", true, true},
	};

	for (const struct family *f = families; f < families + BB_LEN(families); f++) {
		bb_openmetrics_family(f->name, f->is_time ? "histogram" : "counter",
				      f->is_time ? "seconds" : NULL, f->help, out);
		for (size_t i = 0; i < s->n_figures; i++) {
			const struct bb_inside_figures *of = &s->figures[i];

			if (!s->inside.programs[i].id)
				continue;
			if (!f->is_path)
				put_sample(s, f, i, NULL, out);
			for (size_t k = 0; f->is_path && of->n_paths > 1 && k < n_shown(s, i); k++)
				put_sample(s, f, i, &of->paths[k], out);
		}
	}
	fputs("# EOF\n", out);
}

static void forget_figures(struct session *s)
{
	for (size_t i = 0; i < s->n_figures; i++)
		bb_inside_figures__done(&s->figures[i]);
	bb_inside_figures__done(&s->chains);
	free(s->figures);
	s->figures = NULL;
	s->n_figures = 0;
}

static void read_figures(struct session *s)
{
	forget_figures(s);
	bb_inside__turn(&s->inside);
	s->ended_ns = bb_now_ns();
	s->figures = bb_calloc(s->inside.n_programs, sizeof(*s->figures));
	s->n_figures = s->inside.n_programs;
	for (size_t i = 0; i < s->inside.n_programs; i++)
		if (s->inside.programs[i].id)
			s->figures[i] = bb_inside_figures__read(&s->inside.programs[i].clone);
	if (s->inside.has_chains)
		s->chains = bb_inside_figures__read(&s->inside.chains);
}

static int write_figures(void *arg, FILE *out, struct bb_err *)
{
	const struct session *s = arg;
	struct bb_doc_look look = bb_output_look(stdout);

	if (s->args->format && s->args->format->write)
		s->args->format->write(s, out);
	else
		write_table(s, &look, true, out);
	return 0;
}

/* Shows the figures once a second. Returns 1 if the user pressed q, else 0, or -errno with a
 * message. */
static int look(struct session *s, uint64_t *shown_ns, struct bb_err *err)
{
	char *text = NULL;
	size_t len;
	FILE *out;
	int rc = 0;

	if (s->is_screen && bb_screen__key() == 'q')
		return 1;
	if ((!s->is_screen && !s->args->serve) || bb_seconds_since(*shown_ns) < LOOK_S)
		return 0;
	*shown_ns = bb_now_ns();
	read_figures(s);
	if (s->is_screen) {
		struct bb_doc_look plain = bb_output_look(stdout);

		plain.colour = false;
		out = bb_open_memstream(&text, &len);
		fputs("renewed each second; q ends\n\n", out);
		write_table(s, &plain, false, out);
		bb_close_memstream(out);
		bb_screen__draw(&s->screen, text);
		free(text);
	}
	if (s->args->serve) {
		out = bb_open_memstream(&text, &len);
		write_openmetrics(s, out);
		bb_close_memstream(out);
		rc = bb_http_server__publish(&s->server, text, len, err);
		free(text);
	}
	return rc;
}

static void add_to_report(const struct session *s)
{
	bb_inside__report(&s->inside, s->figures, s->ended_ns, s->name, s->args->n_paths,
			  s->measure->report);
}

static int ask_kernel(struct session *s, struct bb_err *err)
{
	return bb_take__ask_kernel(&s->take, s->command.listener.command,
				   (size_t)BB_CAPTURE_MIB << 20, err);
}

/* Runs in a child process, so that the session of the parent does not change. Writes the capture
 * and stores the run with the figures so far. */
static int save(void *arg, int)
{
	struct session *s = arg;
	struct bb_err err = {0};

	s->args->measure.quiet = true;
	read_figures(s);
	int rc = ask_kernel(s, &err);
	if (!rc)
		rc = write_file(s, &err);
	if (!rc)
		add_to_report(s);
	return rc ? 1 : bb_measure__deliver(s->measure, 0, &err);
}

/* Saves in a child process every --save-every seconds. The child prints no errors, because this
 * process writes the same file at the end and prints them then. */
static void save_now_and_then(struct session *s)
{
	const struct bb_child_rules rules = {.signals = BB_SIGNALS_OF_FAULTS,
					     .std = {0, BB_STD_NULL, BB_STD_NULL}};

	if (s->saver.pid > 0 && waitpid(s->saver.pid, NULL, WNOHANG) == s->saver.pid) {
		s->saver.pid = 0;
		bb_child__stop(&s->saver);
		s->saved_ns = bb_now_ns();
	}
	if (s->saver.pid <= 0 && s->inside.n_replaced &&
	    bb_seconds_since(s->saved_ns) >= s->args->save_s) {
		s->measure->report->is_rewritten = true;
		bb_child__start(&rules, save, s, &s->saver);
	}
}

/* Ends when the time is over, at a signal or q, or when no process of the command is left. */
static int watch(struct session *s, struct bb_err *err)
{
	struct bb_take *take = s->inside.take;
	uint64_t shown_ns = s->began_ns;
	bool any;
	int rc = 0, end;

	while (!rc) {
		rc = bb_watched__serve(&s->command, TURN_MS, take, &any);
		if (take && !any)
			bb_take__settle(take, BB_SETTLE_TURN, 0);
		bb_inside__turn(&s->inside);
		bb_watched__look(&s->command);
		if (take) {
			bb_inside__forget(&s->inside);
			save_now_and_then(s);
		}
		end = look(s, &shown_ns, err);
		s->is_cut = end > 0;
		if (end)
			return end < 0 ? end : 0;
		if (bb_stop_signal == SIGINT || (bb_stop_signal == SIGTERM && s->args->serve))
			bb_stop_signal = 0; /* this signal ends the watch, but not bpfbench */
		else if (bb_stop_signal)
			return bb_fail(err, -EINTR, "interrupted");
		else if (!s->args->seconds || bb_seconds_since(s->began_ns) < s->args->seconds)
			continue;
		s->is_cut = true;
		return 0;
	}
	return rc == -EPIPE ? 0 : bb_fail(err, rc, "watching '%s': %m", s->args->command[0]);
}

static int write_pid(void *arg, FILE *out, struct bb_err *)
{
	const pid_t *pid = arg;

	fprintf(out, "%d\n", *pid);
	return 0;
}

static int run_command(struct session *s, struct bb_err *err)
{
	const char *pid_file = s->args->pid_file;
	const char *const *argv = (const char *const *)(uintptr_t)s->args->command;

	if (s->args->measure.output) {
		s->take = bb_take__begin(argv);
		s->inside.take = &s->take;
	}
	/* if there is a screen, the command's stdout and stderr go to /dev/null */
	int rc = bb_watched__start(argv, NULL, s->args->measure.env.v, s->is_screen, true,
				   &s->command, err);
	if (rc)
		return rc;
	s->command.load = bb_inside__load;
	s->command.load_arg = &s->inside;
	s->began_ns = s->saved_ns = bb_now_ns();
	if (pid_file)
		rc = bb_output_of(write_pid, &s->command.listener.command, pid_file, err);
	if (!rc && s->is_screen)
		rc = bb_screen__open(&s->screen, err);
	if (!rc) {
		rc = watch(s, err);
		if (s->is_screen)
			bb_screen__close(&s->screen);
	}
	bb_child__stop(&s->saver);
	/* Now load the command's programs as they are, because nobody would read the figures of
	 * clones. */
	s->command.load = NULL;
	if (!rc)
		read_figures(s);
	if (!rc && s->args->measure.output)
		rc = ask_kernel(s, err);
	if (!bb_watched__end(&s->command))
		bb_say("a process of the command does not end, and is left running");
	if (!rc && !s->inside.n_loads && s->is_cut)
		rc = bb_fail(err, -ENOTSUP,
			     "'%s' loaded no BPF program while it was watched; --for S watches "
			     "it longer",
			     argv[0]);
	else if (!rc && !s->inside.n_loads)
		rc = bb_fail(err, -ENOTSUP, "'%s', which %s, loaded no BPF program%s", argv[0],
			     bb_how_ended(s->command.status).text, bb_silence_hint(s->is_screen));
	if (!rc && s->command.ended && s->command.status && !s->args->seconds)
		bb_tell("the command %s", bb_how_ended(s->command.status).text);
	bb_watched__close(&s->command, false);
	return rc;
}

/* True if a kept context of the tracing program `p` has the address of a kernel object. By the time
 * of a test run, another object may be at this address. */
static bool has_addresses(const struct bb_inside_program *p)
{
	for (size_t i = 0; i < p->packets.n_paths; i++)
		for (size_t k = 0; k < BB_INSIDE_KEPT; k++) {
			const struct bb_inside_packet *in = &p->packets.paths[i].kept[k];
			uint64_t word;

			for (uint32_t at = 0; at + sizeof(word) <= in->n; at += sizeof(word)) {
				memcpy(&word, in->bytes + at, sizeof(word));
				/* a kernel address, and not a negative number of 32 bits such as an
				 * errno */
				if (word >> 48 == 0xffff && word < (uint64_t)INT32_MIN)
					return true;
			}
		}
	return false;
}

/* Adds packets in their original length (at most BB_INSIDE_MOST_SNAP), or contexts of a tracing
 * program. Bytes that were not kept are zeros. */
static void add_packets(const struct session *s, size_t i, struct bb_capture *c)
{
	const struct bb_inside_program *p = &s->inside.programs[i];
	const struct bb_inside_figures *f = &s->figures[i];
	bool is_tracing = p->type == BPF_PROG_TYPE_RAW_TRACEPOINT;

	if (is_tracing && has_addresses(p))
		return;
	for (size_t k = 0; k < n_shown(s, i); k++) {
		const struct bb_inside_path_packets *of = bb_inside_packets__of(&p->packets,
										f->paths[k].key);
		double share = (double)f->paths[k].runs / (double)f->all.runs;
		uint32_t n = of ? bb_inside_packets__differ(of) : 0;

		for (uint32_t j = 0; j < n; j++) {
			const struct bb_inside_packet *packet = &of->kept[j];
			uint32_t len = packet->len < BB_INSIDE_MOST_SNAP ? packet->len
									 : BB_INSIDE_MOST_SNAP;
			struct bb_blob bytes = {bb_calloc(len + 1, 1), len};

			memcpy(bytes.data, packet->bytes, packet->n < len ? packet->n : len);
			BB_PUSH(c->inputs, c->n_inputs,
				(struct bb_captured_input){
					.prog = p->taken,
					.path = bb_strdup(bb_inside_path_name(&f->paths[k]).text),
					.share = share / n,
					.repeat = 1,
					.ctx = is_tracing ? bytes : (struct bb_blob){0},
					.data = is_tracing ? (struct bb_blob){0} : bytes,
				});
		}
	}
}

static int write_file(struct session *s, struct bb_err *err)
{
	const char *path = s->args->measure.output;
	struct bb_capture *capture = NULL;

	for (size_t i = 0; i < s->inside.n_replaced; i++)
		bb_take__replaced(&s->take, s->inside.replaced[i].id, s->inside.replaced[i].taken);
	int rc = bb_take__end(&s->take, "", &capture, err);
	for (size_t i = 0; !rc && i < s->inside.n_programs; i++)
		if (s->inside.programs[i].taken >= 0)
			add_packets(s, i, capture);
	if (!rc)
		rc = bb_capture__write(capture, path, err);
	bb_capture__free(capture);
	if (!rc && !s->args->measure.quiet)
		bb_tell("written to %s; to measure it: `bpfbench --object %s`", path, path);
	return rc;
}

/* Stores the paths as folded stacks, which `bpfbench report` draws. */
static int store_tree(const struct session *s, struct bb_err *err)
{
	struct bb_stacks stacks = {0};
	struct bb_stacks_output folded = {&stacks, NULL};

	bb_inside__tree(&s->inside, s->figures, &stacks);
	int rc = bb_measure__store_beside(s->measure, "folded", bb_write_stacks, &folded, NULL,
					  err);
	bb_stacks__done(&stacks);
	return rc;
}

int bb_cmd_inside(int argc, char **argv, struct bb_err *err)
{
	static struct inside_args a = {.n_paths = 8, .time_at_most = 20000};
	struct session s = {.args = &a};
	char name[BB_NAME_MAX_BYTES + 2];
	struct bb_measure m;
	int rc, exit_code;

	bb_measure_args__init(&a.measure, argv, 0);
	bb_usage__parse(&usage, argc, argv, &a);
	bb_capture_name(a.command[0], name, sizeof(name));
	s.inside.time_at_most = a.time_at_most;
	s.inside.with = (a.no_time ? 0 : BB_INSIDE_TIME) | (a.no_paths ? 0 : BB_INSIDE_PATHS);
	if (a.measure.output && !a.no_packets && !a.no_time && !a.no_paths)
		s.inside.with |= BB_INSIDE_PACKETS;
	s.inside.snap = a.snap;
	s.is_screen = !a.format && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	if (a.serve && (rc = bb_http_server__open(a.serve, BB_OPENMETRICS_TYPE, &s.server, err)))
		return rc;
	if (a.serve)
		bb_tell("serving %s", s.server.url);
	rc = bb_measure__begin(&a.measure, name, false, &m, err);
	if (rc) {
		bb_http_server__close(&s.server);
		return rc;
	}
	s.measure = &m;
	s.name = name;
	rc = bb_inside_price__measure(&s.inside.price, err);
	if (!rc) {
		bb_capture_provide_tracefs();
		rc = run_command(&s, err);
	}
	if (!rc)
		rc = bb_output_of(write_figures, &s, NULL, err);
	if (!rc && a.measure.output)
		rc = write_file(&s, err);
	if (!rc)
		add_to_report(&s);
	exit_code = bb_measure__deliver(&m, rc, err);
	/* the tree of paths is stored only if storing the run has succeeded */
	if (!rc && !exit_code && !a.measure.no_store && m.report->n_cases && store_tree(&s, err))
		exit_code = bb_complain(err);
	bb_measure__end(&m);
	bb_http_server__close(&s.server);
	forget_figures(&s);
	bb_inside__done(&s.inside);
	bb_take__free(&s.take);
	return exit_code;
}
