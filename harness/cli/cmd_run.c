/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/stop.h"
#include "cli/cmd.h"
#include "cli/machine.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/paths.h"
#include "cli/progress.h"
#include "env/steal.h"
#include "plan/plan.h"
#include "report/store.h"
#include "run/runner.h"

struct run_args {
	struct bb_strings scenarios, variants, drives;
	uint32_t samples, loads;
	double budget_s;
	int cpu;		/* -1: the last one allowed */
	bool has_seed;
	uint64_t seed;
	const struct bb_exporter *format;
	const char *output, *results;
	bool no_store, dry_run, quiet, verbose;
};

#define DEFAULT_BUDGET_S 18.0

enum { KEY_DRY_RUN = 0x100, KEY_NO_STORE, KEY_RESULTS, KEY_SEED, KEY_CPU, KEY_BUDGET, KEY_LOADS };

static const struct argp_option options[] = {
	{NULL, 0, NULL, 0, "What to measure:", 1},
	{"scenario", 's', "NAME", 0, "scenario to run, by name or path of a .yml file (repeatable)", 1},
	{"variant", 'V', "NAME", 0, "only this variant, and the floor (repeatable)", 1},
	{"drive", 'd', "NAME", 0, "only this drive: step, in-situ, ... (repeatable)", 1},
	{NULL, 0, NULL, 0, "How:", 2},
	{"samples", 'n', "N", 0, "samples of each case, all loads together (default 6000; in-situ goes by time)", 2},
	{"loads", KEY_LOADS, "N", 0, "program loads (default 12): each is one replication, placed anew by the JIT", 2},
	{"budget", KEY_BUDGET, "SECONDS", 0, "start no round of loads that would end later than this (default 18; 0: no limit)", 2},
	{"cpu", KEY_CPU, "N", 0, "run the programs on this CPU (default: the last one); another one polls", 2},
	{"seed", KEY_SEED, "N", 0, "seed of every random order (default: random, and stored)", 2},
	{"dry-run", KEY_DRY_RUN, NULL, 0, "print the plan; load and measure nothing", 2},
	{NULL, 0, NULL, 0, "What comes out:", 3},
	{"format", 'f', "NAME", 0, "format of stdout (default bmf)", 3},
	{"output", 'o', "FILE", 0, "write there instead of stdout, whole or not at all", 3},
	{"results", KEY_RESULTS, "DIR", 0, "store the run there (default results)", 3},
	{"no-store", KEY_NO_STORE, NULL, 0, "do not store the run", 3},
	{"quiet", 'q', NULL, 0, "no progress and no table on stderr", 3},
	{"verbose", 'v', NULL, 0, "say what is being done", 3},
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct run_args *a = state->input;

	switch (key) {
	case 's': bb_strings_add(&a->scenarios, arg, state); break;
	case 'V': bb_strings_add(&a->variants, arg, state); break;
	case 'd': bb_strings_add(&a->drives, arg, state); break;
	case 'n': a->samples = bb_option_u32(state, "samples", arg, 1, 100000000); break;
	case KEY_LOADS: a->loads = bb_option_u32(state, "loads", arg, 1, 10000); break;
	case KEY_BUDGET: a->budget_s = bb_option_double(state, "budget", arg, 0, 86400); break;
	case KEY_CPU: a->cpu = (int)bb_option_u32(state, "cpu", arg, 0, CPU_SETSIZE - 1); break;
	case KEY_SEED: a->seed = bb_option_u64(state, "seed", arg); a->has_seed = true; break;
	case KEY_DRY_RUN: a->dry_run = true; break;
	case 'f': a->format = bb_option_format(state, arg); break;
	case 'o': a->output = arg; break;
	case KEY_RESULTS: a->results = arg; break;
	case KEY_NO_STORE: a->no_store = true; break;
	case 'q': a->quiet = true; break;
	case 'v': a->verbose = true; break;
	case ARGP_KEY_ARG: bb_usage_error(state, "'%s' is no option; a scenario is named by --scenario %s", arg, arg);
	case ARGP_KEY_END:
		if (!a->scenarios.n)
			bb_usage_error(state, "which scenario? --scenario NAME; `bpfbench list` shows them");
		break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.doc = "Measure what one run of each variant of a BPF program costs.\v"
	       "BMF goes to stdout and nothing else does; the table for people goes to stderr, the run with all its samples "
	       "into results/. Needs root.",
	.help_filter = bb_help_formats,
};

static void print_plan(const struct bb_plan *plan, FILE *out)
{
	fprintf(out, "%s: %zu cases, %u loads each\n", plan->scenario->name, plan->n_cells, plan->loads);
	for (size_t i = 0; i < plan->n_cells; i++) {
		const struct bb_cell *c = &plan->cells[i];

		fprintf(out, "  %-52s ", c->name);
		if (c->seconds > 0)
			fprintf(out, "%g s", c->seconds);
		else
			fprintf(out, "%u samples", c->samples);
		fprintf(out, ", program %s%s\n", c->variant->program,
			c->floor == BB_NO_CELL ? (plan->scenario->floor ? ", the floor" : "") : "");
	}
}

static char *join_command(int argc, char **argv)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	for (int i = 0; out && i < argc; i++)
		fprintf(out, "%s%s", i ? " " : "", argv[i]);
	return out && !fclose(out) ? text : NULL;
}

