/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/measure.h"

#include <sys/random.h>

#include "base/caller.h"
#include "base/clean.h"
#include "base/cpus.h"
#include "base/give_way.h"
#include "base/io.h"
#include "base/deadline.h"
#include "base/text.h"
#include "cli/paths.h"
#include "bpf/marks.h"
#include "export/documents.h"
#include "judge/repeats.h"
#include "run/record.h"
#include "run/selftest.h"
#include "store/store.h"

#define BAR_CELLS 24
#define CLEAR_REST "\033[K" /* clears the rest of the line */
#define REDRAW_NS 100000000u

void bb_progress_bar__update(struct bb_progress_bar *bar, double done, double total,
			     const char *what)
{
	uint64_t now_ns = bb_now_ns();
	double share = total > 0 ? fmin(done / total, 1) : 0,
	       elapsed_s = (double)(now_ns - bar->began_ns) * 1e-9;
	char cells[BAR_CELLS + 1] = "", left[32] = "";
	struct winsize size;

	if (!bar->on || now_ns - bar->drawn_ns < REDRAW_NS)
		return;
	bar->drawn_ns = now_ns;
	for (int i = 0; i < BAR_CELLS; i++)
		cells[i] = i < (int)(share * BAR_CELLS) ? '#' : '-';
	if (share > 0.02)
		snprintf(left, sizeof(left), "%.0f s left",
			 fmin(elapsed_s * (1 - share) / share, bb_deadline_left_s()));
	int columns = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || !size.ws_col ? 80 : size.ws_col;
	columns -= BAR_CELLS + 24;
	bb_clean__put_raw(stderr, "\r");
	fprintf(stderr, "[%s] %3.0f %% %-10s %.*s", cells, 100 * share, left,
		columns > 0 ? columns : 0, what);
	bb_clean__put_raw(stderr, CLEAR_REST);
}

static void update_bar(void *arg, double done, double total, const char *what)
{
	struct bb_progress_bar *bar = arg;

	if (bar->verbose && strcmp(bar->told, what)) {
		snprintf(bar->told, sizeof(bar->told), "%s", what);
		bb_progress_bar__erase(bar);
		bb_tell("measuring %s", bar->told);
	}
	bb_progress_bar__update(bar, done, total, what);
}

struct bb_progress_bar bb_progress_bar__make(bool quiet)
{
	return (struct bb_progress_bar){.on = !quiet && isatty(STDERR_FILENO),
					.began_ns = bb_now_ns()};
}

void bb_progress_bar__erase(struct bb_progress_bar *bar)
{
	if (bar->on && bar->drawn_ns)
		bb_clean__put_raw(stderr, "\r" CLEAR_REST);
	bar->drawn_ns = 0;
}

void bb_progress_bar__end(struct bb_progress_bar *bar)
{
	bb_progress_bar__erase(bar);
	bar->on = false;
}

#define ARGS struct bb_measure_args

const struct bb_option bb_measure_options[] = {
	{"allow-system-wide", 0, NULL, bb_read_flag, BB_ARG(allow_system_wide),
	 "also attach programs that send signals, write into processes or forbid things, where "
	 "every process of the machine passes (default: they are skipped)"},
	{"budget", 0, "SECONDS", bb_read_double, BB_ARG(budget_s),
	 "end after this time, loading included, and at most one run of a program later (0: no "
	 "limit); a program that is too slow for its samples has fewer, and bpfbench lists all "
	 "that it left out",
	 0, 86400, BB_ARG_AT(has_budget)},
	{"cpu", 0, "N", bb_read_u32, BB_ARG(cpu),
	 "run the programs on this CPU (default: the last one); another one polls", 0,
	 CPU_SETSIZE - 1},
	{"env", 0, "NAME", bb_read_env, BB_ARG(env),
	 "workloads, builds and captured commands keep this variable besides PATH, HOME, LANG and "
	 "TERM (repeatable)"},
	{"no-wait", 0, NULL, bb_read_flag, BB_ARG(no_wait),
	 "fail when another bpfbench measures on the CPU (default: wait for it, or without --cpu "
	 "take another CPU)"},
	{"seed", 0, "N", bb_read_u64, BB_ARG(seed),
	 "seed of every random order (default: a random one; it is stored)"},
	{0},
};

