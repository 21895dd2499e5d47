/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/caller.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "bpf/prog_type.h"
#include "cli/capture_options.h"
#include "cli/options.h"
#include "cli/output.h"
#include "export/table_cells.h"
#include "plan/field.h"
#include "run/overhead.h"

/* A ring buffer that was this full may have lost events, because a record that does not fit is
 * lost. */
#define NEARLY_FULL 0.95

struct overhead_args;

struct shown {
	const struct overhead_args *args;
	const struct bb_overhead *o;
	const char *name; /* name of the agent */
	/* the error that ended the measurement, or NULL */
	const char *failed;
};

struct format {
	const char *name;
	void (*write)(const struct shown *s, FILE *out);
	bool is_markdown;
};

struct overhead_args {
	struct bb_overhead_opts opts;
	char **command; /* points into argv; ends in NULL */
	struct bb_strings env;
	const struct format *format;
	const char *output, *load;
	char *line; /* the command line of bpfbench */
	bool never_fails;
};

static const char *const figure_names[BB_N_OVERHEAD] = {"CPU time",     "machine's CPU time",
							"wall time",    "bystander's CPU time",
							"latency",      "latency, p50",
							"latency, p99", "requests/s"};
static const char *const figure_slugs[BB_N_OVERHEAD] = {"cpu",         "machine-cpu", "wall",
							"bystander",   "latency",     "latency-p50",
							"latency-p99", "throughput"};

/* Adds a time in the unit that suits a time of `size` s. */
static void add_time(struct bb_doc *d, double s, double size)
{
	if (!isfinite(s))
		bb_doc__text_cell(d, NULL);
	else if (size >= 1)
		bb_doc__cell(d, "%.3f s", s);
	else if (size >= 1e-3)
		bb_doc__cell(d, "%s ms", bb_table_cell_number(s * 1e3, s * 1e3).text);
	else
		bb_doc__cell(d, "%s us", bb_table_cell_number(s * 1e6, s * 1e6).text);
}

static const char *verdict_name(const struct bb_overhead_figure *f)
{
	return f->verdict == BB_VERDICT_REGRESSED ? "above"
	       : f->verdict == BB_VERDICT_SAME    ? "within"
						  : "inconclusive";
}

static const char *shown_verdict(const struct shown *s, int i)
{
	const struct bb_overhead_figure *f = &s->o->figures[i];

	if (i != BB_OVERHEAD_CPU && i != BB_OVERHEAD_MACHINE)
		return "no limit";
	if (s->o->n_blocks < BB_OVERHEAD_LEAST_BLOCKS)
		return "not judged";
	if (f->verdict == BB_VERDICT_REGRESSED && !s->args->never_fails)
		return "fails";
	return verdict_name(f);
}

static void add_figures(const struct shown *s, struct bb_doc *d)
{
	bool against = s->args->opts.against.command.shell;
	const char *per = s->args->opts.requests > 1 ? "per request" : "per run";
	/* static, because the columns of the document point to it after this function has
	 * returned */
	static char limit[40];

	snprintf(limit, sizeof(limit), "limit %g %% (--max)", 100 * s->args->opts.max);
	bb_doc__columns(d, {BB_TEXT(per)}, {BB_VERDICT(limit)},
			{BB_NUMBER(against ? "against" : "without")},
			{BB_NUMBER(against ? "agent" : "with")}, {BB_NUMBER("increase %")},
			{BB_NUMBER("interval %")});
	for (int i = 0; i < BB_N_OVERHEAD; i++) {
		const struct bb_overhead_figure *f = &s->o->figures[i];
		double sides[2] = {f->base_s, f->head_s};

		if (!isfinite(f->base_s))
			continue;
		/* The ratio is more precise than the medians. Compute the figure of head from it,
		 * so that base, head and ratio of the row agree. */
		if (isfinite(f->ratio.value))
			sides[1] = f->base_s * f->ratio.value;
		bb_doc__text_cell(d, figure_names[i]);
		bb_doc__text_cell(d, shown_verdict(s, i));
		for (int k = 0; k < 2; k++)
			if (i == BB_OVERHEAD_RATE)
				bb_doc__number_cell(d, sides[k], sides[k]);
			else
				add_time(d, sides[k], fmin(sides[0], sides[1]));
		bb_doc__cell(d, "%+.1f", 100 * (f->ratio.value - 1));
		if (isfinite(f->ratio.lo))
			bb_doc__cell(d, "[%+.1f, %+.1f]", 100 * (f->ratio.lo - 1),
				     100 * (f->ratio.hi - 1));
		else
			bb_doc__text_cell(d, NULL);
	}
}

