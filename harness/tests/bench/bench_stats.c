/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Time of the steps after measuring: the statistics of 10 million samples, a tenth of them spread
 * over a millisecond (as many distinct values as the histogram can have), and storing and reading
 * that run. Also the time to read a real run: the latest in SCRATCH_FOLDER/results (bench_default
 * leaves one there), else in results/, if there is one.
 */
#include "base/io.h"
#include "bench.h"
#include "report/report.h"
#include "store/store.h"

#define LOADS 12u
#define SAMPLES 10000000u

static char *copy(const char *text)
{
	char *s = strdup(text);

	if (!s) {
		fprintf(stderr, "out of memory\n");
		exit(1);
	}
	return s;
}

static void fill(struct bb_series *s, uint32_t load, struct bb_rng *rng)
{
	s->load = load;
	s->steal = s->target_cpu_s = NAN;
	for (uint32_t i = 0; i < SAMPLES / LOADS; i++) {
		double ns = 1000 + 20 * bb_rng_normal(rng);

		if (bb_rng_below(rng, 10) == 0)
			ns += 1e6 * bb_rng_double(rng);
		bb_hist_add(&s->hist, (uint64_t)ns, 1);
		s->run_time_ns += (uint64_t)ns;
		s->run_cnt++;
	}
	s->fired = s->run_cnt;
	s->elapsed_s = (double)s->run_time_ns * 1e-9;
}

static struct bb_report *make_report(void)
{
	struct bb_report *r = bb_report__new();
	struct bb_case *c = r ? BB_ADD(bb_case_record, r, cases) : NULL;
	struct bb_rng rng;

	if (!c) {
		fprintf(stderr, "out of memory\n");
		exit(1);
	}
	bb_rng_seed(&rng, BENCH_SEED);
	r->id = copy("20260101T000000Z-bench-00000000");
	r->command = copy("bench_stats");
	r->started = copy("2026-01-01T00:00:00Z");
	c->name = copy("bench/heavy/fake");
	c->scenario = copy("bench");
	c->variant = copy("heavy");
	c->drive = copy("fake");
	for (uint32_t i = 0; i < LOADS; i++)
		fill(BB_ADD(bb_series_record, c, series), i, &rng);
	return r;
}

static void bench_read(const char *what, const char *bound, const char *dir)
{
	struct bb_report *r = NULL;
	struct bb_err err = {0};
	uint64_t began_ns = bb_now_ns();
	char measured[64];
	double took_s;

	if (bb_store__read("latest", dir, &r, &err))
		bench_die(what, &err);
	took_s = bb_seconds_since(began_ns);
	snprintf(measured, sizeof(measured), "%.1f ms (%zu cases)", took_s * 1e3, r->n_cases);
	if (bound)
		bench_judge(what, bound, measured, took_s < 1);
	else
		bench_row(what, "", measured, "-");
	bb_report__free(r);
}

static void bench_heavy(const char *scratch)
{
	struct bb_report *r = make_report();
	uint64_t began_ns = bb_now_ns();
	char dir[512], measured[64];
	struct bb_err err = {0};
	double took_s;

	bb_report__summarise(r);
	took_s = bb_seconds_since(began_ns);
	snprintf(measured, sizeof(measured), "%.1f ms (%zu values)", took_s * 1e3,
		 r->cases[0].series[0].hist.used);
	bench_judge("stats: summary of 10 million samples", "< 1 s", measured, took_s < 1);
	snprintf(dir, sizeof(dir), "%s/stats-results", scratch);
	began_ns = bb_now_ns();
	if (bb_store__write(dir, r, NULL, &err))
		bench_die("bench_stats", &err);
	snprintf(measured, sizeof(measured), "%.1f ms", bb_seconds_since(began_ns) * 1e3);
	bench_row("stats: storing them, synced to disk", "", measured, "-");
	bench_read("stats: reading them back, summarised", "< 1 s", dir);
	bb_report__free(r);
}

int main(int argc, char **argv)
{
	char dir[512];
	char **ids = NULL;
	size_t n = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: bench_stats SCRATCH_FOLDER\n");
		return 2;
	}
	bench_heavy(argv[1]);
	snprintf(dir, sizeof(dir), "%s/results", argv[1]);
	if (bb_store__list(dir, &ids, &n, NULL) || !n) {
		bb_names_free(ids, n);
		ids = NULL, n = 0;
		strcpy(dir, "results");
		if (bb_store__list(dir, &ids, &n, NULL))
			n = 0;
	}
	if (n)
		bench_read("stats: reading the latest stored run, summarised", NULL, dir);
	bb_names_free(ids, n);
	return 0;
}
