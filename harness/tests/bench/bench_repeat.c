/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How well do plain runs repeat? Each job below is run 20 times by ./bpfbench as a user calls it.
 * The table has the spread of its figures (max/min - 1), and the number of the 20 intervals that
 * contain the mean of all 20 figures. For contrast it has the spread of run_time_ns / run_cnt of
 * the same runs, and of two tools that measure a new load of the same program after each run:
 * `bpftool prog run repeat N`, and the mean as Go's testing.B takes it.
 *
 * The self-test runs first, on the equally busy machine.
 *
 * Environment: REPEATS (20), PROGRAMS (names of jobs; all), BUSY (1: two processes keep every CPU
 * busy, one of them with memory accesses).
 */
#include <errno.h>

#include "hogs.h"
#include "other_tools.h"

#define MOST_TRIES 5u /* attempts of a run, if it is void */
#define MOST_REPEATS 200u
#define OTHER_REPEAT 200000u /* takes 0.1 s, like the other tools */

/* A figure of a job: the `metric` of the case that the CSV calls `benchmark`. */
struct figure {
	const char *what, *benchmark, *metric;
	double bound, bound_busy; /* bound of the spread; 0: none */
};

#define MOST_FIGURES 5

struct job {
	const char *name, *args;
	/* the program for the other tools; NULL: it has no test run */
	const char *object, *program;
	struct figure figures[MOST_FIGURES];
};

#define XDPFILT "/usr/lib/x86_64-linux-gnu/bpf/xdpfilt_alw_all.o"

static const struct job jobs[] = {
	{"loop",
	 "--object $O/tests/bpf/loop.bpf.o",
	 "$O/tests/bpf/loop.bpf.o",
	 "loop",
	 {{"loop, step", "loop/loop/step", "latency", 0.015, 0.03},
	  {"loop, slope", "loop/loop/slope", "latency", 0.015, 0.03},
	  {"loop, slope, relative", "loop/loop/slope", "relative", 0, 0},
	  {"loop, run_time_ns / run_cnt", "loop/loop/step", "naive_mean", 0, 0}}},
	{"xdpfilt",
	 "--object " XDPFILT " --drive step",
	 XDPFILT,
	 "xdpfilt_alw_all",
	 {{"xdpfilt_alw_all, step", "xdpfilt_alw_all/xdpfilt_alw_all/step", "latency", 0.02, 0.04},
	  {"xdpfilt_alw_all, step, relative", "xdpfilt_alw_all/xdpfilt_alw_all/step", "relative", 0,
	   0},
	  {"xdpfilt_alw_all, run_time_ns / run_cnt", "xdpfilt_alw_all/xdpfilt_alw_all/step",
	   "naive_mean", 0, 0}}},
	{"perf_profiler",
	 "--scenario perf_profiler --drive step --variant ringbuf_nowakeup --variant ringbuf",
	 NULL,
	 NULL,
	 {{"ringbuf_nowakeup, step", "perf_profiler/ringbuf_nowakeup/step/stack_depth=32",
	   "latency", 0, 0},
	  {"ringbuf_nowakeup, step, relative", "perf_profiler/ringbuf_nowakeup/step/stack_depth=32",
	   "relative", 0.02, 0.04},
	  {"ringbuf, step", "perf_profiler/ringbuf/step/stack_depth=32", "latency", 0, 0},
	  {"ringbuf, step, relative", "perf_profiler/ringbuf/step/stack_depth=32", "relative", 0,
	   0},
	  {"ringbuf_nowakeup, run_time_ns / run_cnt",
	   "perf_profiler/ringbuf_nowakeup/step/stack_depth=32", "naive_mean", 0, 0}}},
	{"cold",
	 "--scenario perf_profiler --cold --drive step-cold --variant ringbuf_nowakeup",
	 NULL,
	 NULL,
	 {{"empty, step-cold", "perf_profiler/empty/step-cold/stack_depth=32", "latency", 0.15,
	   0.25},
	  {"ringbuf_nowakeup, step-cold", "perf_profiler/ringbuf_nowakeup/step-cold/stack_depth=32",
	   "latency", 0.15, 0.25}}},
};

