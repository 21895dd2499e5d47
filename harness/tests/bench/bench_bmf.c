/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Time to write a run of 1000 cases to a file as BMF, and the size of that file. */
#include "made_run.h"

#include "export/exporter.h"

#define TURNS 11u
#define MIB (1024.0 * 1024)

/* Writes the file and returns the time from fopen to fclose, ms; *ret_bytes: the file's size. */
static double write_bmf(const struct bb_report *r, const char *path, double *ret_bytes)
{
	uint64_t began_ns = bb_now_ns();
	FILE *out = fopen(path, "w");
	struct bb_err err = {0};
	long bytes;

	if (!out) {
		perror(path);
		exit(1);
	}
	if (bb_export_bmf(r, out, &err))
		bench_die(path, &err);
	bytes = ftell(out);
	if (fclose(out)) {
		perror(path);
		exit(1);
	}
	*ret_bytes = (double)bytes;
	return bb_seconds_since(began_ns) * 1e3;
}

int main(int argc, char **argv)
{
	static const struct made_run run = {.variants = 250,
					    .params = 4,
					    .loads = 12,
					    .samples = 100,
					    .slower_from = 1};
	double took_ms[TURNS], median_ms, bytes = 0;
	char path[4200], measured[64];
	struct bb_fingerprint fp;
	struct bb_err err = {0};
	struct bb_report *r;
	struct bb_rng rng;

	if (argc != 2) {
		fprintf(stderr, "usage: bench_bmf SCRATCH_FOLDER\n");
		return 2;
	}
	if (bb_fingerprint__read("", ".", &fp, &err))
		bench_die("fingerprint", &err);
	bb_rng_seed(&rng, BENCH_SEED);
	r = made_run(&run, &fp, &rng);
	snprintf(path, sizeof(path), "%s/bench.bmf", argv[1]);
	for (unsigned int i = 0; i < TURNS; i++)
		took_ms[i] = write_bmf(r, path, &bytes);
	median_ms = bb_median(took_ms, TURNS);
	snprintf(measured, sizeof(measured), "%.1f ms (%zu benchmarks)", median_ms, r->n_cases);
	bench_judge("bmf: a run of 1000 cases, written", "< 50 ms", measured, median_ms < 50);
	snprintf(measured, sizeof(measured), "%.2f MiB", bytes / MIB);
	bench_judge("bmf: size of it", "< 4 MiB", measured, bytes < 4 * MIB);
	bb_report__free(r);
	return 0;
}
