/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/measure.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/caller.h"
#include "base/clean.h"
#include "base/clock.h"
#include "base/give_way.h"
#include "cli/cmd.h"
#include "cli/formats.h"
#include "cli/machine.h"
#include "cli/options.h"
#include "cli/output.h"
#include "core/drive_kind.h"
#include "run/record.h"
#include "run/selftest_store.h"
#include "store/store.h"

#define BAR_CELLS 24
#define CLEAR_REST "\033[K" /* of the line */
#define REDRAW_NS 100000000u

static int terminal_columns(void)
{
	struct winsize size;

	return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || size.ws_col == 0 ? 80 : size.ws_col;
}

static void update_bar(void *arg, double done, double total, const char *what)
{
	struct bb_progress_bar *bar = arg;
	uint64_t now_ns = bb_now_ns();
	double share = total > 0 ? done / total : 0,
	       elapsed_s = (double)(now_ns - bar->began_ns) * 1e-9;
	int filled, columns;
	char cells[BAR_CELLS + 1], left[32] = "";

	if (!bar->on || now_ns - bar->drawn_ns < REDRAW_NS)
		return;
	bar->drawn_ns = now_ns;
	if (share > 1)
		share = 1;
	filled = (int)(share * BAR_CELLS);
	for (int i = 0; i < BAR_CELLS; i++)
		cells[i] = i < filled ? '#' : '-';
	cells[BAR_CELLS] = '\0';
	if (share > 0.02)
		snprintf(left, sizeof(left), "%.0f s left", elapsed_s * (1 - share) / share);
	columns = terminal_columns() - BAR_CELLS - 24;
	bb_clean__put_raw(stderr, "\r");
	fprintf(stderr, "[%s] %3.0f %% %-10s %.*s", cells, 100 * share, left,
		columns > 0 ? columns : 0, what);
	bb_clean__put_raw(stderr, CLEAR_REST);
}

static void begin_bar(struct bb_progress_bar *bar, bool quiet)
{
	*bar = (struct bb_progress_bar){.on = !quiet && isatty(STDERR_FILENO),
					.began_ns = bb_now_ns()};
	bar->callbacks = (struct bb_progress){.update = update_bar, .arg = bar};
}

void bb_progress_bar__end(struct bb_progress_bar *bar)
{
	if (bar->on && bar->drawn_ns)
		bb_clean__put_raw(stderr, "\r" CLEAR_REST);
	bar->on = false;
}

enum {
	KEY_NO_WAIT = 0x1f0,
	KEY_ALLOW_SYSTEM_WIDE,
	KEY_NO_STORE = 0x200,
	KEY_RESULTS,
	KEY_SEED,
	KEY_CPU,
	KEY_BUDGET,
	KEY_ENV
};

static const struct argp_option options[] = {
	{"allow-system-wide", KEY_ALLOW_SYSTEM_WIDE, NULL, 0,
	 "attach programs that send signals, write into processes or forbid what they do also "
	 "where "
	 "every process of the machine passes (default: they are skipped)",
	 2},
	{"budget", KEY_BUDGET, "SECONDS", 0,
	 "end after this time, loading included, and at most one run of a program later (0: no "
	 "limit); a program that is too slow for its samples has fewer, and bpfbench lists all "
	 "that it left out",
	 2},
	{"cpu", KEY_CPU, "N", 0,
	 "run the programs on this CPU (default: the last one); another one polls", 2},
	{"env", KEY_ENV, "NAME", 0,
	 "workloads, builds and captured commands keep this variable besides PATH, HOME, LANG and "
	 "TERM (repeatable)",
	 2},
	{"no-wait", KEY_NO_WAIT, NULL, 0,
	 "fail when another bpfbench measures on the CPU (default: take another CPU unless --cpu "
	 "is "
	 "given, or wait for it)",
	 2},
	{"seed", KEY_SEED, "N", 0,
	 "seed of every random order (default: a random one; it is stored)", 2},
	{NULL, 0, NULL, 0, "Output:", 3},
	{"format", 'f', "NAME", 0, "format of stdout", 3},
	{"output", 'o', "FILE", 0, "write to this file instead of stdout (-), whole or not at all",
	 3},
	{"results", KEY_RESULTS, "DIR", 0, "store the run in this folder (default results)", 3},
	{"no-store", KEY_NO_STORE, NULL, 0, "do not store the run", 3},
	{"quiet", 'q', NULL, 0, "no progress and no table on stderr", 3},
	{"verbose", 'v', NULL, 0, "print each step on stderr", 3},
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct bb_measure_args *a = state->input;

	switch (key) {
	case KEY_BUDGET:
		a->budget_s = bb_option_double(state, "budget", arg, 0, 86400);
		a->has_budget = true;
		break;
	case KEY_CPU: a->cpu = (int)bb_option_u32(state, "cpu", arg, 0, CPU_SETSIZE - 1); break;
	case KEY_SEED:
		a->seed = bb_option_u64(state, "seed", arg);
		a->has_seed = true;
		break;
	case KEY_ENV: bb_option_env(state, &a->env, arg); break;
	case 'f':
		a->format = bb_option_format(state, arg);
		a->has_format = true;
		break;
	case 'o': a->output = arg; break;
	case KEY_RESULTS: a->results = arg; break;
	case KEY_NO_WAIT: a->no_wait = true; break;
	case KEY_ALLOW_SYSTEM_WIDE: a->allow_system_wide = true; break;
	case KEY_NO_STORE: a->no_store = true; break;
	case 'q': a->quiet = true; break;
	case 'v': a->verbose = true; break;
	case ARGP_KEY_END:
		if (!a->has_seed && getrandom(&a->seed, sizeof(a->seed), 0) < 0)
			a->seed = bb_now_ns();
		break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

const struct argp bb_measure_argp = {.options = options, .parser = parse};

void bb_measure_args__init(struct bb_measure_args *a, const char *format, double budget_s)
{
	*a = (struct bb_measure_args){
		.cpu = -1,
		.budget_s = budget_s,
		.results = "results",
		.format = format ? bb_exporter_find(format) : NULL,
	};
}

/* As a POSIX shell reads it back (XCU 2.2.2). */
static void put_quoted(FILE *out, const char *word)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
				    "%+,-./:=@_";

	if (*word && !word[strspn(word, plain)]) {
		fputs(word, out);
		return;
	}
	putc('\'', out);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", out);
		else
			putc(*word, out);
	putc('\'', out);
}

char *bb_command_line(int argc, char **argv)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	for (int i = 0; out && i < argc; i++) {
		if (!i) { /* "bpfbench run" */
			fputs(argv[i], out);
			continue;
		}
		putc(' ', out);
		put_quoted(out, argv[i]);
	}
	return out && !fclose(out) ? text : NULL;
}