static void add_part(struct bb_doc *d, const char *name, double runs, double ns, double cpu_s,
		     double base_s)
{
	bb_doc__text_cell(d, name);
	bb_doc__table_cell(d, bb_table_cell_number(runs, runs));
	bb_doc__table_cell(d, bb_table_cell_number(ns, ns));
	add_time(d, cpu_s, fabs(cpu_s));
	bb_doc__cell(d, "%.1f", 100 * cpu_s / base_s);
}

static void add_parts(const struct shown *s, struct bb_doc *d)
{
	const struct bb_overhead *o = s->o;
	double base_s = o->figures[BB_OVERHEAD_CPU].base_s;
	size_t n_idle = 0;

	if (!(o->parts_turn_s > 0))
		return;
	bb_doc__columns(d, {BB_TEXT("part")}, {BB_NUMBER("runs")}, {BB_NUMBER("ns/run")},
			{BB_NUMBER("CPU time")}, {BB_NUMBER("adds %")});
	for (size_t i = 0; i < o->n_programs; i++) {
		const struct bb_overhead_program *p = &o->programs[i];

		n_idle += !(p->runs > 0);
		if (p->runs > 0)
			add_part(d,
				 bb_table_cell_of("%s%s", p->program.name,
						  p->is_gone ? " (gone)" : "")
					 .text,
				 p->runs, bb_overhead__program_ns(o, p),
				 bb_overhead__program_s(o, p), base_s);
	}
	add_part(d, "the agent's processes", NAN, NAN, o->agent_s, base_s);
	if (!s->args->opts.against.command.shell)
		add_part(d, "unexplained", NAN, NAN, bb_overhead__unexplained_s(o), base_s);
	if (n_idle)
		bb_doc__add(d, BB_DOC_FAINT, NULL, "%zu program%s of the agent did not run", n_idle,
			    bb_plural(n_idle));
}

/* Runs that the kernel left out, and full rings, hint at events that the agent missed. */
static void add_lost(const struct shown *s, struct bb_doc *d)
{
	const struct bb_overhead *o = s->o;
	double runs = 0, per_s = 1 / o->figures[BB_OVERHEAD_WALL].head_s;
	uint64_t misses = 0;

	for (size_t i = 0; i < o->n_programs; i++) {
		runs += o->programs[i].runs > 0 ? o->programs[i].runs : 0;
		misses += o->programs[i].misses;
	}
	if (!(runs > 0))
		return;
	if (misses)
		bb_doc__add(d, BB_DOC_BAD, "lost events",
			    "at %s runs of its programs a second, the kernel left out %" PRIu64
			    " runs (recursion)",
			    bb_table_cell_number(runs * per_s, runs * per_s).text, misses);
	if (o->n_perf_buffers)
		bb_doc__add(d, BB_DOC_FAINT, misses ? NULL : "lost events",
			    "what its perf buffers lost, only the agent can tell");
	for (size_t i = 0; i < o->n_rings; i++)
		bb_doc__add(d, o->rings[i].peak > NEARLY_FULL ? BB_DOC_BAD : BB_DOC_FAINT, NULL,
			    "its ring buffer '%s' was up to %.0f %% full%s", o->rings[i].name,
			    100 * o->rings[i].peak,
			    o->rings[i].peak > NEARLY_FULL ? ": events may have been lost, only "
							     "the agent can tell"
							   : "");
}

static void add_inside(const char *agent, struct bb_doc *d)
{
	char *const argv[] = {"sudo bpfbench inside --", "sh", "-c", (char *)(uintptr_t)agent,
			      NULL};
	char *quoted = bb_is_plain_command(agent) ? NULL : bb_command_line(argv);

	bb_doc__add(d, BB_DOC_FAINT, "next",
		    "`%s%s` (which paths its programs take, and the p99 of each)",
		    quoted ? "" : "sudo bpfbench inside -- ", quoted ? quoted : agent);
	free(quoted);
}