/* Who, when, where: what a report says besides its numbers. */
static int head_report(struct bb_report *r, const struct run_args *a, const char *scenario, char *command,
		       struct bb_err *err)
{
	time_t now = time(NULL);
	char compact[32], iso[32];
	uint32_t tag = 0;
	struct tm tm;

	gmtime_r(&now, &tm);
	strftime(compact, sizeof(compact), "%Y%m%dT%H%M%SZ", &tm);
	strftime(iso, sizeof(iso), "%Y-%m-%dT%H:%M:%SZ", &tm);
	if (getrandom(&tag, sizeof(tag), GRND_NONBLOCK) < 0)
		tag = (uint32_t)bb_now_ns();
	r->command = command;
	r->started = strdup(iso);
	r->seed = a->seed;
	if (!r->command || !r->started ||
	    asprintf(&r->id, "%s-%s-%08x", compact, a->scenarios.n == 1 ? scenario : "several", tag) < 0)
		return bb_fail_nomem(err);
	return bb_fingerprint__read(&r->fingerprint, err);
}

/* All scenarios are read and planned before the first is measured: a typo in the last one costs nothing. */
static int plan_all(const struct run_args *a, const struct bb_paths *paths, struct bb_scenario **scenarios,
		    struct bb_plan *plans, struct bb_err *err)
{
	struct bb_plan_opts opts = {
		.variants = a->variants.v, .n_variants = a->variants.n,
		.drives = a->drives.v, .n_drives = a->drives.n,
		.samples = a->samples, .loads = a->loads,
	};
	int rc = 0;

	for (size_t i = 0; !rc && i < a->scenarios.n; i++) {
		rc = bb_scenario_find(paths, a->scenarios.v[i], &scenarios[i], err);
		if (!rc)
			rc = bb_plan__make(scenarios[i], &opts, &plans[i], err);
	}
	return rc;
}

static int measure_all(const struct run_args *a, const struct bb_paths *paths, const struct bb_plan *plans,
		       struct bb_report *report, struct bb_err *err)
{
	struct bb_progress_bar bar;
	struct bb_run_opts opts = {
		.object_dir = paths->object_dir,
		.seed = a->seed,
		.budget_s = a->budget_s,
		.driver = {.seed = a->seed, .workload_dir = paths->workload_dir},
	};
	int rc = bb_machine_cpus(a->cpu, &opts.driver.cpu, &opts.driver.poll_cpu, err), unsupported = 0;

	bb_caller(&opts.driver.uid, &opts.driver.gid);
	bb_progress_bar__begin(&bar, a->quiet);
	opts.progress = &bar.callbacks;
	for (size_t i = 0; !rc && i < a->scenarios.n; i++) {
		if (a->verbose)
			fprintf(stderr, "bpfbench: %s: %zu cases on CPU %d, polled from CPU %d, seed %llu\n",
				plans[i].scenario->name, plans[i].n_cells, opts.driver.cpu, opts.driver.poll_cpu,
				(unsigned long long)a->seed);
		rc = bb_run_plan(&plans[i], &opts, report, err);
		if (rc == -ENOTSUP) {	/* said by name in the skips; the other scenarios may do better */
			unsupported++;
			rc = 0;
		}
	}
	bb_progress_bar__end(&bar);
	if (!rc && unsupported && !report->n_cases)
		rc = err->code;		/* the message of the last one stands */
	return rc;
}

