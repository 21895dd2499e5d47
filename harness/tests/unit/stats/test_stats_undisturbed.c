/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the figures that were measured while the machine was at its best. */
#include "unit/stats_testing.h"

#include "base/rng.h"
#include "stats/loads.h"

#define N 200u
#define TIMES 50u

/* One figure in three was measured on a machine that was 8 to 40 % slower. */
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

/* If nothing disturbs the machine, almost no figure is left out, however much they vary. */
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

/* Makes figures with 1 % of noise. Those of the groups from..to are 14 % longer. Returns how many
 * are set aside. */
static size_t set_aside(struct bb_rng *rng, unsigned int groups, unsigned int from, unsigned int to,
			double *x)
{
	for (unsigned int i = 0; i < groups * OF_GROUP; i++)
		x[i] = (i / OF_GROUP >= from && i / OF_GROUP <= to ? 1.14 : 1) *
		       (7450 + 75 * bb_rng_normal(rng));
	return bb_undisturbed_groups(x, groups * OF_GROUP, groups);
}

/* A disturbance of some seconds affects three groups of seven. */
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

/* With three groups, it is unknown which of them are the usual ones. */
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
		x[i] = NAN; /* two groups have no figures: three are left */
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
