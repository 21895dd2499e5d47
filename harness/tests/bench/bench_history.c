/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Time of `bpfbench history` and `list` over 10 000 stored runs of 24 cases, from fork to wait.
 * This bench makes the runs up, in the format of the store, with 6 loads of 12 samples each: 750 MB
 * instead of 3.5 GB.
 */
#include "made_run.h"

#include <sys/stat.h>

#include "store/run_json.h"

#define RUNS 10000u
#define TURNS 5u

/* Like bb_store__write(), but without a sync for each run. */
static void write_run(const char *dir, const struct bb_report *r)
{
	char path[4200];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s.json", dir, r->id);
	out = fopen(path, "w");
	if (out)
		bb_run_json__write(r, out);
	if (!out || ferror(out) || fclose(out)) {
		perror(path);
		exit(1);
	}
}

static void make_runs(const char *dir)
{
	struct made_run run = {.variants = 8,
			       .params = 3,
			       .loads = 6,
			       .samples = 12,
			       .slower_from = RUNS / 2};
	struct bb_fingerprint fp;
	struct bb_err err = {0};
	struct bb_rng rng;

	bb_rng_seed(&rng, BENCH_SEED);
	if (bb_fingerprint__read("", ".", &fp, &err))
		bench_die("fingerprint", &err);
	if (mkdir(dir, 0755)) {
		perror(dir);
		exit(1);
	}
	for (; run.n < RUNS; run.n++) {
		struct bb_report *r = made_run(&run, &fp, &rng);

		write_run(dir, r);
		bb_report__free(r);
	}
	/* `history` does not trust its index for a file that was written just now: the file may
	 * change again without a new modification time. */
	sleep(3);
}

static double run_history(void *results)
{
	const char *const argv[] = {"./bpfbench", "history", "--results", results, NULL};

	return bench_run(argv).wall_s * 1e3;
}

static double run_list(void *results)
{
	const char *const argv[] = {"./bpfbench", "list", "--results", results, NULL};

	return bench_run(argv).wall_s * 1e3;
}

static double run_true(void *arg)
{
	static const char *const argv[] = {"/bin/true", NULL};

	(void)arg;
	return bench_run(argv).wall_s * 1e3;
}

static void measure(const char *what, const char *bound, double bound_ms, double (*run)(void *),
		    char *results)
{
	struct bench_duel d = bench_duel(run, run_true, results, TURNS);
	struct bench_medians m = bench_decide(&d);
	char measured[64];

	snprintf(measured, sizeof(measured), "%.1f ms (%.1f x /bin/true)", m.a, m.ratio);
	bench_judge(what, bound, measured, m.a <= bound_ms);
}

int main(int argc, char **argv)
{
	char results[4096], measured[64];

	if (argc != 2) {
		fprintf(stderr, "usage: bench_history SCRATCH_FOLDER\n");
		return 2;
	}
	snprintf(results, sizeof(results), "%s/history", argv[1]);
	make_runs(results);
	snprintf(measured, sizeof(measured), "%.1f s", run_history(results) / 1e3);
	bench_row("history: 10 000 runs of 24 cases, read for the first time", "-", measured, "-");
	measure("history: the same, from its index", "<= 1000 ms", 1000, run_history, results);
	measure("list: of 10 000 runs", "<= 20 ms", 20, run_list, results);
	return 0;
}