/* Store and print what there is. `rc` is how measuring ended; returns the exit code. */
static int deliver(const struct run_args *a, struct bb_report *report, int rc, struct bb_err *err)
{
	struct bb_err more = {0};
	char *path = NULL;
	uid_t uid;
	gid_t gid;
	int exit_code = rc ? bb_complain(err) : BB_EXIT_OK;

	if (!report->n_cases) {
		for (size_t i = 0; i < report->n_skips; i++)
			fprintf(stderr, "bpfbench: skipped %s: %s\n", report->skips[i].what, report->skips[i].why);
		return exit_code;
	}
	if (bb_report__summarise(report)) {
		bb_fail_nomem(&more);
		return bb_complain(&more);
	}
	bb_caller(&uid, &gid);
	if (!a->no_store) {
		if (bb_store__write(a->results, report, uid, gid, &path, &more))
			exit_code = bb_complain(&more);
		else if (!a->quiet)
			fprintf(stderr, "bpfbench: %s stored as %s\n", rc ? "incomplete run" : "run", path);
		free(path);
	}
	if (!a->quiet && strcmp(a->format->name, "table")) {
		if (bb_export_table(report, stderr, &more))
			exit_code = bb_complain(&more);
	}
	if (rc)
		return exit_code;
	if (bb_output(report, a->format, a->output, &more))
		exit_code = bb_complain(&more);
	return exit_code;
}

static int run_all(const struct run_args *a, const struct bb_paths *paths, struct bb_scenario **scenarios,
		   struct bb_plan *plans, char *command, struct bb_err *err)
{
	struct bb_report *report = bb_report__new();
	struct bb_cpu_times before, after;
	uint64_t began_ns = bb_now_ns();
	int rc = report ? 0 : bb_fail_nomem(err), exit_code;
	bool timed = !bb_cpu_times__read(-1, &before, NULL);

	if (!rc)
		rc = head_report(report, a, scenarios[0]->name, command, err);
	if (!rc)
		rc = measure_all(a, paths, plans, report, err);
	if (!report)
		return bb_complain(err);
	report->elapsed_s = bb_seconds_since(began_ns);
	if (timed && !bb_cpu_times__read(-1, &after, NULL))
		report->steal = bb_steal_share(&before, &after);
	exit_code = deliver(a, report, rc, err);
	bb_report__free(report);
	return exit_code;
}

int bb_cmd_run(int argc, char **argv)
{
	struct run_args a = {.cpu = -1, .budget_s = DEFAULT_BUDGET_S, .results = "results", .format = bb_exporter_find("bmf")};
	char *command = join_command(argc, argv);
	struct bb_scenario **scenarios;
	struct bb_paths paths = {0};
	struct bb_err err = {0};
	struct bb_plan *plans;
	int rc, exit_code;

	argp_parse(&argp, argc, argv, 0, NULL, &a);
	if (!a.has_seed && getrandom(&a.seed, sizeof(a.seed), 0) < 0)
		a.seed = bb_now_ns();
	scenarios = calloc(a.scenarios.n, sizeof(*scenarios));
	plans = calloc(a.scenarios.n, sizeof(*plans));
	rc = scenarios && plans ? bb_paths__find(&paths, &err) : bb_fail_nomem(&err);
	if (!rc)
		rc = plan_all(&a, &paths, scenarios, plans, &err);
	if (!rc)
		rc = bb_output_check(a.output, &err);
	if (rc) {
		exit_code = bb_complain(&err);
	} else if (a.dry_run) {
		for (size_t i = 0; i < a.scenarios.n; i++)
			print_plan(&plans[i], stdout);
		exit_code = BB_EXIT_OK;
	} else {
		exit_code = run_all(&a, &paths, scenarios, plans, command, &err);
		command = NULL;		/* the report's */
	}
	for (size_t i = 0; plans && scenarios && i < a.scenarios.n; i++) {
		bb_plan__done(&plans[i]);
		bb_scenario__free(scenarios[i]);
	}
	free(plans);
	free(scenarios);
	free(command);
	free(a.scenarios.v);
	free(a.variants.v);
	free(a.drives.v);
	bb_paths__done(&paths);
	return exit_code;
}