static void add_notes(const struct shown *s, struct bb_doc *d)
{
	const struct bb_overhead *o = s->o;
	const char *agent = s->args->opts.agent.command.shell;
	bool against = s->args->opts.against.command.shell;
	double machine_s = o->figures[BB_OVERHEAD_MACHINE].base_s * o->runs_a_turn *
			   s->args->opts.requests;

	if (isfinite(o->figures[BB_OVERHEAD_CPU].ratio.lo))
		bb_doc__add(d, BB_DOC_FAINT, "interval %",
			    "of the increase; 99 %% for the two figures with a limit, 95 %% for "
			    "the others");
	if (isfinite(o->rss_bytes))
		bb_doc__add(d, BB_DOC_FAINT, "memory",
			    "%.1f MiB resident in the agent's processes, %.1f MiB in the maps of "
			    "its programs",
			    o->rss_bytes / 1048576, o->map_bytes / 1048576);
	add_lost(s, d);
	if (o->parts_turn_s > 0) {
		bb_doc__add(d, BB_DOC_FAINT, "runs",
			    "in one %s; ns/run: from further turns, with bpf_stats on, which adds "
			    "10 to 40 ns",
			    s->args->opts.requests > 1 ? "request" : "run of the workload");
		bb_doc__add(d, BB_DOC_FAINT, "adds %", "of the CPU time %s",
			    against ? "with the agent of --against" : "without the agent");
	}
	if (o->parts_turn_s > 0 && !against)
		bb_doc__add(d, BB_DOC_FAINT, "unexplained",
			    "the rest of the increase, such as the hooks around the programs; "
			    "below "
			    "0 if other processes made the programs run");
	bb_doc__add(d, BB_DOC_FAINT, "machine's CPU time",
		    "of all processes, so other load is in it; resolution %.2g %%",
		    100 / (double)sysconf(_SC_CLK_TCK) / machine_s);
	if (o->n_killed)
		bb_doc__add(d, BB_DOC_BAD, NULL,
			    "the agent ignored SIGTERM for 5 s and was killed, at %u of its %u "
			    "ends",
			    o->n_killed, o->n_starts);
	if (o->n_cleaned)
		bb_doc__add(d, BB_DOC_BAD, NULL,
			    "the agent left pins of its programs behind; they were removed, and "
			    "that unloaded %zu program%s in %u starts",
			    o->n_cleaned, bb_plural(o->n_cleaned), o->n_starts);
	if (o->n_gone)
		bb_doc__add(d, BB_DOC_BAD, NULL,
			    "programs of the agent were unloaded midway, in %u turns, '%s' among "
			    "them: the figures are of less than the whole agent",
			    o->n_gone, o->gone);
	if (o->steal > 0.02)
		bb_doc__add(d, BB_DOC_BAD, NULL,
			    "the hypervisor gave %.0f %% of the time to others", 100 * o->steal);
	if (*o->why)
		bb_doc__add(d, BB_DOC_BAD,
			    o->n_blocks < BB_OVERHEAD_LEAST_BLOCKS ? "not judged" : "inconclusive",
			    "%s", o->why);
	if (s->failed)
		bb_doc__add(d, BB_DOC_BAD, "broken off", "%s", s->failed);
	else if (*o->why)
		bb_doc__again(d, BB_DOC_FAINT, "next", s->args->line,
			      isfinite(o->advised_s)
				      ? bb_table_cell_of("--budget %.0f", o->advised_s).text
				      : "--max PERCENT",
			      NULL);
	else if (o->n_programs)
		add_inside(agent, d);
}

static void write_document(const struct shown *s, FILE *out)
{
	const struct bb_overhead *o = s->o;
	struct bb_doc d = {0};

	bb_doc__add(&d, BB_DOC_TITLE, NULL,
		    "overhead of %s: %.0f runs of the workload, with it and without by turns (%zu "
		    "block%s of 4), took %.0f s",
		    s->name, (double)o->n_runs, o->n_blocks, bb_plural(o->n_blocks), o->elapsed_s);
	add_figures(s, &d);
	add_parts(s, &d);
	add_notes(s, &d);
	bb_output_render(&d, s->args->format->is_markdown, s->args->output, out);
}

static void write_estimate(struct bb_json *w, const char *name, const struct bb_estimate *e)
{
	bb_json__open(w, name, "{");
	bb_json__add_double(w, "value", e->value);
	if (isfinite(e->lo)) {
		bb_json__add_double(w, "lower_value", e->lo);
		bb_json__add_double(w, "upper_value", e->hi);
	}
	bb_json__close(w);
}

