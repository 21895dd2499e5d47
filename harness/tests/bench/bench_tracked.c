/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Plain runs of one unchanged tree, as on a tracked branch, while other work loads the machine at
 * random times. It prints:
 * - how many changes `history` marks (each is false), and how many of 20 real steps of some +3 % it
 *   marks within three runs;
 * - how many alerts Bencher would raise. The threshold is the t-test that `ci/bencher.sh main`
 *   sets, computed as in Bencher's documentation and lib/bencher_boundary. The script's rules
 *   apply: the same series must alert again in a second measurement after a pause, and the empty
 *   program raises no alert;
 * - how many intervals contain the mean of all runs, and how often `compare OLD NEW` is wrong.
 *
 * Environment: RUNS (200), of which the first 30 only serve to learn; MADE: a folder that keeps the
 * runs, so that a later call can continue; SECONDS_MOST: no run begins after so many seconds.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/io.h"
#include "hogs.h"
#include "judge/diff.h"
#include "judge/timeline.h"
#include "stats/special.h"
#include "store/store.h"

#define MOST_RUNS 1000u
#define STEPS 20u
#define STEP_RUNS 3u
#define LEARNT 30u
#define APART 10u          /* runs from OLD to NEW */
#define SELFTEST_EVERY 40u /* runs between two self-tests */

/* the values of ci/bencher.sh */
#define MIN_SAMPLES 10u
#define MAX_SAMPLES 64u
#define FAMILY_RATE 0.05
#define PAUSE_S 20.0

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

/* One plain run of dir/NAME.yml, stored in dir/NAME, with or without hogs at the same time. */
static void run_once(const char *dir, const char *name, struct bb_rng *rng)
{
	struct hogs hogs = {.n = 0};
	char command[1600];

	if (bb_rng_below(rng, 2))
		hogs = start_hogs();
	snprintf(command, sizeof(command),
		 "exec ./bpfbench --scenario %s/%s.yml --results %s/%s --quiet --format csv "
		 ">/dev/null",
		 dir, name, dir, name);
	if (system(command)) { /* NOLINT: a command of our own */
		fprintf(stderr, "it failed: %s\n", command);
		exit(1);
	}
	stop_hogs(&hogs);
}

static void read_timeline(const char *path, struct bb_timeline *t)
{
	struct bb_timeline_opts opts = {.rule = bb_history_default_rule};
	struct bb_err err = {0};

	if (bb_timeline__read(path, &opts, t, &err))
		bench_die(path, &err);
}

static const struct bb_timeline_case *case_of(const struct bb_timeline *t, const char *variant)
{
	for (size_t i = 0; i < t->n_cases; i++)
		if (!strcmp(t->cases[i].of->variant, variant))
			return &t->cases[i];
	fprintf(stderr, "no case of %s\n", variant);
	exit(1);
}

static void say_marks(const struct bb_timeline *t)
{
	size_t n_changes[2] = {0}, n_cases[2] = {0}; /* [0] programs, [1] the anchor */
	char measured[128];

	for (size_t i = 0; i < t->n_cases; i++) {
		bool is_anchor = t->cases[i].is_anchor;

		n_cases[is_anchor]++;
		for (size_t k = 0; k < t->cases[i].n_points; k++)
			n_changes[is_anchor] += t->cases[i].points[k].judged.change != 0;
	}
	snprintf(measured, sizeof(measured), "%zu in %zu runs of %zu programs", n_changes[0],
		 t->n_runs, n_cases[0]);
	bench_judge("history, an unchanged tree: changes marked", "0", measured, n_changes[0] == 0);
	snprintf(measured, sizeof(measured), "%zu", n_changes[1]);
	bench_row("those of the empty program, which are the machine's", "", measured, "-");
	for (size_t i = 0; i < t->n_cases; i++) {
		const struct bb_timeline_case *c = &t->cases[i];
		char what[200];

		snprintf(what, sizeof(what), "%s: error by latency, ratio, relative",
			 c->of->variant);
		snprintf(measured, sizeof(measured), "%.2f, %.2f, %.2f %%: %s",
			 100 * c->error[BB_BY_LATENCY], 100 * c->error[BB_BY_RATIO],
			 100 * c->error[BB_BY_RELATIVE], bb_predictor_name(c->by));
		bench_row(what, "", measured, "-");
	}
}