/* Who, when, where: what a report says besides its numbers. */
static int head_report(struct bb_report *r, uint64_t seed, const char *name, const char *command,
		       struct bb_err *err)
{
	char compact[32], iso[32];
	struct timespec now;
	struct tm tm;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	strftime(compact, sizeof(compact), "%Y%m%dT%H%M%SZ", &tm);
	strftime(iso, sizeof(iso), "%Y-%m-%dT%H:%M:%SZ", &tm);
	r->command = strdup(command);
	r->started = strdup(iso);
	r->seed = seed;
	if (!r->command || !r->started ||
	    asprintf(&r->id, "%s-%s-%08lx", compact, name, now.tv_nsec) < 0)
		return bb_fail_nomem(err);
	return bb_fingerprint__read("", ".", &r->fingerprint, err);
}

/* Without root there is more that is missing, and that is said elsewhere. */
static void run_ahead(int cpu)
{
	int rc = bb_run_ahead_of_others();

	if (rc && !geteuid())
		fprintf(stderr,
			"bpfbench: no real-time priority is granted here (%s; in a container, its "
			"cgroup may have no real-time runtime): other processes on CPU %d add to "
			"the spread\n",
			strerror(-rc), cpu);
}

int bb_measure__begin(const struct bb_measure_args *a, const char *name, const char *command,
		      bool takes_cpu, struct bb_measure *ret_m, struct bb_err *err)
{
	struct bb_measure *m = ret_m;
	int rc;

	*m = (struct bb_measure){.args = a, .report = bb_report__new()};
	rc = m->report ? bb_paths__find(&m->paths, err) : bb_fail_nomem(err);
	if (!rc)
		rc = bb_output_check(a->output, err);
	if (!rc)
		rc = head_report(m->report, a->seed, name, command, err);
	m->opts = (struct bb_run_opts){
		.seed = a->seed,
		.budget_s = a->budget_s,
		.driver = {.seed = a->seed,
			   .workload_dir = m->paths.workload_dir,
			   .object_dir = m->paths.object_dir,
			   .allow_system_wide = a->allow_system_wide},
	};
	if (!rc)
		rc = takes_cpu ? bb_machine_take_cpus(a->cpu, a->no_wait, &m->opts.driver.cpu,
						      &m->opts.driver.poll_cpu, err)
			       : bb_machine_cpus(a->cpu, &m->opts.driver.cpu,
						 &m->opts.driver.poll_cpu, err);
	m->began_ns = bb_now_ns(); /* the wait is no part of the budget */
	bb_caller(&m->opts.driver.uid, &m->opts.driver.gid);
	m->opts.driver.env = a->env.v;
	if (!rc && takes_cpu)
		run_ahead(m->opts.driver.cpu);
	m->timed = !bb_cpu_times__read(-1, &m->before, NULL);
	begin_bar(&m->bar, a->quiet || rc);
	m->opts.progress = &m->bar.callbacks;
	if (rc)
		bb_measure__end(m);
	return rc;
}