const struct bb_option bb_measure_output[] = {
	{"format", 'f', "NAME", bb_read_row, BB_ARG(format),
	 "format of stdout (default: of run table on a terminal and bmf elsewhere, of compare "
	 "its table, of gate its report)",
	 BB_CHOICES(bb_exporters)},
	{"output", 'o', "FILE", bb_read_text, BB_ARG(output),
	 "write to this file instead of stdout (-), whole or not at all"},
	{"results", 0, "DIR", bb_read_text, BB_ARG(results),
	 "store the run in this folder (default " BB_RESULTS ")"},
	{"no-store", 0, NULL, bb_read_flag, BB_ARG(no_store), "do not store the run"},
	{"quiet", 'q', NULL, bb_read_flag, BB_ARG(quiet), "no progress and no table on stderr"},
	{"verbose", 'v', NULL, bb_read_flag, BB_ARG(verbose), "print each step on stderr"},
	/* hidden options: --vm gives them to the bpfbench in each guest */
	{"in-guest", 0, NULL, bb_read_flag, BB_ARG(is_in_guest), NULL},
	{BB_MARKS_OPTION, 0, NULL, bb_read_flag, BB_ARG(marks), NULL},
	{0},
};

void bb_measure_args__init(struct bb_measure_args *a, char **argv, double budget_s)
{
	*a = (struct bb_measure_args){
		.cpu = -1,
		.budget_s = budget_s,
		.results = BB_RESULTS,
		.vm_limit_s = BB_VM_LIMIT_S,
	};
	if (getrandom(&a->seed, sizeof(a->seed), 0) < 0)
		a->seed = bb_now_ns();
	a->command = bb_command_line(argv);
}

void bb_measure__name_run(struct bb_report *r, const struct bb_measure_args *a, const char *name)
{
	char compact[32], iso[32];
	struct timespec now;
	struct tm tm;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	strftime(compact, sizeof(compact), "%Y%m%dT%H%M%SZ", &tm);
	strftime(iso, sizeof(iso), "%Y-%m-%dT%H:%M:%SZ", &tm);
	free(r->command);
	free(r->started);
	free(r->id);
	r->command = bb_strdup(a->command);
	r->started = bb_strdup(iso);
	r->id = bb_asprintf("%s-%s-%08lx", compact, name, now.tv_nsec);
}

int bb_machine_cpus(int wanted, int *ret_cpu, int *ret_poll_cpu, struct bb_err *err)
{
	const int *cpus;
	int n = bb_usable_cpus(&cpus);

	if (wanted < 0)
		wanted = cpus[n - 1];
	if (!BB_ANY(cpus, (size_t)n, *it == wanted))
		return bb_fail(err, -EINVAL,
			       "--cpu %d: there is no such CPU, or it is not allowed here "
			       "(allowed: %d to %d)",
			       wanted, cpus[0], cpus[n - 1]);
	*ret_cpu = wanted;
	*ret_poll_cpu = cpus[cpus[0] == wanted && n > 1];
	return 0;
}

/* Returns -EBUSY if another bpfbench holds the CPU. Any other failure is only printed. */
static int lock_cpu(int cpu, struct bb_cpu_holder *holder)
{
	int rc = bb_cpu_lock__take(cpu, holder);

	if (rc && rc != -EBUSY) {
		bb_tell("CPU %d cannot be locked (%s); if another bpfbench measures there, neither "
			"waits for the other",
			cpu,
			rc == -EADDRINUSE ? "a process that is not root's has the lock's name"
					  : strerror(-rc));
		rc = 0;
	}
	return rc;
}

/* If another bpfbench holds *ret_cpu and the user named no CPU, locks the highest free CPU in the
 * upper half of the allowed ones, and sets *ret_cpu and *ret_poll_cpu. Returns -EBUSY if none is
 * free. *ret_holder is then the process that holds the CPU that was tried first. */
static int lock_any(int wanted, int *ret_cpu, int *ret_poll_cpu, struct bb_cpu_holder *ret_holder)
{
	const int *cpus;
	int n = bb_usable_cpus(&cpus), rc = lock_cpu(*ret_cpu, ret_holder);

	for (int i = 1; rc == -EBUSY && wanted < 0 && i < n / 2; i++) {
		struct bb_cpu_holder other;

		rc = lock_cpu(cpus[n - 1 - i], &other);
		bb_close(&other.fd);
		if (rc)
			continue;
		*ret_cpu = cpus[n - 1 - i];
		*ret_poll_cpu = cpus[i];
	}
	if (!rc)
		bb_close(&ret_holder->fd);
	return rc;
}

int bb_machine_take_cpus(int wanted, bool no_wait, int *ret_cpu, int *ret_poll_cpu,
			 struct bb_err *err)
{
	static bool is_taken;
	static int cpu, poll_cpu;
	struct bb_cpu_holder holder;
	pid_t said = -1;
	int rc = is_taken ? 0 : bb_machine_cpus(wanted, &cpu, &poll_cpu, err);