static void link_runs(const char *dir, const struct bb_timeline *t, size_t first, size_t n,
		      const char *into)
{
	char from[1200], to[1200];

	for (size_t k = first; k < first + n; k++) {
		snprintf(from, sizeof(from), "%s/%s.json", dir, t->runs[k].of->id);
		snprintf(to, sizeof(to), "%s/%s.json", into, t->runs[k].of->id);
		if (symlink(from, to)) {
			perror(to);
			exit(1);
		}
	}
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

/* Bencher's boundary for each series, so that all series together have the rate FAMILY_RATE. */
static double boundary_of(const struct bb_timeline *t)
{
	size_t n_series = 0;

	for (size_t i = 0; i < t->n_cases; i++)
		n_series += !t->cases[i].is_anchor;
	return 1 - FAMILY_RATE / (double)n_series;
}

/* The first point whose run begins PAUSE_S or more after the run of point `k`. */
static size_t second_of(const struct bb_timeline *t, const struct bb_timeline_case *c, size_t k)
{
	double began_s = t->runs[c->points[k].run].epoch_s;
	size_t second = k + 1;

	while (second < c->n_points && t->runs[c->points[second].run].epoch_s < began_s + PAUSE_S)
		second++;
	return second;
}

/* Takes every run as one of the main branch. If it alerts, a later run is its second measurement.
 * For a benchmark with latency-relative, only the alerts of that metric count, as in
 * ci/bencher.sh. */
static void say_alerts(const struct bb_timeline *t, enum bb_predictor by)
{
	size_t n_alerted = 0, n_failed = 0, n = t->cases[0].n_points, most = (n + 199) / 200;
	double boundary = boundary_of(t);
	char what[128], measured[128], bound[32];

	for (size_t k = 0; k < n; k++) {
		bool first = false, twice = false;

		for (size_t i = 0; i < t->n_cases; i++) {
			const struct bb_timeline_case *c = &t->cases[i];
			bool now = !c->is_anchor && alerts(c, k, by, boundary);
			size_t second = now ? second_of(t, c, k) : n;

			first |= now;
			twice |= second < n && alerts(c, second, by, boundary);
		}
		n_alerted += first;
		n_failed += twice;
	}
	snprintf(what, sizeof(what), "Bencher's t-test by latency%s: runs that fail",
		 by == BB_BY_RELATIVE ? "-relative" : "");
	snprintf(bound, sizeof(bound), "<= %zu", most);
	snprintf(measured, sizeof(measured), "%zu of %zu (%zu alerted once)", n_failed, n,
		 n_alerted);
	if (by == BB_BY_RELATIVE)
		bench_judge(what, bound, measured, n_failed <= most);
	else
		bench_row(what, "", measured, "-");
}

/* True if one of the slower runs alerts, and the next one, too. */
static bool fails(const struct bb_timeline *t, const struct bb_timeline_case *c,
		  enum bb_predictor by)
{
	double boundary = boundary_of(t);

	for (size_t k = LEARNT; k + 1 < LEARNT + STEP_RUNS; k++)
		if (alerts(c, k, by, boundary) && alerts(c, k + 1, by, boundary))
			return true;
	return false;
}

/* Each step is a history of its own: LEARNT runs of the tree, then STEP_RUNS of the slower tree,
 * which were made right after them. */
static void say_steps(const char *dir, const char *scratch, const struct bb_timeline *tree,
		      const struct bb_timeline *slower)
{
	size_t n = slower->n_runs / STEP_RUNS, every = (tree->n_runs - LEARNT) / n, found = 0,
	       failed[BB_N_PREDICTORS] = {0};
	double *shifts = bench_alloc(n * STEP_RUNS + 1, sizeof(*shifts));
	char from_tree[600], from_slower[600], into[600], measured[128], bound[64];

	snprintf(from_tree, sizeof(from_tree), "%s/tree", dir);
	snprintf(from_slower, sizeof(from_slower), "%s/slower", dir);
	for (size_t s = 0; s < n; s++) {
		const struct bb_timeline_case *c;
		struct bb_timeline t;
		bool marked = false;

		snprintf(into, sizeof(into), "%s/step.XXXXXX", scratch);
		if (!mkdtemp(into)) {
			perror(into);
			exit(1);
		}
		link_runs(from_tree, tree, s * every, LEARNT, into);
		link_runs(from_slower, slower, s * STEP_RUNS, STEP_RUNS, into);
		read_timeline(into, &t);
		c = case_of(&t, "loop");
		for (size_t k = 0; k < STEP_RUNS; k++) {
			const struct bb_timeline_point *p = &c->points[LEARNT + k];

			marked |= p->judged.mark == BB_HISTORY_REGRESSED;
			shifts[s * STEP_RUNS + k] = bb_timeline__change(c, p);
		}
		found += marked;
		for (int by = 0; by < BB_N_PREDICTORS; by++)
			failed[by] += fails(&t, c, (enum bb_predictor)by);
		bb_timeline__done(&t);
	}
	snprintf(bound, sizeof(bound), ">= %zu of %zu", (19 * n + 19) / 20, n);
	snprintf(measured, sizeof(measured), "%zu (the step is %+.2f %%)", found,
		 100 * bb_median(shifts, n * STEP_RUNS));
	bench_judge("history, a slower program: marked within 3 runs", bound, measured,
		    20 * found >= 19 * n);
	snprintf(measured, sizeof(measured), "%zu by latency, %zu by latency-relative",
		 failed[BB_BY_LATENCY], failed[BB_BY_RELATIVE]);
	bench_row("Bencher's t-test, a slower program: fails within 3 runs", "", measured, "-");
	free(shifts);
}

/* Prints how many intervals of the latency contain the mean of all runs. */
static void say_intervals(const struct bb_timeline *t)
{
	for (size_t i = 0; i < t->n_cases; i++) {
		const struct bb_timeline_case *c = &t->cases[i];
		size_t n = c->n_points, held = 0;
		char what[200], measured[64], bound[64];
		double mean = 0;

		for (size_t k = 0; k < n; k++)
			mean += c->points[k].of->figure[BB_BY_LATENCY].value / (double)n;
		for (size_t k = 0; k < n; k++) {
			const struct bb_estimate *e = &c->points[k].of->figure[BB_BY_LATENCY];

			held += e->lo <= mean && mean <= e->hi;
		}
		snprintf(what, sizeof(what), "%s: intervals that hold the mean of all",
			 c->of->variant);
		snprintf(bound, sizeof(bound), ">= %zu of %zu", (9 * n + 9) / 10, n);
		snprintf(measured, sizeof(measured), "%zu", held);
		bench_judge(what, bound, measured, 10 * held >= 9 * n);
	}
}

static struct bb_report *read_run(const char *dir, const char *id)
{
	struct bb_report *r;
	struct bb_err err = {0};

	if (bb_store__read(id, dir, &r, &err))
		bench_die(id, &err);
	return r;
}

/* Compares each run with the one APART runs later, like `compare OLD NEW` at 1 %. */
static void say_compares(const char *dir)
{
	const struct bb_diff_opts opts = {.threshold = 0.01, .alpha = 0.05};
	char path[600], measured[128], bound[32], **ids;
	size_t n, n_false = 0, n_same = 0, n_rows = 0;
	struct bb_err err = {0};

	snprintf(path, sizeof(path), "%s/tree", dir);
	if (bb_store__list(path, &ids, &n, &err))
		bench_die(path, &err);
	for (size_t k = 0; k + APART < n; k++) {
		struct bb_report *a = read_run(path, ids[k]), *b = read_run(path, ids[k + APART]);
		struct bb_diffs d;

		if (bb_diff_reports(a, b, &opts, &d, &err))
			bench_die("compare", &err);
		n_false += bb_diffs_count(&d, BB_VERDICT_REGRESSED) ||
			   bb_diffs_count(&d, BB_VERDICT_IMPROVED);
		n_same += bb_diffs_count(&d, BB_VERDICT_SAME);
		n_rows += a->n_cases;
		bb_diffs__done(&d);
		bb_report__free(a);
		bb_report__free(b);
	}
	bb_names_free(ids, n);
	n = n > APART ? n - APART : 0;
	snprintf(bound, sizeof(bound), "<= %zu", n / 20);
	snprintf(measured, sizeof(measured), "%zu of %zu (%zu of %zu rows: same)", n_false, n,
		 n_same, n_rows);
	bench_judge("compare OLD NEW of one tree: with a false verdict", bound, measured,
		    n_false <= n / 20);
}

static void judge(const char *dir, const char *scratch)
{
	struct bb_timeline tree, slower;
	char path[600];

	snprintf(path, sizeof(path), "%s/slower", dir);
	read_timeline(path, &slower);
	snprintf(path, sizeof(path), "%s/tree", dir);
	read_timeline(path, &tree);
	say_marks(&tree);
	say_steps(dir, scratch, &tree, &slower);
	say_alerts(&tree, BB_BY_LATENCY);
	say_alerts(&tree, BB_BY_RELATIVE);
	say_intervals(&tree);
	say_compares(dir);
	bb_timeline__done(&tree);
	bb_timeline__done(&slower);
}

static size_t count_runs(const char *dir, const char *name)
{
	char path[600], **ids;
	struct bb_err err = {0};
	size_t n;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (bb_store__list(path, &ids, &n, &err))
		bench_die(path, &err);
	bb_names_free(ids, n);
	return n;
}

/* Runs `selftest`, as a user does now and then. Later intervals include its variation. */
static void run_selftest(const char *dir, struct bb_rng *rng)
{
	struct hogs hogs = {.n = 0};
	char results[512];

	if (bb_rng_below(rng, 2))
		hogs = start_hogs();
	snprintf(results, sizeof(results), "%s/tree", dir);
	bench_selftest(results);
	stop_hogs(&hogs);
}

/* How many runs of the slower tree there must be after `n_tree` runs of the tree, of `n` in all. */
static size_t slower_due(size_t n_tree, size_t n)
{
	size_t every = (n - LEARNT) / STEPS, steps;

	if (n_tree < LEARNT)
		return 0;
	steps = (n_tree - LEARNT) / every + 1;
	return STEP_RUNS * (steps < STEPS ? steps : STEPS);
}

int main(int argc, char **argv)
{
	const char *runs = getenv("RUNS"), *scratch = argc > 1 ? argv[1] : "/tmp", *dir = scratch;
	const char *made = getenv("MADE"), *most = getenv("SECONDS_MOST");
	size_t n = runs && *runs ? strtoul(runs, NULL, 10) : 200, n_tree, n_slower, n_selftests;
	double seconds = most && *most ? strtod(most, NULL) : (double)INFINITY;
	uint64_t began_ns = bb_now_ns();
	struct bb_rng rng;

	if (n < LEARNT + STEPS || n > MOST_RUNS) {
		fprintf(stderr, "RUNS takes %u to %u\n", LEARNT + STEPS, MOST_RUNS);
		return 1;
	}
	if (made && *made)
		dir = made;
	n_tree = count_runs(dir, "tree");
	n_slower = count_runs(dir, "slower");
	n_selftests = count_runs(dir, "tree/selftest");
	bb_rng_seed(&rng, BENCH_SEED + n_tree);
	write_scenario(dir, "tree", 400);
	write_scenario(dir, "slower", 413);
	while (bb_seconds_since(began_ns) < seconds) {
		if (n_selftests <= n_tree / SELFTEST_EVERY && n_tree < n) {
			run_selftest(dir, &rng);
			n_selftests++;
		} else if (n_slower < slower_due(n_tree, n)) {
			run_once(dir, "slower", &rng);
			n_slower++;
		} else if (n_tree < n) {
			run_once(dir, "tree", &rng);
			n_tree++;
		} else {
			break;
		}
	}
	judge(dir, scratch);
	return 0;
}