/* A kernel, governor or JIT setting that changed meanwhile: which of the samples are from before,
 * nobody knows. */
static int void_if_machine_changed(struct bb_report *r)
{
	struct bb_fingerprint now;
	const char *key;
	char why[128];

	if (bb_fingerprint__read("", ".", &now, NULL))
		return 0;
	if (!bb_fingerprint_differences(&r->fingerprint, &now, &key, 1))
		return 0;
	snprintf(why, sizeof(why), "the machine changed during the run: %s", key);
	for (size_t i = 0; i < r->n_cases; i++)
		for (size_t j = 0; j < r->cases[i].n_series; j++)
			if (bb_record__void(&r->cases[i].series[j], "%s", why))
				return -ENOMEM;
	for (size_t i = 0; i < r->n_comparisons; i++)
		for (size_t j = 0; j < r->comparisons[i].n_pairs; j++)
			if (bb_pair_void(&r->comparisons[i].pairs[j], why))
				return -ENOMEM;
	return bb_comparisons_judge(r->comparisons, r->n_comparisons);
}

static void print_skips(const struct bb_report *r)
{
	for (size_t i = 0; i < r->n_skips; i++)
		fprintf(stderr, "bpfbench: skipped %s: %s\n", r->skips[i].what, r->skips[i].why);
}

/* Store the run and say where. Returns the exit code so far. */
static int store(struct bb_measure *m, int rc, int exit_code)
{
	struct bb_err err = {0};
	char *path = NULL;

	if (m->args->no_store)
		return exit_code;
	if (bb_store__write(m->args->results, m->report, &path, &err))
		exit_code = bb_complain(&err);
	else if (!m->args->quiet)
		fprintf(stderr, "bpfbench: %s stored as %s\n", rc ? "incomplete run" : "run", path);
	free(path);
	return exit_code;
}

/* What moves between plain runs of this machine, by its self-tests, for the intervals. */
static void note_between(struct bb_measure *m)
{
	struct bb_between between;
	struct bb_report *r = m->report;

	if (r->n_comparisons ||
	    bb_selftest__read_between(m->args->results, &r->fingerprint, NULL, &between, NULL))
		return;
	for (size_t i = 0; i < r->n_cases; i++) {
		const struct bb_drive_kind *kind = bb_drive_kind_named(r->cases[i].drive);
		struct bb_case *c = &r->cases[i];
		const struct bb_pooled_spread
			*of = between.of[bb_repeat_class_of(r, c)],
			*floor = between.of[c->emptied ? BB_REPEAT_EMPTY_COLD : BB_REPEAT_EMPTY];
		double df = of[BB_REPEAT_LATENCY].df;

		if (!kind->needs_bpf || kind->seconds > 0 || c->is_live)
			continue;
		c->between = of[BB_REPEAT_LATENCY].half_width;
		c->between_relative = of[BB_REPEAT_RELATIVE].half_width;
		if (of != floor) {
			c->between_floor = floor[BB_REPEAT_LATENCY].half_width;
			df = fmin(df, floor[BB_REPEAT_LATENCY].df);
		}
		c->between_runs = isnan(df) ? 0 : (uint32_t)df + 1;
	}
}

int bb_measure__deliver(struct bb_measure *m, int rc, struct bb_err *err)
{
	struct bb_report *r = m->report;
	struct bb_err more = {0};
	struct bb_cpu_times after;
	int exit_code;

	bb_progress_bar__end(&m->bar);
	exit_code = rc ? bb_complain(err) : BB_EXIT_OK;
	r->elapsed_s = bb_seconds_since(m->began_ns);
	if (m->timed && !bb_cpu_times__read(-1, &after, NULL))
		r->steal = bb_steal_share(&m->before, &after);
	if (!(r->n_cases || r->n_counted) || (rc && !bb_report__has_samples(r))) {
		print_skips(r);
		return exit_code;
	}
	note_between(m);
	if (void_if_machine_changed(r) || bb_report__summarise(r)) {
		bb_fail_nomem(&more);
		return bb_complain(&more);
	}
	exit_code = store(m, rc, exit_code);
	if (!m->args->format)
		return exit_code; /* the command prints something of its own */
	if (!m->args->quiet && (rc || strcmp(m->args->format->name, "table")) &&
	    bb_export_table(r, stderr, &more))
		exit_code = bb_complain(&more);
	if (!rc && bb_output(r, m->args->format, m->args->output, &more))
		exit_code = bb_complain(&more);
	return exit_code;
}

void bb_measure__end(struct bb_measure *m)
{
	bb_progress_bar__end(&m->bar);
	bb_report__free(m->report);
	bb_paths__done(&m->paths);
	m->report = NULL;
}