static void write_turns(const struct bb_overhead *o, struct bb_json *w)
{
	bb_json__open(w, "turns", "[\n");
	for (size_t i = 0; i < o->n_turns; i++) {
		const struct bb_overhead_turn *t = &o->turns[i];

		bb_json__open(w, NULL, "{");
		bb_json__add_u64(w, "block", t->block);
		bb_json__add_bool(w, "with", t->is_head);
		for (int k = 0; k < BB_N_OVERHEAD; k++)
			bb_json__add_double(w, figure_slugs[k], t->s[k]);
		bb_json__add_double(w, "agent", t->agent_s);
		bb_json__close(w);
	}
	bb_json__close(w);
}

static void write_json(const struct shown *s, FILE *out)
{
	struct bb_json w = {.out = out, .indent = 1};
	const struct bb_overhead *o = s->o;

	bb_json__open(&w, NULL, "{\n");
	bb_json__add_text(&w, "format", "bpfbench-overhead");
	bb_json__add_u64(&w, "version", 1);
	bb_json__add_text(&w, "agent", s->args->opts.agent.command.shell);
	bb_json__add_text(&w, "against", s->args->opts.against.command.shell);
	bb_json__add_double(&w, "max", s->args->opts.max);
	bb_json__add_u64(&w, "seed", s->args->opts.seed);
	bb_json__add_u64(&w, "blocks", o->n_blocks);
	bb_json__add_u64(&w, "runs", o->n_runs);
	bb_json__add_double(&w, "seconds", o->elapsed_s);
	bb_json__add_text(&w, "why", *o->why ? o->why : NULL);
	bb_json__add_text(&w, "failed", s->failed);
	bb_json__open(&w, "figures", "{\n");
	for (int i = 0; i < BB_N_OVERHEAD; i++) {
		bb_json__open(&w, figure_slugs[i], "{");
		bb_json__add_double(&w, i == BB_OVERHEAD_RATE ? "base_per_s" : "base_s",
				    o->figures[i].base_s);
		bb_json__add_double(&w, i == BB_OVERHEAD_RATE ? "head_per_s" : "head_s",
				    o->figures[i].head_s);
		write_estimate(&w, "ratio", &o->figures[i].ratio);
		if (i == BB_OVERHEAD_CPU || i == BB_OVERHEAD_MACHINE)
			bb_json__add_text(&w, "verdict", verdict_name(&o->figures[i]));
		bb_json__close(&w);
	}
	bb_json__close(&w);
	bb_json__open(&w, "programs", "[\n");
	for (size_t i = 0; i < o->n_programs; i++) {
		const struct bb_overhead_program *p = &o->programs[i];

		bb_json__open(&w, NULL, "{");
		bb_json__add_text(&w, "type", bb_prog_type_name(p->program.type).text);
		bb_json__add_text(&w, "name", p->program.name);
		bb_json__add_double(&w, "runs", p->runs);
		bb_json__add_double(&w, "ns_per_run", bb_overhead__program_ns(o, p));
		bb_json__add_double(&w, "cpu_s", bb_overhead__program_s(o, p));
		bb_json__add_u64(&w, "recursion_misses", p->misses);
		bb_json__add_bool(&w, "gone", p->is_gone);
		bb_json__close(&w);
	}
	bb_json__close(&w);
	bb_json__open(&w, "ring_buffers", "[\n");
	for (size_t i = 0; i < o->n_rings; i++) {
		bb_json__open(&w, NULL, "{");
		bb_json__add_text(&w, "name", o->rings[i].name);
		bb_json__add_u64(&w, "bytes", o->rings[i].bytes);
		bb_json__add_double(&w, "peak", o->rings[i].peak);
		bb_json__close(&w);
	}
	bb_json__close(&w);
	bb_json__add_double(&w, "agent_s", o->agent_s);
	bb_json__add_double(&w, "unexplained_s", bb_overhead__unexplained_s(o));
	bb_json__add_double(&w, "rss_bytes", o->rss_bytes);
	bb_json__add_double(&w, "map_bytes", o->map_bytes);
	bb_json__add_u64(&w, "killed", o->n_killed);
	bb_json__add_u64(&w, "cleaned", o->n_cleaned);
	bb_json__add_u64(&w, "turns_with_gone_programs", o->n_gone);
	write_turns(o, &w);
	bb_json__end(&w);
}