struct repeats {
	const struct job *job;
	const char *scratch;
	size_t n;
	double value[MOST_FIGURES][MOST_REPEATS], lo[MOST_FIGURES][MOST_REPEATS],
		hi[MOST_FIGURES][MOST_REPEATS];
	double bpftool_ns[MOST_REPEATS], go_ns[MOST_REPEATS];
	struct bb_variant_spec variant;
	struct bb_test_prog prog;
	struct bb_rng rng;
};

/* Returns the next comma-separated field of *at. Fields with commas in them do not occur. */
static char *field(char **at)
{
	char *f = strsep(at, ",\n");

	return f ? f : (char *)(uintptr_t) "";
}

static double number(const char *text)
{
	return *text ? strtod(text, NULL) : (double)NAN;
}

/* Reads a row of the CSV:
 * benchmark,scenario,variant,drive,parameter,parameter_value,metric,unit,value,lower,upper,... */
static void take_row(struct repeats *r, size_t i, char *line)
{
	char *at = line, *benchmark = field(&at), *metric;

	for (int skipped = 0; skipped < 5; skipped++)
		field(&at);
	metric = field(&at);
	field(&at);
	for (size_t k = 0; k < MOST_FIGURES && r->job->figures[k].what; k++) {
		const struct figure *f = &r->job->figures[k];
		char *rest = at;

		if (strcmp(f->benchmark, benchmark) || strcmp(f->metric, metric))
			continue;
		r->value[k][i] = number(field(&rest));
		r->lo[k][i] = number(field(&rest));
		r->hi[k][i] = number(field(&rest));
	}
}

/* False: a figure is missing, for example because another process had bpf_stats on. */
static bool run_bpfbench(struct repeats *r, size_t i)
{
	char command[1024], *line = NULL;
	size_t size = 0;
	FILE *out;

	snprintf(command, sizeof(command),
		 "exec ./bpfbench %s --format csv --no-store --quiet --results %s", r->job->args,
		 r->scratch);
	out = popen(command, "r");
	if (!out) {
		perror("popen");
		exit(1);
	}
	for (size_t k = 0; k < MOST_FIGURES; k++)
		r->value[k][i] = NAN;
	while (getline(&line, &size, out) > 0)
		take_row(r, i, line);
	free(line);
	if (pclose(out)) {
		fprintf(stderr, "it failed: %s\n", command);
		return false;
	}
	for (size_t k = 0; k < MOST_FIGURES && r->job->figures[k].what; k++)
		if (isnan(r->value[k][i])) {
			fprintf(stderr, "no %s of %s from: %s\n", r->job->figures[k].metric,
				r->job->figures[k].benchmark, command);
			return false;
		}
	return true;
}

static void repeat_bpfbench(struct repeats *r, size_t i)
{
	for (unsigned int n = 1; !run_bpfbench(r, i); n++) {
		if (n == MOST_TRIES)
			exit(1);
		fprintf(stderr, "run %zu once more\n", i + 1);
	}
}

static void run_others(struct repeats *r, size_t i, const char *packet_path)
{
	struct bb_err err = {0};

	if (!r->job->program)
		return;
	if (bb_test_prog__load(&r->prog, &r->rng, BB_ANYWHERE, 1, &err))
		bench_die(r->job->program, &err);
	r->bpftool_ns[i] = other_bpftool_ns(r->prog.target->prog_fd, packet_path, OTHER_REPEAT);
	r->go_ns[i] = other_go_ns(r->prog.target->prog_fd);
}

static double spread_of(const double *x, size_t n)
{
	double least = INFINITY, most = -INFINITY;

	for (size_t i = 0; i < n; i++) {
		least = fmin(least, x[i]);
		most = fmax(most, x[i]);
	}
	return most / least - 1;
}

static void say(const char *what, const double *x, size_t n, double bound)
{
	double spread = spread_of(x, n), least = INFINITY;
	char measured[128], limit[32] = "";

	for (size_t i = 0; i < n; i++)
		least = fmin(least, x[i]);
	snprintf(measured, sizeof(measured), "%.2f %% (%.4g to %.4g)", 100 * spread, least,
		 least * (1 + spread));
	if (bound > 0)
		snprintf(limit, sizeof(limit), "<= %g %%", 100 * bound);
	bench_row(what, limit, measured, !(bound > 0) ? "-" : spread <= bound ? "ok" : "MISS");
}

