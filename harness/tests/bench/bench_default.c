/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Time of `bpfbench --scenario perf_profiler` as a user calls it. The run is stored in
 * SCRATCH_FOLDER/results, where bench_stats finds it. */
#include "bench.h"

int main(int argc, char **argv)
{
	char results[512], measured[64];
	const char *job[] = {"./bpfbench", "--scenario", "perf_profiler", "--quiet", "--results",
			     results,      NULL};
	struct bench_child child;

	if (argc != 2) {
		fprintf(stderr, "usage: bench_default SCRATCH_FOLDER\n");
		return 2;
	}
	snprintf(results, sizeof(results), "%s/results", argv[1]);
	child = bench_run(job);
	snprintf(measured, sizeof(measured), "%.1f s on %ld CPUs (%.1f MiB)", child.wall_s,
		 sysconf(_SC_NPROCESSORS_ONLN), child.max_rss_mib);
	bench_judge("default: `bpfbench --scenario perf_profiler`", "<= 20 s", measured,
		    child.wall_s <= 20);
	return 0;
}
