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

#include "base/text.h"
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

#define AT(member) offsetof(struct bb_measure_args, member)
#define TO(member) .at = AT(member)

const struct bb_option bb_measure_options[] = {
	{"allow-system-wide", 0, NULL,
	 "also attach programs that send signals, write into processes or forbid things, where "
	 "every process of the machine passes (default: they are skipped)",
	 bb_read_flag, TO(allow_system_wide)},
	{"budget", 0, "SECONDS",
	 "end after this time, loading included, and at most one run of a program later (0: no "
	 "limit); a program that is too slow for its samples has fewer, and bpfbench lists all "
	 "that it left out",
	 bb_read_double, TO(budget_s), 0, 86400, AT(has_budget)},
	{"cpu", 0, "N", "run the programs on this CPU (default: the last one); another one polls",
	 bb_read_u32, TO(cpu), 0, CPU_SETSIZE - 1},
	{"env", 0, "NAME",
	 "workloads, builds and captured commands keep this variable besides PATH, HOME, LANG and "
	 "TERM (repeatable)",
	 bb_read_env, TO(env)},
	{"no-wait", 0, NULL,
	 "fail when another bpfbench measures on the CPU (default: wait for it, or without --cpu "
	 "take another CPU)",
	 bb_read_flag, TO(no_wait)},
	{"seed", 0, "N", "seed of every random order (default: a random one; it is stored)",
	 bb_read_u64, TO(seed)},
	{0},
};

const struct bb_option bb_measure_output[] = {
	{"format", 'f', "NAME", "format of stdout", bb_read_format, TO(format),
	 .given = AT(has_format)},
	{"output", 'o', "FILE", "write to this file instead of stdout (-), whole or not at all",
	 bb_read_text, TO(output)},
	{"results", 0, "DIR", "store the run in this folder (default " BB_RESULTS ")", bb_read_text,
	 TO(results)},
	{"no-store", 0, NULL, "do not store the run", bb_read_flag, TO(no_store)},
	{"quiet", 'q', NULL, "no progress and no table on stderr", bb_read_flag, TO(quiet)},
	{"verbose", 'v', NULL, "print each step on stderr", bb_read_flag, TO(verbose)},
	{0},
};

void bb_measure_args__init(struct bb_measure_args *a, const char *format, double budget_s)
{
	*a = (struct bb_measure_args){
		.cpu = -1,
		.budget_s = budget_s,
		.results = BB_RESULTS,
		.format = format ? bb_exporter_find(format) : NULL,
	};
	if (getrandom(&a->seed, sizeof(a->seed), 0) < 0)
		a->seed = bb_now_ns();
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
		bb_put_shell_word(out, argv[i]);
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
	m->timed = !bb_cpu_times__read("", -1, &m->before, NULL);
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

void bb_print_skips(const struct bb_report *r)
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
	bool has_table;
	int exit_code;

	bb_progress_bar__end(&m->bar);
	exit_code = rc ? bb_complain(err) : BB_EXIT_OK;
	r->elapsed_s = bb_seconds_since(m->began_ns);
	if (m->timed && !bb_cpu_times__read("", -1, &after, NULL))
		r->steal = bb_steal_share(&m->before, &after);
	if (!(r->n_cases || r->n_counted) || (rc && !bb_report__has_samples(r))) {
		bb_print_skips(r);
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
	has_table = !m->args->quiet && (rc || !m->args->format->document);
	if (has_table && bb_output_table(r, stderr, &more))
		exit_code = bb_complain(&more);
	if (!rc && bb_output(r, m->args->format, m->args->output, has_table, &more))
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