	while (!rc && !is_taken && !geteuid()) {
		char who[300];

		rc = lock_any(wanted, &cpu, &poll_cpu, &holder);
		if (rc != -EBUSY)
			break;
		if (holder.pid)
			snprintf(who, sizeof(who), "process %d (%.*s) measures on CPU %d",
				 (int)holder.pid, (int)strcspn(basename(holder.command), " "),
				 basename(holder.command), cpu);
		else
			snprintf(who, sizeof(who),
				 "a bpfbench in another PID namespace (a container) measures on "
				 "CPU %d",
				 cpu);
		if (!no_wait && holder.pid != said)
			bb_tell("waiting: %s; --no-wait fails instead", who);
		said = holder.pid;
		rc = no_wait ? bb_fail(err, -EBUSY,
				       "%s, and two would disturb each other; without --no-wait "
				       "this one waits for it",
				       who)
			     : bb_cpu_holder__wait(&holder);
		bb_close(&holder.fd);
	}
	if (rc == -EINTR)
		return bb_fail(err, rc, "stopped by signal %d (%s) while waiting for CPU %d",
			       (int)bb_stop_signal, strsignal(bb_stop_signal), cpu);
	is_taken |= !rc;
	*ret_cpu = cpu;
	*ret_poll_cpu = poll_cpu;
	return rc;
}

int bb_measure__begin(const struct bb_measure_args *a, const char *name, bool takes_cpu,
		      struct bb_measure *ret_m, struct bb_err *err)
{
	const struct bb_paths *paths = bb_paths(err);
	struct bb_measure *m = ret_m;
	struct bb_driver_opts *driver = &m->opts.driver;

	*m = (struct bb_measure){.args = a};
	if (!paths)
		return err->code;
	if (a->is_in_guest)
		bb_map_seeds__zero();
	if (a->marks)
		bb_marks__enable();
	m->report = bb_report__new();
	int rc = bb_output_check(a->output, err);
	if (!rc)
		bb_measure__name_run(m->report, a, name);
	if (!rc)
		rc = bb_fingerprint__read("", ".", &m->report->fingerprint, err);
	if (!rc)
		m->report->seed = a->seed;
	m->opts = (struct bb_run_opts){
		.seed = a->seed,
		.budget_s = a->budget_s,
		.driver = {.seed = a->seed,
			   .workload_dir = paths->workload_dir,
			   .object_dir = paths->object_dir,
			   .allow_system_wide = a->allow_system_wide,
			   .is_exact = a->is_in_guest,
			   .env = a->env.v},
		.progress = &m->bar.callbacks,
	};
	bb_caller(&driver->uid, &driver->gid);
	if (!rc && takes_cpu)
		rc = bb_machine_take_cpus(a->cpu, a->no_wait, &driver->cpu, &driver->poll_cpu, err);
	else if (!rc)
		rc = bb_machine_cpus(a->cpu, &driver->cpu, &driver->poll_cpu, err);
	m->began_ns = bb_now_ns(); /* the budget does not include the wait for a CPU */
	if (!rc && takes_cpu) {
		int failed = bb_run_ahead_of_others();

		/* without root another message says that real-time priority is missing */
		if (failed && !geteuid())
			bb_tell("no real-time priority is granted here (%s; in a container, its "
				"cgroup may have no real-time runtime): other processes on CPU %d "
				"add to the spread",
				strerror(-failed), driver->cpu);
	}
	m->timed = !bb_cpu_times__read("", -1, &m->before, NULL);
	m->bar = bb_progress_bar__make(a->quiet);
	m->bar.callbacks = (struct bb_progress){.update = update_bar, .arg = &m->bar};
	m->bar.verbose = a->verbose;
	if (rc)
		bb_measure__end(m);
	return rc;
}

int bb_check_resolution(double threshold, const char *results, const struct bb_fingerprint *fp,
			struct bb_err *err)
{
	struct bb_fingerprint own;
	char *id = NULL;
	double floor;
	int rc = fp ? 0 : bb_fingerprint__read("", ".", &own, err);

	if (!rc)
		rc = bb_selftest__read_resolution(results, fp ? fp : &own, &floor, &id, err);
	if (rc == -ENOENT)
		return 0; /* no self-test has run here, so the resolution is unknown */
	if (!rc && threshold < floor)
		rc = bb_fail(err, -ERANGE,
			     "a threshold of %.3g %% is below the resolution of this machine, %.3g "
			     "%% by self-test %s; take a larger --threshold, or a quieter machine "
			     "and a new `bpfbench selftest`",
			     100 * threshold, 100 * floor, id);
	free(id);
	return rc;
}

/* Voids all series and pairs, so that they do not count, if the fingerprint (such as the governor)
 * changed during the run. Nobody knows which samples were taken before the change. */
