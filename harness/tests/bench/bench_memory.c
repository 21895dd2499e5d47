/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Peak resident memory of whole runs of 10 million samples. Only the samples are not real: the
 * fake drive makes them up. */
#include "bench.h"

#define SAMPLES "10000000"
#define BOUND_MIB 64

static const char light[] = "name: memory\n"
			    "variants: [{name: light}]\n"
			    "drive: [{with: fake}]\n";

/* One sample in ten takes up to 1 ms more, to have as many distinct values as possible. */
static const char heavy[] = "name: memory\n"
			    "variants: [{name: heavy, globals: {tail_permille: 100, tail_ns: "
			    "1000000}}]\n"
			    "drive: [{with: fake}]\n";

static void write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	if (!f || fputs(text, f) < 0 || fclose(f)) {
		perror(path);
		exit(1);
	}
}

static void measure(const char *what, const char *dir, const char *text, bool store)
{
	char path[512], results[512], measured[64];
	const char *argv[] = {"./bpfbench",
			      "run",
			      "--scenario",
			      path,
			      "-n",
			      SAMPLES,
			      "--loads",
			      "12",
			      "--quiet",
			      "--budget",
			      "0",
			      "--format",
			      "bmf",
			      store ? "--results" : "--no-store",
			      store ? results : NULL,
			      NULL};
	struct bench_child child;

	snprintf(path, sizeof(path), "%s/memory.yml", dir);
	snprintf(results, sizeof(results), "%s/memory-results", dir);
	write_text(path, text);
	child = bench_run(argv);
	snprintf(measured, sizeof(measured), "%.1f MiB (in %.1f s)", child.max_rss_mib,
		 child.wall_s);
	bench_judge(what, "<= 64 MiB", measured, child.max_rss_mib <= BOUND_MIB);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: bench_memory SCRATCH_FOLDER\n");
		return 2;
	}
	measure("memory: 10 million samples, not stored", argv[1], light, false);
	measure("memory: 10 million samples, stored", argv[1], light, true);
	measure("memory: the same with a heavy tail, stored", argv[1], heavy, true);
	return 0;
}
