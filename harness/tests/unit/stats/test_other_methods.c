/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit/stats_testing.h"

#include <errno.h>

#include "base/rng.h"
#include "bench/other_methods.h"

/* Student 1908, extra hours of sleep; R: t.test(extra ~ group, data = sleep): t = -1.8608, p-value
 * = 0.07939. */
static void test_welch_sleep(void **state)
{
	static const double a[] = {0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};
	static const double b[] = {1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};
	struct bb_other_method r;

	(void)state;
	assert_int_equal(bb_other_welch(a, 10, b, 10, 0.05, &r), 0);
	assert_near(r.statistic, 1.8608, 5e-5);
	assert_near(r.p, 0.07939, 5e-6);
	assert_near(r.ratio, 2.33 / 0.75, 1e-12);
	assert_false(r.different);
	assert_int_equal(bb_other_welch(a, 10, b, 10, 0.1, &r), 0);
	assert_true(r.different);
}

/*
 * New York ozone in May and August 1973 (airquality of R; Chambers et al. 1983). The example of R's
 * wilcox.test gives W = 127.5, p-value = 0.0001208, by the normal approximation with ties and
 * continuity correction. Its W is that of May.
 */
static void test_mann_whitney_ozone(void **state)
{
	static const double may[] = {41, 36, 12, 18, 28, 23, 19, 8, 7,  16, 11, 14,  18,
				     14, 34, 6,  30, 11, 1,  11, 4, 32, 23, 45, 115, 37};
	static const double august[] = {39, 9,  16, 78, 35, 66, 122, 89,  110, 44, 28,  65, 22,
					59, 23, 31, 44, 21, 9,  45,  168, 73,  76, 118, 84, 85};
	struct bb_other_method r, swapped;

	(void)state;
	assert_int_equal(bb_other_mann_whitney(may, N_OF(may), august, N_OF(august), 0.05, &r), 0);
	assert_same(r.statistic, 26 * 26 - 127.5);
	assert_near(r.p, 0.0001208, 5e-8);
	assert_true(r.different);
	assert_same(r.ratio, 52.0 / 18);
	assert_int_equal(bb_other_mann_whitney(august, N_OF(august), may, N_OF(may), 0.05,
					       &swapped),
			 0);
	assert_same(swapped.statistic, 127.5);
	assert_same(swapped.p, r.p);
}

/* U against a count of all pairs, with many ties. */
static void test_u_by_enumeration(void **state)
{
	struct bb_rng rng;

	(void)state;
	bb_rng_seed(&rng, 41);
	for (int i = 0; i < 200; i++) {
		size_t na = 1 + bb_rng_below(&rng, 20), nb = 1 + bb_rng_below(&rng, 20);
		double a[20], b[20], u = 0;
		struct bb_other_method r;

		for (size_t j = 0; j < 20; j++) {
			a[j] = (double)bb_rng_below(&rng, 8);
			b[j] = (double)bb_rng_below(&rng, 8);
		}
		for (size_t j = 0; j < na; j++)
			for (size_t k = 0; k < nb; k++)
				u += (b[k] > a[j]) + 0.5 * (b[k] == a[j]);
		assert_int_equal(bb_other_mann_whitney(a, na, b, nb, 0.05, &r), 0);
		assert_same(r.statistic, u);
		assert_true(r.p >= 0 && r.p <= 1);
	}
}

static void test_minimum_and_mean(void **state)
{
	static const double a[] = {100, 110, 120}, b[] = {140, 102, 130};
	struct bb_other_method r;

	(void)state;
	assert_int_equal(bb_other_minimum(a, 3, b, 3, 0.01, &r), 0);
	assert_near(r.ratio, 1.02, 1e-15);
	assert_true(r.different && isnan(r.p));
	assert_int_equal(bb_other_minimum(b, 3, a, 3, 0.03, &r), 0);
	assert_false(r.different);
	assert_int_equal(bb_other_mean(a, 3, b, 3, 0.1, &r), 0);
	assert_near(r.ratio, 124.0 / 110, 1e-15);
	assert_true(r.different);
	assert_int_equal(bb_other_mean(b, 3, a, 3, 0.1, &r), 0);
	assert_true(r.different); /* it differs in either direction */
}