static void void_if_machine_changed(struct bb_report *r)
{
	struct bb_fingerprint now;
	const char *key;
	char why[128];

	if (bb_fingerprint__read("", ".", &now, NULL) ||
	    !bb_fingerprint_differences(&r->fingerprint, &now, &key, 1))
		return;
	snprintf(why, sizeof(why), "the machine changed during the run: %s", key);
	for (size_t i = 0; i < r->n_cases; i++)
		for (size_t j = 0; j < r->cases[i].n_series; j++)
			bb_record__void(&r->cases[i].series[j], "%s", why);
	for (size_t i = 0; i < r->n_comparisons; i++)
		for (size_t j = 0; j < r->comparisons[i].n_pairs; j++)
			bb_pair_void(&r->comparisons[i].pairs[j], why);
	bb_comparisons_judge(r->comparisons, r->n_comparisons);
}

void bb_print_skips(const struct bb_report *r)
{
	for (size_t i = 0; i < r->n_skips; i++)
		bb_tell("skipped %s: %s", r->skips[i].what, r->skips[i].why);
}

/* Stores in each case how much its latency differs from one `bpfbench run` to the next on this
 * machine, according to the self-tests. */
static void note_selftests(struct bb_measure *m)
{
	struct bb_between between;
	struct bb_report *r = m->report;

	if (bb_selftest__read_between(m->args->results, &r->fingerprint, NULL, &between))
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

/* True if both descriptors are open on one file or terminal, such as the log of a CI job. */
static bool is_same_file(int a, int b)
{
	struct stat of_a, of_b;

	return !fstat(a, &of_a) && !fstat(b, &of_b) && of_a.st_dev == of_b.st_dev &&
	       of_a.st_ino == of_b.st_ino;
}

int bb_measure__deliver(struct bb_measure *m, int rc, struct bb_err *err)
{
	struct bb_report *r = m->report;
	struct bb_err more = {0};
	struct bb_cpu_times after;
	struct bb_doc table = {0};
	char *path = NULL;

	bb_progress_bar__end(&m->bar);
	int exit_code = rc ? bb_complain(err) : BB_EXIT_OK;
	r->elapsed_s = bb_seconds_since(m->began_ns);
	if (m->timed && !bb_cpu_times__read("", -1, &after, NULL))
		r->steal = bb_steal_share(&m->before, &after);
	/* In a guest this is no failure: the report has all errors, and the host does not show the
	 * guest's stderr. */
	if (m->args->is_in_guest && (r->n_skips || r->n_programs))
		rc = exit_code = 0;
	else if (!(r->n_cases || r->n_counted) || (rc && !bb_report__has_samples(r))) {
		bb_print_skips(r);
		return exit_code;
	}
	/* Widen the intervals by the differences between runs, from self-tests or from stored runs
	 * of the same program. The gate has no folder of stored runs. */
	if (!r->n_comparisons && m->args->results) {
		note_selftests(m);
		bb_repeats__note(m->args->results, r);
	}
	void_if_machine_changed(r);
	bb_report__summarise(r);
	if (!m->args->no_store && bb_store__write(m->args->results, r, &path, &more))
		exit_code = bb_complain(&more);
	else if (path && !m->args->quiet)
		bb_tell("%s stored as %s", rc ? "incomplete run" : "run", path);
	free(path);
	if (!m->args->format)
		return exit_code; /* the command prints its own output */
	bool has_table = !m->args->quiet && (rc || !m->args->format->document);
	if (has_table) {
		bb_doc_short(r, &table);
		if (bb_output_document(&table, stderr, &more))
			exit_code = bb_complain(&more);
	}
	if (has_table && !rc && !m->args->output && is_same_file(STDOUT_FILENO, STDERR_FILENO))
		fputs("\n", stderr);
	if (!rc && bb_output(r, m->args->format, m->args->output, has_table, &more))
		exit_code = bb_complain(&more);
	return exit_code;
}

int bb_measure__store_beside(const struct bb_measure *m, const char *suffix,
			     bb_output_writer writer, void *arg, char **ret_path,
			     struct bb_err *err)
{
	char *text = NULL, *name = bb_asprintf("%s.%s", m->report->id, suffix);
	size_t len = 0;
	FILE *out = bb_open_memstream(&text, &len);
	int rc = writer(arg, out, err);

	bb_close_memstream(out);
	if (!rc && len)
		rc = bb_store__write_text(m->args->results, name, text, len, false, ret_path, err);
	free(name);
	free(text);
	return rc;
}

void bb_measure__end(struct bb_measure *m)
{
	bb_progress_bar__end(&m->bar);
	bb_report__free(m->report);
	m->report = NULL;
}
