/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The interval of figures that were measured one after another. */
#include "unit/stats_testing.h"

#include <errno.h>

#include "base/rng.h"
#include "stats/loads.h"
#include "stats/paired.h"

#define N 28u
#define TIMES 400u

/* Counts how many of TIMES intervals hold the true mean 0, by bb_in_order() and by signed ranks.
 * Each figure is `like` times the one before it, plus noise. */
static void cover(double like, unsigned int *ret_in_order, unsigned int *ret_ranks)
{
	struct bb_rng rng;

	bb_rng_seed(&rng, 7);
	*ret_in_order = *ret_ranks = 0;
	for (unsigned int t = 0; t < TIMES; t++) {
		double x[N], last = bb_rng_normal(&rng) / sqrt(1 - like * like);
		struct bb_signed_rank o;
		struct bb_signed_rank r;

		for (unsigned int i = 0; i < N; i++)
			x[i] = last = like * last + bb_rng_normal(&rng);
		o = bb_in_order(x, N, 1, 0.05);
		r = bb_signed_rank(x, N, 0.05);
		assert_true(o.estimate == r.estimate);
		assert_true(o.interval.lo <= r.interval.lo && o.interval.hi >= r.interval.hi);
		*ret_in_order += o.interval.lo <= 0 && o.interval.hi >= 0;
		*ret_ranks += r.interval.lo <= 0 && r.interval.hi >= 0;
	}
}

static void test_coverage(void **state)
{
	unsigned int in_order, ranks;

	(void)state;
	cover(0, &in_order, &ranks);
	assert_true(ranks >= TIMES * 92 / 100 && in_order >= ranks);
	cover(0.6, &in_order, &ranks);
	assert_true(ranks < TIMES * 75 / 100);
	assert_true(in_order > TIMES * 84 / 100);
}

/* Seven processes of four loads each. The processes differ three times as much as their loads. */
static void test_processes(void **state)
{
	unsigned int covered = 0;
	struct bb_rng rng;

	(void)state;
	bb_rng_seed(&rng, 11);
	for (unsigned int t = 0; t < TIMES; t++) {
		double x[28], process = 0;
		struct bb_signed_rank o;

		for (unsigned int i = 0; i < 28; i++) {
			if (i % 4 == 0)
				process = 3 * bb_rng_normal(&rng);
			x[i] = process + bb_rng_normal(&rng);
		}
		o = bb_in_order(x, 28, 7, 0.05);
		covered += o.interval.lo <= 0 && o.interval.hi >= 0;
	}
	assert_true(covered >= TIMES * 92 / 100);
}

/* A figure that is left out belongs to no group. The other groups stay those of the processes. */
static void test_left_out(void **state)
{
	double x[20], first = 0, second;
	struct bb_signed_rank o, all;

	(void)state;
	for (unsigned int i = 0; i < 20; i++)
		x[i] = 10.0 * (i / 4);
	all = bb_in_order(x, 20, 5, 0.05);
	first = all.interval.hi - all.estimate;
	x[5] = x[6] = x[7] = NAN;
	o = bb_in_order(x, 20, 5, 0.05);
	second = o.interval.hi - o.estimate;
	assert_true(fabs(first - second) < 1e-9); /* the groups are 0, 10, ..., 40 as before */
	x[4] = NAN; /* four processes are too few, so neighbours are grouped */
	o = bb_in_order(x, 20, 5, 0.05);
	assert_true(isfinite(o.interval.hi));
	for (unsigned int i = 0; i < 20; i++)
		x[i] = NAN;
	o = bb_in_order(x, 20, 5, 0.05);
	assert_true(isnan(o.estimate));
}

static void test_few(void **state)
{
	const double x[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
	struct bb_signed_rank o;
	struct bb_signed_rank r;

	(void)state;
	o = bb_in_order(x, 9, 1, 0.05);
	r = bb_signed_rank(x, 9, 0.05);
	assert_true(o.interval.lo == r.interval.lo && o.interval.hi == r.interval.hi);
	o = bb_in_order(x, 0, 1, 0.05);
	assert_true(isnan(o.estimate));
	assert_nan(bb_in_order(x, 9, 1, 2).estimate);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_coverage),
		cmocka_unit_test(test_processes),
		cmocka_unit_test(test_left_out),
		cmocka_unit_test(test_few),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