static void test_degenerate(void **state)
{
	static const double one[] = {1}, two[] = {2, 2}, other[] = {3, 3}, with_nan[] = {1, NAN};
	static const double infinite[] = {1, INFINITY, INFINITY};
	struct bb_other_method r = {.ratio = 42};

	(void)state;
	assert_int_equal(bb_other_welch(one, 1, with_nan, 2, 0.05, &r), -EINVAL);
	assert_int_equal(bb_other_mann_whitney(with_nan, 2, one, 1, 0.05, &r), -EINVAL);
	assert_int_equal(bb_other_minimum(with_nan, 2, one, 1, 0.05, &r), -EINVAL);
	assert_int_equal(bb_other_mean(one, 1, one, 0, 0.05, &r), -EINVAL);
	assert_int_equal(bb_other_welch(one, 0, one, 1, 0.05, &r), -EINVAL);
	assert_same(r.ratio, 42);
	assert_int_equal(bb_other_welch(one, 1, two, 2, 0.05, &r), 0);
	assert_true(r.ratio == 2 && isnan(r.p) && !r.different);
	assert_int_equal(bb_other_welch(two, 2, two, 2, 0.05, &r), 0);
	assert_true(r.p == 1 && !r.different);
	assert_int_equal(bb_other_welch(two, 2, other, 2, 0.05, &r), 0);
	assert_true(r.p == 0 && r.different);
	assert_int_equal(bb_other_mann_whitney(two, 2, two, 2, 0.05, &r), 0);
	assert_true(r.p == 1 && !r.different && r.statistic == 2);
	assert_int_equal(bb_other_mann_whitney(one, 1, one, 1, 0.05, &r), 0);
	assert_true(r.p == 1);
	assert_int_equal(bb_other_mann_whitney(one, 1, infinite, 3, 0.05, &r), 0);
	assert_same(r.statistic, 2.5);
}

static void test_batch_medians(void **state)
{
	double x[] = {3, 1, 2, 9, 7, 8, 100}, medians[2];

	(void)state;
	assert_int_equal(bb_other_batch_medians(x, 7, 3, medians), 2);
	assert_true(medians[0] == 2 && medians[1] == 8);
	assert_int_equal(bb_other_batch_medians(x, 7, 0, medians), 0);
	assert_int_equal(bb_other_batch_medians(x, 2, 3, medians), 0);
}

/* False positives of both tests at 5 %: on normal samples of unequal spread (Welch), and of equal
 * shape (Mann-Whitney). */
static void test_size(void **state)
{
	int welch = 0, mann_whitney = 0;
	struct bb_rng rng;

	(void)state;
	bb_rng_seed(&rng, 42);
	for (int i = 0; i < 2000; i++) {
		double a[15], b[25], c[25];
		struct bb_other_method r;

		for (size_t j = 0; j < 15; j++)
			a[j] = 100 + 3 * bb_rng_normal(&rng);
		for (size_t j = 0; j < 25; j++) {
			b[j] = 100 + bb_rng_normal(&rng);
			c[j] = 100 + 3 * bb_rng_normal(&rng);
		}
		assert_int_equal(bb_other_welch(a, 15, b, 25, 0.05, &r), 0);
		welch += r.different;
		assert_int_equal(bb_other_mann_whitney(a, 15, c, 25, 0.05, &r), 0);
		mann_whitney += r.different;
	}
	assert_true(welch <= binomial_allowance(2000, 0.05) && welch > 50);
	assert_true(mann_whitney <= binomial_allowance(2000, 0.05) && mann_whitney > 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_welch_sleep),
		cmocka_unit_test(test_mann_whitney_ozone),
		cmocka_unit_test(test_u_by_enumeration),
		cmocka_unit_test(test_minimum_and_mean),
		cmocka_unit_test(test_degenerate),
		cmocka_unit_test(test_batch_medians),
		cmocka_unit_test(test_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
