/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stats_testing.h"

#include "base/rng.h"
#include "stats/pooled_spread.h"
#include "stats/special.h"

static void test_nothing(void **state)
{
	(void)state;
	assert_nan(bb_pool_spreads(NULL, 0, 0.05).half_width);
}

/* 1, 2, 3, 4 have the variance 5/3. One occasion: the interval for one more figure, t(0.975, 3 df)
 * = 3.182446 (any table). */
static void test_one_occasion(void **state)
{
	const double x[] = {1, 2, 3, 4};
	struct bb_spread s = bb_spread_of(x, N_OF(x));
	struct bb_pooled_spread p = bb_pool_spreads(&s, 1, 0.05);

	(void)state;
	assert_near(s.sd, sqrt(5.0 / 3), 1e-12);
	assert_near(p.half_width, 3.182446 * sqrt(5.0 / 3 * 5 / 4), 1e-5);
	assert_same(p.df, 3);
}

/* Variances 4 and 9 of 5 and 7 values agree: (4 * 4 + 6 * 9) / 10 = 7, t(0.975, 10 df) = 2.228139.
 */
static void test_alike(void **state)
{
	const struct bb_spread two[] = {{2, 5}, {3, 7}}, none[] = {{0, 5}, {0, 5}};
	struct bb_pooled_spread p = bb_pool_spreads(two, 2, 0.05);

	(void)state;
	assert_near(p.half_width, 2.228139 * sqrt(7 * (1 + 1.0 / 12)), 1e-5);
	assert_same(p.df, 10);
	assert_same(bb_pool_spreads(none, 2, 0.05).half_width, 0);
}

/* One odd occasion among some alike: its part shrinks with every usual one, and is not nothing. */
static void test_odd_occasion(void **state)
{
	struct bb_spread x[12] = {{7, 7}};
	double alone = bb_pool_spreads(x, 1, 0.05).half_width, before = alone, usual;

	(void)state;
	for (size_t n = 1; n < N_OF(x); n++) {
		double now;

		x[n] = (struct bb_spread){1, 7};
		now = bb_pool_spreads(x, n + 1, 0.05).half_width;
		assert_true(now < before);
		before = now;
	}
	usual = bb_pool_spreads(&x[1], N_OF(x) - 1, 0.05).half_width;
	assert_true(before < alone / 3);
	assert_true(before > 1.2 * usual);
	/* of one that has no spread at all the others know */
	x[0].sd = 0;
	assert_true(bb_pool_spreads(x, 2, 0.05).half_width > 0);
}

/* Of 4000 machines with 5 self-tests of 7 runs, the next figure is within for 95 %, whether all
 * occasions are alike or one in five is four times as noisy. */
static void test_coverage(void **state)
{
	const unsigned int machines = 4000;
	struct bb_rng rng;

	(void)state;
	bb_rng_seed(&rng, 4);
	for (int odd = 0; odd < 2; odd++) {
		unsigned int held = 0;

		for (unsigned int i = 0; i < machines; i++) {
			struct bb_spread s[5];
			double x[7], sd = 1, next;

			for (size_t k = 0; k < N_OF(s); k++) {
				sd = odd && bb_rng_below(&rng, 5) == 0 ? 4 : 1;
				for (size_t j = 0; j < N_OF(x); j++)
					x[j] = sd * bb_rng_normal(&rng);
				s[k] = bb_spread_of(x, N_OF(x));
			}
			sd = odd && bb_rng_below(&rng, 5) == 0 ? 4 : 1;
			next = sd * bb_rng_normal(&rng);
			held += fabs(next) <= bb_pool_spreads(s, N_OF(s), 0.05).half_width;
		}
		if (!(held >= 0.93 * machines && held <= 0.98 * machines))
			fail_msg("%u of %u held, %d", held, machines, odd);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing),  cmocka_unit_test(test_one_occasion),
		cmocka_unit_test(test_alike),    cmocka_unit_test(test_odd_occasion),
		cmocka_unit_test(test_coverage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