static void write_bmf(const struct shown *s, FILE *out)
{
	struct bb_json w = {.out = out, .indent = 1};
	char name[BB_NAME_MAX_BYTES + 16];

	snprintf(name, sizeof(name), "overhead/%s", s->name);
	bb_json__open(&w, NULL, "{\n");
	bb_json__open(&w, name, "{\n");
	for (int i = 0; i < BB_N_OVERHEAD; i++) {
		snprintf(name, sizeof(name), "%s-ratio", figure_slugs[i]);
		if (isfinite(s->o->figures[i].ratio.value))
			write_estimate(&w, name, &s->o->figures[i].ratio);
	}
	bb_json__end(&w);
}

static const struct format formats[] = {
	{"table", write_document, false},
	{"markdown", write_document, true},
	{"json", write_json, false},
	{"bmf", write_bmf, false},
};

#define ARGS struct overhead_args

static void read_fail_on(const struct bb_option *, const char *text, void *never)
{
	*(bool *)never = !strcmp(text, "never");
	if (!*(bool *)never && strcmp(text, "above"))
		bb_usage_error("--fail-on takes above or never, not '%s' (inconclusive never "
			       "fails)",
			       text);
}

static const struct bb_option options[] = {
	{"agent", 0, "CMD", bb_read_once, BB_ARG(opts.agent.command.shell),
	 "the agent, a command line for sh; it runs as root and is ended by SIGTERM"},
	{"against", 0, "CMD", bb_read_once, BB_ARG(opts.against.command.shell),
	 "compare --agent with this agent, instead of with none"},
	{"ready", 0, "CMD", bb_read_text, BB_ARG(opts.agent.ready),
	 "an agent is ready when this succeeds (default: when its programs have been the same for "
	 "0.5 s)"},
	{"ready-within", 0, "S", bb_read_double, BB_ARG(opts.agent.ready_s),
	 "longest time until an agent is ready, s (default 30)", 0.1, 3600},
	{"clean", 0, NULL, bb_read_flag, BB_ARG(opts.agent.cleans),
	 "remove pins that an agent made of its programs and left behind"},
	{"max", 0, "PERCENT", bb_read_percent, BB_ARG(opts.max),
	 "largest cost that is fine, percent of the CPU time without the agent (default 3)"},
	{"budget", 0, "S", bb_read_double, BB_ARG(opts.budget_s),
	 "wall time of the measurement, s (default 60)", 1, 86400},
	{"fail-on", 0, "VERDICT", read_fail_on, BB_ARG(never_fails),
	 "verdict that gives exit code 3: above (default), or never"},
	{"env", 0, "NAME", bb_read_env, BB_ARG(env), BB_ENV_DOC},
	{"seed", 0, "N", bb_read_u64, BB_ARG(opts.seed),
	 "seed of the order of turns (default: from the clock)", 0, 0x1p63},
	{"format", 'f', "NAME", bb_read_row, BB_ARG(format),
	 "table (default), markdown, json or bmf", BB_CHOICES(formats)},
	{"output", 'o', "FILE", bb_read_text, BB_ARG(output), BB_OUTPUT_DOC},
	{0},
};

static const struct bb_option workload_options[] = {
	{"bystander", 0, "CMD", bb_read_text, BB_ARG(opts.bystander.shell),
	 "a command that the agent does not trace; runs once after each turn"},
	{"server", 0, "CMD", bb_read_text, BB_ARG(opts.server.shell),
	 "a server, started in each turn, in the foreground; its CPU time counts"},
	{"server-start", 0, "S", bb_read_double, BB_ARG(opts.server_s),
	 "time that the server has to start, s (default 0.5)", 0.01, 600},
	{"load", 0, "CMD", bb_read_text, BB_ARG(load),
	 "the workload as a command line for sh, instead of after `--`"},
	{"generator", 0, "NAME", bb_read_row, BB_ARG(opts.generator),
	 "the workload is wrk --latency, redis-benchmark --csv or pgbench: also print the latency "
	 "and the requests a second that it says",
	 BB_CHOICES(bb_load_generators)},
	{"requests", 0, "N", bb_read_u32, BB_ARG(opts.requests),
	 "requests of one run of the workload: figures are then a request (default 1)", 1, 1e9},
	{0},
};

