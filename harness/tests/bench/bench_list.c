/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `bpfbench list` from fork to wait, taken in turns with a program that does nothing. */
#include "bench.h"

#define TURNS 20u

static double run_list(void *arg)
{
	static const char *const argv[] = {"./bpfbench", "list", NULL};

	(void)arg;
	return bench_run(argv).wall_s * 1e3;
}

static double run_true(void *arg)
{
	static const char *const argv[] = {"/bin/true", NULL};

	(void)arg;
	return bench_run(argv).wall_s * 1e3;
}

int main(void)
{
	struct bench_duel d = bench_duel(run_list, run_true, NULL, TURNS);
	struct bench_medians m = bench_decide(&d);
	char measured[64];

	snprintf(measured, sizeof(measured), "%.2f ms (%.1f x /bin/true)", m.a, m.ratio);
	bench_judge("list: `bpfbench list`", "<= 10 ms", measured, m.a <= 10);
	return 0;
}
