/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tracked branch: plain runs of one unchanged tree on a machine that is loaded at random.
 * How many changes does `history` mark (none is right), how many of 20 real steps of some +3 % does
 * it mark within three runs, and how many alerts would Bencher raise: a t-test threshold as
 * `ci/bencher.sh main` sets it, computed as its documentation and lib/bencher_boundary say, with
 * the rule of that script that a second measurement has to alert for the same series.
 *
 * Environment: RUNS (200), of which the first 30 are only learnt from; MADE, a folder with the runs
 * of an earlier call, which are judged in place of new ones.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "hogs.h"
#include "judge/timeline.h"
#include "stats/special.h"

#define MOST_RUNS 1000u
#define STEPS 20u
#define STEP_RUNS 3u
#define LEARNT 30u

/* as in ci/bencher.sh */
#define MIN_SAMPLES 10u
#define MAX_SAMPLES 64u
#define FAMILY_RATE 0.05

static const char scenario[] = "name: tracked\n"
			       "object: loops.bpf.o\n"
			       "floor: empty\n"
			       "variants:\n"
			       "  - {name: empty}\n"
			       "  - {name: loop, globals: {rounds: %u}}\n"
			       "  - {name: ringbuf, object: perf_profiler.bpf.o}\n"
			       "drive:\n"
			       "  - {with: step, trigger: page-fault, inside: amicable_pairs, "
			       "stack_depth: 32}\n";

static void write_scenario(const char *dir, const char *name, unsigned int rounds)
{
	char path[600];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s.yml", dir, name);
	f = fopen(path, "we");
	if (!f || fprintf(f, scenario, rounds) < 0 || fclose(f)) {
		perror(path);
		exit(1);
	}
}

/* One plain run of dir/NAME.yml into dir/NAME, with or without hogs beside it. */
static void run_once(const char *dir, const char *name, struct bb_rng *rng)
{
	struct hogs hogs = {.n = 0};
	char command[1600];

	if (bb_rng_below(rng, 2))
		hogs = start_hogs();
	snprintf(command, sizeof(command),
		 "exec ./bpfbench --scenario %s/%s.yml --results %s/%s -n 2000 --quiet --format "
		 "csv "
		 ">/dev/null",
		 dir, name, dir, name);
	if (system(command)) { /* NOLINT: a command of our own */
		fprintf(stderr, "it failed: %s\n", command);
		exit(1);
	}
	stop_hogs(&hogs);
}

static void read_timeline(const char *dir, const char *name, struct bb_timeline *t)
{
	struct bb_timeline_opts opts = {.rule = bb_history_default_rule};
	struct bb_err err = {0};
	char path[600];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (bb_timeline__read(path, &opts, t, &err))
		bench_die(path, &err);
}

static const struct bb_timeline_case *case_of(const struct bb_timeline *t, const char *variant)
{
	for (size_t i = 0; i < t->n_cases; i++)
		if (!strcmp(t->cases[i].variant, variant))
			return &t->cases[i];
	fprintf(stderr, "no case of %s\n", variant);
	exit(1);
}

static void say_marks(const struct bb_timeline *t)
{
	size_t n_changes = 0, n_runs = 0;
	char measured[128];

	for (size_t i = 0; i < t->n_cases; i++) {
		n_runs += t->cases[i].n_points;
		for (size_t k = 0; k < t->cases[i].n_points; k++)
			n_changes += t->cases[i].points[k].judged.change != 0;
	}
	snprintf(measured, sizeof(measured), "%zu in %zu runs of %zu cases", n_changes,
		 n_runs / t->n_cases, t->n_cases);
	bench_judge("history, an unchanged tree: changes marked", "0", measured, n_changes == 0);
	for (size_t i = 0; i < t->n_cases; i++) {
		const struct bb_timeline_case *c = &t->cases[i];
		char what[200];

		snprintf(what, sizeof(what), "%s: error by latency, ratio, relative", c->variant);
		snprintf(measured, sizeof(measured), "%.2f, %.2f, %.2f %%: %s",
			 100 * c->error[BB_BY_LATENCY], 100 * c->error[BB_BY_RATIO],
			 100 * c->error[BB_BY_RELATIVE], bb_predictor_name(c->by));
		bench_row(what, "", measured, "-");
	}
}

static double ln_figure(const struct bb_timeline_case *c, size_t k, enum bb_predictor by)
{
	return log(c->points[k].of->figure[by].value);
}