/* Prints how many of the intervals contain the mean of all figures. */
static void say_coverage(const struct repeats *r, size_t k)
{
	double sum = 0;
	size_t held = 0, with = 0;
	char what[128], measured[64], bound[32];

	for (size_t i = 0; i < r->n; i++)
		sum += r->value[k][i];
	for (size_t i = 0; i < r->n; i++) {
		with += isnan(r->lo[k][i]) ? 0 : 1;
		held += r->lo[k][i] <= sum / (double)r->n && sum / (double)r->n <= r->hi[k][i];
	}
	if (!with)
		return;
	snprintf(what, sizeof(what), "%s: intervals that hold the mean", r->job->figures[k].what);
	snprintf(bound, sizeof(bound), ">= %zu of %zu", (9 * r->n + 9) / 10, r->n);
	snprintf(measured, sizeof(measured), "%zu", held);
	bench_judge(what, bound, measured, 10 * held >= 9 * r->n);
}

static void run_job(struct repeats *r, const char *packet_path, bool busy)
{
	char what[128], path[512];
	struct bb_err err = {0};
	const char *build = getenv("O"), *object = r->job->object;

	if (object) {
		snprintf(path, sizeof(path), "%s%s",
			 strncmp(object, "$O", 2) ? "" : (build ? build : "build"),
			 strncmp(object, "$O", 2) ? object : object + 2);
		r->variant =
			(struct bb_variant_spec){.name = (char *)(uintptr_t)r->job->program,
						 .program = (char *)(uintptr_t)r->job->program};
		if (access(path, R_OK)) {
			bench_row(r->job->name, "", "no such object: it needs xdp-tools", "skip");
			return;
		}
		if (bb_test_prog__open(&r->variant, path, &r->prog, &err))
			bench_die(path, &err);
	}
	for (size_t i = 0; i < r->n; i++) {
		repeat_bpfbench(r, i);
		run_others(r, i, packet_path);
	}
	for (size_t k = 0; k < MOST_FIGURES && r->job->figures[k].what; k++) {
		const struct figure *f = &r->job->figures[k];

		say(f->what, r->value[k], r->n, busy ? f->bound_busy : f->bound);
		say_coverage(r, k);
	}
	if (!r->job->program)
		return;
	snprintf(what, sizeof(what), "%s, bpftool prog run", r->job->program);
	say(what, r->bpftool_ns, r->n, 0);
	snprintf(what, sizeof(what), "%s, a mean as Go's testing.B", r->job->program);
	say(what, r->go_ns, r->n, 0);
	bb_test_prog__close(&r->prog);
}

static bool is_wanted(const char *name)
{
	const char *wanted = getenv("PROGRAMS"), *at = wanted;
	size_t len = strlen(name);

	for (; at && *at; at += strcspn(at, " "), at += strspn(at, " "))
		if (strcspn(at, " ") == len && !strncmp(at, name, len))
			return true;
	return !wanted || !*wanted;
}

int main(int argc, char **argv)
{
	const char *repeats = getenv("REPEATS"), *busy = getenv("BUSY");
	struct repeats *r = bench_alloc(1, sizeof(*r));
	bool is_busy = busy && *busy && strcmp(busy, "0");
	struct hogs hogs = {.n = 0};
	char packet_path[512];

	r->n = repeats && *repeats ? strtoul(repeats, NULL, 10) : 20;
	if (r->n < 2 || r->n > MOST_REPEATS) {
		fprintf(stderr, "REPEATS takes 2 to %u\n", MOST_REPEATS);
		return 1;
	}
	setenv("O", "build", 0);
	bb_rng_seed(&r->rng, BENCH_SEED);
	other_packet_path(argc > 1 ? argv[1] : "/tmp", packet_path, sizeof(packet_path));
	r->scratch = argc > 1 ? argv[1] : "/tmp";
	if (is_busy)
		hogs = start_hogs();
	bench_selftest(r->scratch);
	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		r->job = &jobs[i];
		if (is_wanted(r->job->name))
			run_job(r, packet_path, is_busy);
	}
	stop_hogs(&hogs);
	free(r);
	return 0;
}
