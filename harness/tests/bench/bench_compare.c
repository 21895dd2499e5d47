/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Time of `bpfbench compare` for two stored runs of perf_profiler with 24 cases of 12 loads each,
 * from fork to wait. */
#include "bench.h"

#define TURNS 10u

static void measure_run(const char *results)
{
	const char *const argv[] = {"./bpfbench",   "run",     "--scenario=perf_profiler",
				    "--drive=step", "--quiet", "--output=/dev/null",
				    "--results",    results,   NULL};

	bench_run(argv);
}

static double run_compare(void *results)
{
	const char *const argv[] = {"./bpfbench",   "compare", "--results", results,
				    "--baseline=2", "latest",  NULL};

	return bench_run(argv).wall_s * 1e3;
}

static double run_true(void *arg)
{
	static const char *const argv[] = {"/bin/true", NULL};

	(void)arg;
	return bench_run(argv).wall_s * 1e3;
}

int main(int argc, char **argv)
{
	struct bench_medians m;
	struct bench_duel d;
	char results[4096], measured[64];

	snprintf(results, sizeof(results), "%s/compare", argc > 1 ? argv[1] : ".");
	measure_run(results);
	const char *const save[] = {"./bpfbench", "compare",           "--results",
				    results,      "--save-baseline=2", NULL};

	bench_run(save);
	measure_run(results);
	d = bench_duel(run_compare, run_true, results, TURNS);
	m = bench_decide(&d);
	snprintf(measured, sizeof(measured), "%.1f ms (%.1f x /bin/true)", m.a, m.ratio);
	bench_judge("compare: two stored runs, 24 cases of 12 loads", "<= 100 ms", measured,
		    m.a <= 100);
	return 0;
}
