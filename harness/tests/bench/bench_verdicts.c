/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Repeats one row of `selftest` many times, and counts how often other methods say "different" on
 * the same samples. verdicts.sh checks the first line of output against its bounds.
 */
#include "bench.h"

#include <errno.h>

#include "base/caller.h"
#include "base/give_way.h"
#include "base/parse.h"
#include "base/deadline.h"
#include "other_methods.h"
#include "run/selftest.h"

#define PER_MEDIAN 16u /* samples of each median for Mann-Whitney, in order of measurement */
#define N_OTHERS 4

static const char *const others[N_OTHERS] = {"naive mean", "Welch on means",
					     "Mann-Whitney on medians", "minimum"};

/* The samples of one experiment, in order of measurement: [0] base, [1] head. */
struct samples {
	double *ns[2];
	size_t n[2], size[2];
};

static void keep(void *arg, bool is_head, const struct bb_batch *b)
{
	struct samples *s = arg;

	bb_reserve(&s->ns[is_head], s->n[is_head] + b->n, &s->size[is_head], sizeof(double));
	for (size_t i = 0; i < b->n; i++)
		s->ns[is_head][s->n[is_head]++] = (double)b->ns[i];
}

/* Adds to said[i] whether method i says "different". Sorts parts of the samples. */
static void ask_others(struct samples *s, double threshold, double alpha, unsigned int said[])
{
	const double *a = s->ns[0], *b = s->ns[1];
	size_t na = s->n[0], nb = s->n[1], n_medians;
	double *medians = bench_alloc(na / PER_MEDIAN + nb / PER_MEDIAN + 1, sizeof(*medians));
	struct bb_other_method r[N_OTHERS] = {0};
	struct bb_err err = {.msg = "its samples cannot be judged"};

	if (bb_other_mean(a, na, b, nb, threshold, &r[0]) ||
	    bb_other_welch(a, na, b, nb, alpha, &r[1]) ||
	    bb_other_minimum(a, na, b, nb, threshold, &r[3]))
		bench_die("other methods", &err);
	n_medians = bb_other_batch_medians(s->ns[0], na, PER_MEDIAN, medians);
	if (bb_other_mann_whitney(medians, n_medians, medians + n_medians,
				  bb_other_batch_medians(s->ns[1], nb, PER_MEDIAN,
							 medians + n_medians),
				  alpha, &r[2]))
		bench_die("other methods", &err);
	free(medians);
	for (int i = 0; i < N_OTHERS; i++)
		said[i] += r[i].different;
}

struct tally {
	unsigned int n, verdicts[BB_N_VERDICTS], covered, said[N_OTHERS];
	double *estimates, seconds;
};

static void try_once(const struct bb_scenario *s, struct bb_selftest_opts *opts, struct tally *t)
{
	struct samples samples = {0};
	struct bb_selftest result;
	struct bb_err err = {0};
	int rc;

	opts->watch = (struct bb_ab_watch){keep, &samples};
	rc = bb_selftest__run(s, opts, &result, &err);
	if (rc && rc != -ETIME) /* -ETIME: the budget ran out, which is no failure */
		bench_die("selftest", &err);
	if (result.rows[0].n) { /* 0: there was no valid pair */
		t->estimates[t->n++] = expm1(result.rows[0].log_ratios.x[0]);
		t->covered += result.rows[0].covered;
		for (int i = 0; i < BB_N_VERDICTS; i++)
			t->verdicts[i] += result.rows[0].verdicts[i];
		ask_others(&samples, opts->threshold, opts->alpha, t->said);
	}
	t->seconds += result.rows[0].seconds;
	bb_selftest__done(&result);
	free(samples.ns[0]);
	free(samples.ns[1]);
}

static void print(const struct bb_selftest_opts *o, const struct tally *t)
{
	unsigned int different = t->verdicts[BB_VERDICT_REGRESSED];

	if (o->mode != BB_SELFTEST_INJECTED)
		different += t->verdicts[BB_VERDICT_IMPROVED];
	printf("%s %s %u/%u different, estimate %+.2f %% (median), %u/%u intervals hold the truth, "
	       "%.2f s each\n",
	       o->program, bb_selftest_mode_name((enum bb_selftest_mode)o->mode), different, t->n,
	       100 * bb_median(t->estimates, t->n), t->covered, t->n, t->seconds / t->n);
	printf("others say \"different\":");
	for (int i = 0; i < N_OTHERS; i++)
		printf("%s %s %.0f %%", i ? "," : "", others[i], 100.0 * t->said[i] / t->n);
	putchar('\n');
}

int main(int argc, char **argv)
{
	struct bb_selftest_opts opts = {.alpha = 0.05, .experiment_budget_s = 10, .experiments = 1};
	const char *build = getenv("O");
	struct bb_scenario *scenario;
	struct bb_err err = {0};
	struct tally tally = {0};
	char objects[512];
	struct bb_rng rng;
	uint64_t tries;

	if (argc != 6 || bb_parse_u64(argv[3], &tries) || !tries || tries > 100000 ||
	    bb_parse_double(argv[4], &opts.inject) || bb_parse_double(argv[5], &opts.threshold)) {
		fprintf(stderr, "usage: bench_verdicts PROGRAM reloads|injected TRIES INJECT%% "
				"THRESHOLD%%\n");
		return 2;
	}
	opts.program = argv[1];
	opts.mode = strcmp(argv[2], "reloads") ? BB_SELFTEST_INJECTED : BB_SELFTEST_RELOADS;
	opts.inject /= 100;
	opts.threshold /= 100;
	bb_stop__install(true);
	snprintf(objects, sizeof(objects), "%s/bpf", build ? build : "build");
	opts.run.driver.object_dir = objects;
	bb_caller(&opts.run.driver.uid, &opts.run.driver.gid);
	if (bb_caller__own_files(&err) ||
	    bb_machine_take_cpus(-1, false, &opts.run.driver.cpu, &opts.run.driver.poll_cpu,
				 &err) ||
	    bb_scenario__read("scenarios/selftest.yml", false, &scenario, &err))
		bench_die("selftest", &err);
	bb_run_ahead_of_others();
	tally.estimates = bench_alloc(tries, sizeof(*tally.estimates));
	bb_rng_seed(&rng, bb_now_ns());
	for (uint64_t i = 0; i < tries; i++) {
		opts.run.seed = opts.run.driver.seed = bb_rng_u64(&rng);
		try_once(scenario, &opts, &tally);
	}
	if (!tally.n) {
		fprintf(stderr, "%s: no experiment had a valid pair\n", opts.program);
		return 1;
	}
	print(&opts, &tally);
	free(tally.estimates);
	bb_scenario__free(scenario);
	return 0;
}
