/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit/stats_testing.h"

#include "stats/special.h"

/* Elementary cases of the incomplete beta function: I_x(a, 1) = x^a, I_x(1, b) = 1 - (1 - x)^b,
 * I_x(1/2, 1/2) = 2/pi asin(sqrt x). */
static void test_incomplete_beta(void **state)
{
	(void)state;
	for (double x = 0; x <= 1; x += 0.0625) {
		assert_near(bb_incomplete_beta(3.5, 1, x), pow(x, 3.5), 1e-14);
		assert_near(bb_incomplete_beta(1, 40, x), 1 - pow(1 - x, 40), 1e-13);
		assert_near(bb_incomplete_beta(0.5, 0.5, x), M_2_PI * asin(sqrt(x)), 1e-13);
		assert_near(bb_incomplete_beta(7, 2.5, x) + bb_incomplete_beta(2.5, 7, 1 - x), 1,
			    1e-14);
	}
	assert_nan(bb_incomplete_beta(0, 1, 0.5));
	assert_nan(bb_incomplete_beta(1, 1, NAN));
	assert_nan(bb_incomplete_beta(1, 1, 1.5));
}

/* Closed forms of Student's t: df = 1 is the Cauchy distribution, df = 2 gives 1 - |t| / sqrt(2 +
 * t^2). Critical values: Student 1925. */
static void test_student(void **state)
{
	(void)state;
	for (double t = -5; t <= 5; t += 0.5) {
		assert_near(bb_student_two_sided(t, 1), 1 - M_2_PI * atan(fabs(t)), 1e-13);
		assert_near(bb_student_two_sided(t, 2), 1 - fabs(t) / sqrt(2 + t * t), 1e-13);
	}
	assert_near(bb_student_critical(0.05, 1), 12.706, 5e-4);
	assert_near(bb_student_critical(0.05, 10), 2.228, 5e-4);
	assert_near(bb_student_critical(0.01, 19), 2.861, 5e-4);
	assert_near(bb_student_critical(0.05, 1e7), 1.959964, 1e-6);
	assert_same(bb_student_two_sided(INFINITY, 3), 0);
	assert_nan(bb_student_two_sided(NAN, 3));
	assert_nan(bb_student_two_sided(1, 0));
	assert_nan(bb_student_critical(0, 3));
	assert_near(bb_normal_upper(1.959963984540054), 0.025, 1e-15);
}

/* Against the sum of the terms, computed by recurrence. */
static void test_binomial_cdf(void **state)
{
	(void)state;
	for (unsigned int n = 1; n <= 60; n += 7) {
		for (double p = 0.05; p < 1; p += 0.15) {
			double term = pow(1 - p, n), sum = 0;

			for (unsigned int k = 0; k <= n; k++) {
				sum += term;
				assert_near(bb_binomial_cdf(k, n, p), sum, 1e-12);
				term *= (n - k) * p / ((k + 1) * (1 - p));
			}
		}
	}
	assert_same(bb_binomial_cdf(0, 0, 0.5), 1);
	assert_same(bb_binomial_cdf(5, 3, 0.5), 1);
	assert_same(bb_binomial_cdf(2, 3, 0), 1);
	assert_same(bb_binomial_cdf(2, 3, 1), 0);
	assert_nan(bb_binomial_cdf(1, 3, NAN));
}

/* Upper ends of the 95 % intervals in Newcombe 1998 (Statistics in Medicine 17:857), table I,
 * "Clopper-Pearson". They leave 2.5 % on their side. */
static void test_newcombe(void **state)
{
	static const struct {
		uint64_t k, n;
		double hi;
	} table[] = {
		{81, 263, 0.3676},
		{15, 148, 0.1617},
		{0, 20, 0.1684},
		{1, 29, 0.1776},
	};

	(void)state;
	for (size_t i = 0; i < N_OF(table); i++)
		assert_near(bb_clopper_pearson_upper(table[i].k, table[i].n, 0.025), table[i].hi,
			    5e-5);
}

/* Conover 1971, p. 97. In the example of R's binom.test(682, 925), the upper end is 0.7654066. */
static void test_conover(void **state)
{
	(void)state;
	assert_near(bb_clopper_pearson_upper(682, 925, 0.025), 0.7654066, 5e-8);
}

/* At the ends, the closed forms; between them, the equation that defines the limit. */
static void test_clopper_pearson(void **state)
{
	(void)state;
	assert_near(bb_clopper_pearson_upper(0, 300, 0.05), 1 - pow(0.05, 1.0 / 300), 1e-14);
	assert_same(bb_clopper_pearson_upper(300, 300, 0.05), 1);
	for (uint64_t k = 1; k < 100; k += 7) {
		double hi = bb_clopper_pearson_upper(k, 100, 0.05);

		assert_near(bb_binomial_cdf(k, 100, hi), 0.05, 1e-10);
	}
	assert_same(bb_clopper_pearson_upper(0, 0, 0.05), 1);
	assert_nan(bb_clopper_pearson_upper(2, 1, 0.05));
	assert_nan(bb_clopper_pearson_upper(1, 2, NAN));
}

/* "Exact" means that the coverage is at least 95 % for every p. The coverage is summed over all k,
 * on a grid of p. */
static void test_clopper_pearson_coverage(void **state)
{
	double hi[21];

	(void)state;
	for (uint64_t k = 0; k <= 20; k++)
		hi[k] = bb_clopper_pearson_upper(k, 20, 0.05);
	for (double p = 0.01; p < 1; p += 0.01) {
		double covered = 0;

		for (uint64_t k = 0; k <= 20; k++)
			if (p <= hi[k])
				covered += bb_binomial_cdf(k, 20, p) -
					   (k ? bb_binomial_cdf(k - 1, 20, p) : 0);
		assert_true(covered >= 0.95 - 1e-12);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_incomplete_beta),
		cmocka_unit_test(test_student),
		cmocka_unit_test(test_binomial_cdf),
		cmocka_unit_test(test_newcombe),
		cmocka_unit_test(test_conover),
		cmocka_unit_test(test_clopper_pearson),
		cmocka_unit_test(test_clopper_pearson_coverage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
