/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which figures are those of a machine at its best. */
#include "unit/stats_testing.h"

#include "base/rng.h"
#include "stats/loads.h"

#define N 200u
#define TIMES 50u

/* One in three is of a machine that is 8 to 40 % slower. */
static void test_mixture(void **state)
{
	struct bb_rng rng;

	(void)state;
	bb_rng_seed(&rng, 3);
	for (unsigned int t = 0; t < TIMES; t++) {
		double x[N], most;

		for (unsigned int i = 0; i < N; i++)
			x[i] = 7450 + 30 * bb_rng_normal(&rng) +
			       (i % 3 ? 0 : 600 + (double)(i * 13 % 2400));
		most = bb_undisturbed_most(x, N);
		assert_true(most > 7450 + 3 * 30 && most < 8000);
	}
}

/* Where nothing disturbs it next to nothing is left out, however much the figures spread. */
static void test_one_state(void **state)
{
	struct bb_rng rng;

	(void)state;
	bb_rng_seed(&rng, 5);
	for (double spread = 1; spread < 2000; spread *= 10) {
		unsigned int out = 0;

		for (unsigned int t = 0; t < TIMES; t++) {
			double x[N], most;

			for (unsigned int i = 0; i < N; i++)
				x[i] = 7450 + spread * bb_rng_normal(&rng);
			most = bb_undisturbed_most(x, N);
			for (unsigned int i = 0; i < N; i++)
				out += x[i] > most;
		}
		assert_true(out <= TIMES * N / 100);
	}
}

static void test_few(void **state)
{
	double x[BB_UNDISTURBED_LEAST] = {100, 100, 100, 100, 100, 100, 100, 120};

	(void)state;
	assert_true(isinf(bb_undisturbed_most(x, BB_UNDISTURBED_LEAST - 1)));
	assert_true(fabs(bb_undisturbed_most(x, BB_UNDISTURBED_LEAST) - 103) < 1e-9);
	assert_true(isinf(bb_undisturbed_most(x, 0)));
}

#define GROUPS 7u
#define OF_GROUP 4u

/* 1 % of noise; the figures of groups from..to take 14 % longer. Returns how many are set aside. */
static size_t set_aside(struct bb_rng *rng, unsigned int groups, unsigned int from, unsigned int to,
			double *x)
{
	for (unsigned int i = 0; i < groups * OF_GROUP; i++)
		x[i] = (i / OF_GROUP >= from && i / OF_GROUP <= to ? 1.14 : 1) *
		       (7450 + 75 * bb_rng_normal(rng));
	return bb_undisturbed_groups(x, groups * OF_GROUP, groups);
}

/* A disturbance of seconds: three groups of seven. */
static void test_groups(void **state)
{
	struct bb_rng rng;
	size_t out = 0;
	double x[GROUPS * OF_GROUP];

	(void)state;
	bb_rng_seed(&rng, 7);
	for (unsigned int t = 0; t < TIMES; t++) {
		set_aside(&rng, GROUPS, 2, 4, x);
		for (unsigned int i = 2 * OF_GROUP; i < 5 * OF_GROUP; i++)
			assert_true(isnan(x[i]));
		out += set_aside(&rng, GROUPS, GROUPS, GROUPS, x);
	}
	assert_true(out <= TIMES * GROUPS * OF_GROUP / 50);
}

/* Of three groups nobody can tell which ones are the usual. */
static void test_few_groups(void **state)
{
	struct bb_rng rng;
	double x[GROUPS * OF_GROUP];

	(void)state;
	bb_rng_seed(&rng, 9);
	assert_int_equal(set_aside(&rng, 3, 1, 1, x), 0);
	assert_int_equal(bb_undisturbed_groups(x, 0, 0), 0);
	set_aside(&rng, 5, 5, 5, x);
	for (unsigned int i = 0; i < 2 * OF_GROUP; i++)
		x[i] = NAN; /* of two groups nothing is known: three are left */
	for (unsigned int i = 2 * OF_GROUP; i < 3 * OF_GROUP; i++)
		x[i] = 10000;
	assert_int_equal(bb_undisturbed_groups(x, 5 * OF_GROUP, 5), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mixture),    cmocka_unit_test(test_one_state),
		cmocka_unit_test(test_few),        cmocka_unit_test(test_groups),
		cmocka_unit_test(test_few_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