static void check_args(void *args)
{
	struct overhead_args *a = args;
	struct bb_overhead_opts *o = &a->opts;

	bb_refuse("which agent? bpfbench overhead --agent 'CMD' -- WORKLOAD...",
		  !o->agent.command.shell);
	bb_refuse("which workload? bpfbench overhead --agent 'CMD' -- WORKLOAD...",
		  !a->command && !a->load);
	bb_refuse("--load and a workload after `--`: one of them", a->command && a->load);
	bb_refuse("--server needs --load or a workload after `--`",
		  o->server.shell && !a->command && !a->load);
	if (a->command) {
		o->workload.program = a->command[0];
		o->workload.args = (const char *const *)(uintptr_t)(a->command + 1);
		while (o->workload.args[o->workload.n_args])
			o->workload.n_args++;
	}
	o->workload.shell = a->load;
	o->workload.keeps_stdout = o->generator;
	o->agent.command.place.env = o->against.command.place.env = o->workload.place.env =
		a->env.v;
	bb_caller(&o->workload.place.uid, &o->workload.place.gid);
	o->server.noun = "server";
	o->server.when = "at its start";
	o->server.place = o->bystander.place = o->workload.place;
	o->against.ready = o->agent.ready;
	o->against.ready_s = o->agent.ready_s;
	o->against.cleans = o->agent.cleans;
}

static const struct bb_usage usage = {
	.arguments = "--agent CMD -- WORKLOAD...",
	.doc = "Run a workload in turns with and without an agent, and print the CPU time that the "
	       "agent costs: of the workload's processes, the agent's, and the whole machine.",
	.more = "The agent runs with the rights of bpfbench, the workload as the user who called "
		"sudo; both with an empty stdin, their stdout discarded. Both sides run once "
		"before, to see that they work. The exit code is 3 if the CPU time is above --max "
		"with confidence: the whole interval is above. Programs that the agent leaves "
		"loaded are named, and stay unless --clean removes its pins. Nothing is stored in "
		"results/. Needs root.",
	.example = "  sudo bpfbench overhead --agent opensnoop-bpfcc -- make -j2\n"
		   "  sudo bpfbench overhead --agent ./agent --server ./server --load ./load.sh\n",
	.sets = {{NULL, options, 0}, {"The workload:", workload_options, 0}},
	.argument = {.doc = "; the workload stands after `--`"},
	.command = BB_ARG_AT(command),
	.check = check_args,
};

static int write_shown(void *arg, FILE *out, struct bb_err *)
{
	const struct shown *s = arg;

	s->args->format->write(s, out);
	return 0;
}

int bb_cmd_overhead(int argc, char **argv, struct bb_err *err)
{
	static struct overhead_args a = {
		.opts = {.agent.ready_s = 30,
			 .max = 0.03,
			 .budget_s = 60,
			 .server_s = 0.5,
			 .requests = 1},
		.format = formats,
	};
	struct bb_overhead o = {0};
	char name[BB_NAME_MAX_BYTES + 2];
	const char *agent;
	struct shown shown = {.args = &a, .o = &o, .name = name};
	struct bb_err writing = {0};
	uint32_t any_id;

	a.opts.seed = bb_now_ns();
	a.line = bb_command_line(argv);
	bb_usage__parse(&usage, argc, argv, &a);
	agent = a.opts.agent.command.shell + strspn(a.opts.agent.command.shell, " \t");
	bb_capture_name(*agent ? agent : "agent", name, sizeof(name));
	int rc = bb_output_check(a.output, err);
	if (!rc && bb_loaded__next(0, &any_id, err) == -EPERM)
		rc = err->code;
	if (rc)
		return rc;
	bb_capture_provide_tracefs();
	rc = bb_overhead__measure(&a.opts, &o, err);
	shown.failed = rc ? err->msg : NULL;
	if ((!rc || o.n_blocks) && bb_output_of(write_shown, &shown, a.output, &writing) && !rc)
		rc = bb_fail(err, writing.code, "%s", writing.msg);
	if (!rc && !a.never_fails && bb_overhead__is_above(&o))
		rc = BB_EXIT_REGRESSION;
	bb_overhead__done(&o);
	return rc;
}