/* Steps: LEARNT runs of the tree, then STEP_RUNS of the slower one that were made right after. */
static void say_steps(const struct bb_timeline *tree, const struct bb_timeline *slower)
{
	const struct bb_timeline_case *a = case_of(tree, "loop"), *b = case_of(slower, "loop");
	size_t n = b->n_points / STEP_RUNS, every = (a->n_points - LEARNT) / n, found = 0;
	double shift = 0;
	char measured[128], bound[64];

	for (size_t s = 0; s < n; s++) {
		struct bb_history_point points[LEARNT + STEP_RUNS];
		double r[LEARNT + STEP_RUNS];
		bool marked = false;

		for (size_t k = 0; k < LEARNT; k++)
			r[k] = ln_figure(a, s * every + k, a->by);
		for (size_t k = 0; k < STEP_RUNS; k++) {
			r[LEARNT + k] = ln_figure(b, s * STEP_RUNS + k, a->by);
			shift += (r[LEARNT + k] - r[LEARNT / 2]) / (double)(n * STEP_RUNS);
		}
		bb_history_judge(r, NULL, LEARNT + STEP_RUNS, &bb_history_default_rule, points);
		for (size_t k = LEARNT; k < LEARNT + STEP_RUNS; k++)
			marked |= points[k].mark == BB_HISTORY_REGRESSED;
		found += marked;
	}
	snprintf(bound, sizeof(bound), ">= %zu of %zu", (19 * n + 19) / 20, n);
	snprintf(measured, sizeof(measured), "%zu (the step is %+.2f %%)", found,
		 100 * expm1(shift));
	bench_judge("history, a slower program: marked within 3 runs", bound, measured,
		    20 * found >= 19 * n);
}

/* Bencher's upper boundary of the mean of x[n] (lib/bencher_boundary, NormalTestKind::T). */
static double upper_boundary(const double *x, size_t n, double boundary)
{
	double mean = 0, squares = 0;

	for (size_t i = 0; i < n; i++)
		mean += x[i] / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += (x[i] - mean) * (x[i] - mean);
	return mean + bb_student_critical(2 * (1 - boundary), (double)n - 1) *
			      sqrt(squares / (double)(n - 1) * (1 + 1 / (double)n));
}

static bool alerts(const struct bb_timeline_case *c, size_t k, enum bb_predictor by,
		   double boundary)
{
	double x[MAX_SAMPLES];
	size_t n = k < MAX_SAMPLES ? k : MAX_SAMPLES;

	for (size_t i = 0; i < n; i++)
		x[i] = c->points[k - n + i].of->figure[by].value;
	return n >= MIN_SAMPLES &&
	       c->points[k].of->figure[by].value > upper_boundary(x, n, boundary);
}

/* Every run is a main run; where one alerts, the next is its second measurement. */
static void say_alerts(const struct bb_timeline *t, enum bb_predictor by)
{
	double boundary = 1 - FAMILY_RATE / (double)t->n_cases;
	size_t n_alerted = 0, n_failed = 0, n = t->cases[0].n_points;
	char what[128], measured[128], bound[32];

	for (size_t k = 0; k < n; k++) {
		bool first = false, both = false;

		for (size_t i = 0; i < t->n_cases; i++) {
			bool now = alerts(&t->cases[i], k, by, boundary);

			first |= now;
			both |= now && k + 1 < n && alerts(&t->cases[i], k + 1, by, boundary);
		}
		n_alerted += first;
		n_failed += both;
	}
	snprintf(what, sizeof(what), "Bencher's t-test by %s: runs that fail",
		 by == BB_BY_LATENCY ? "latency" : "latency-relative");
	snprintf(bound, sizeof(bound), "<= %zu", (n + 199) / 200);
	snprintf(measured, sizeof(measured), "%zu of %zu (%zu alerted once)", n_failed, n,
		 n_alerted);
	bench_judge(what, bound, measured, n_failed <= (n + 199) / 200);
}

static void judge(const char *dir)
{
	struct bb_timeline tree, slower;

	read_timeline(dir, "tree", &tree);
	read_timeline(dir, "slower", &slower);
	say_marks(&tree);
	say_steps(&tree, &slower);
	say_alerts(&tree, BB_BY_LATENCY);
	say_alerts(&tree, BB_BY_RELATIVE);
	bb_timeline__done(&tree);
	bb_timeline__done(&slower);
}

int main(int argc, char **argv)
{
	const char *runs = getenv("RUNS"), *dir = argc > 1 ? argv[1] : "/tmp";
	size_t n = runs && *runs ? strtoul(runs, NULL, 10) : 200, every;
	const char *made = getenv("MADE");
	struct bb_rng rng;

	if (n < LEARNT + STEPS || n > MOST_RUNS) {
		fprintf(stderr, "RUNS takes %u to %u\n", LEARNT + STEPS, MOST_RUNS);
		return 1;
	}
	every = (n - LEARNT) / STEPS;
	bb_rng_seed(&rng, BENCH_SEED);
	if (made && *made) {
		judge(made);
		return 0;
	}
	write_scenario(dir, "tree", 400);
	write_scenario(dir, "slower", 413);
	for (size_t i = 0, steps = 0; i < n; i++) {
		run_once(dir, "tree", &rng);
		if (i + 1 < LEARNT || (i + 1 - LEARNT) % every || steps == STEPS)
			continue;
		for (unsigned int k = 0; k < STEP_RUNS; k++)
			run_once(dir, "slower", &rng);
		steps++;
	}
	judge(dir);
	return 0;
}
