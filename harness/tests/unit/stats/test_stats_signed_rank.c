/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit/signed_rank_testing.h"
#include "unit/stats_testing.h"

#include <errno.h>

#include "base/rng.h"
#include "stats/quantile.h"
#include "stats/paired.h"

/*
 * Hollander & Wolfe 1973/1999, table 3.1: Hamilton depression scale factor IV of nine patients
 * before (x) and after (y) a tranquilliser. Example 3.1: T+ of x - y is 40, one-sided p = 0.01953
 * (R: wilcox.test(x, y, paired = TRUE, alternative = "greater"): V = 40, p-value = 0.01953).
 * Examples 3.3 and 3.4: for y - x, the estimate is -0.46 and the 96.1 % interval (-0.786, -0.010).
 */
static void test_hollander_wolfe_depression(void **state)
{
	static const double x[] = {1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30};
	static const double y[] = {0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29};
	struct bb_signed_rank result;
	struct signed_rank_p p;
	double d[9];
	size_t k;

	(void)state;
	for (size_t i = 0; i < 9; i++)
		d[i] = y[i] - x[i];
	result = bb_signed_rank(d, 9, 0.05);
	assert_near(result.estimate, -0.46, 1e-12);
	assert_near(result.interval.lo, -0.786, 1e-12);
	assert_near(result.interval.hi, -0.010, 1e-12);
	p = signed_rank_p(d, 9, 0);
	assert_near(p.two_sided, 2 * 0.01953125, 1e-15);
	assert_same(p.less, 10.0 / 512);
	/* The printed confidence, 96.1 %, is 1 - 2 P(T <= 5). */
	k = bb_signed_rank_critical(9, 1 - 0.961);
	assert_int_equal(k, 5);
	k = bb_signed_rank_critical(9, 1 - 0.960);
	assert_int_equal(k, 6);
}

/* The largest T with a two-sided probability <= 5 % and <= 1 %: Wilcoxon & Wilcox 1964; McCornack
 * 1965 (exact for n > 20). */
static void test_critical_values(void **state)
{
	static const size_t five[][2] = {{6, 0},   {7, 2},    {8, 3},    {9, 5},   {10, 8},
					 {11, 10}, {12, 13},  {13, 17},  {14, 21}, {15, 25},
					 {16, 29}, {17, 34},  {18, 40},  {19, 46}, {20, 52},
					 {25, 89}, {30, 137}, {40, 264}, {50, 434}};
	static const size_t one[][2] = {{8, 0},   {9, 1},   {10, 3},  {11, 5},  {12, 7},
					{15, 15}, {20, 37}, {25, 68}, {30, 109}};
	size_t k;

	(void)state;
	for (size_t i = 0; i < N_OF(five); i++) {
		k = bb_signed_rank_critical(five[i][0], 0.05);
		assert_int_equal(k, five[i][1] + 1);
	}
	for (size_t i = 0; i < N_OF(one); i++) {
		k = bb_signed_rank_critical(one[i][0], 0.01);
		assert_int_equal(k, one[i][1] + 1);
	}
	for (size_t n = 0; n < 6; n++) {
		k = bb_signed_rank_critical(n, 0.05);
		assert_int_equal(k, 0);
	}
	/* Exactly 2 / 2^5: equality counts. */
	k = bb_signed_rank_critical(5, 0.0625);
	assert_int_equal(k, 1);
	assert_int_equal(bb_signed_rank_critical(9, 0), 0);
	assert_int_equal(bb_signed_rank_critical(9, NAN), 0);
}

/* At the switch from exact to approximate, the two differ by less than a unit in about 20 000. */
static void test_critical_handover(void **state)
{
	size_t exact, approximate;

	(void)state;
	exact = bb_signed_rank_critical(BB_SIGNED_RANK_EXACT_MAX, 0.05);
	approximate = bb_signed_rank_critical(BB_SIGNED_RANK_EXACT_MAX + 1, 0.05);
	/* One more difference moves the mean by 301 / 2, and the critical value by a little
	 * less. */
	assert_in_range(approximate - exact, 125, 150);
}

/* Twice the sum of the ranks of |d| with d > 0, by counting: 2 rank(i) = 2 #{<} + #{=} + 1. Zeros
 * have ranks, too. */
static size_t rank_sum_x2(const double *d, size_t n, unsigned int flip)
{
	size_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		size_t below = 0, equal = 0;

		if (d[i] == 0 || (d[i] > 0) == (flip >> i & 1))
			continue;
		for (size_t j = 0; j < n; j++) {
			below += fabs(d[j]) < fabs(d[i]);
			equal += fabs(d[j]) == fabs(d[i]);
		}
		sum += 2 * below + equal + 1;
	}
	return sum;
}

/* p-values against all 2^n sign flips of the same values: without ties, with ties, with zeros, all
 * equal. */
static void test_p_by_enumeration(void **state)
{
	struct bb_rng rng;

	(void)state;
	bb_rng_seed(&rng, 11);
	for (size_t n = 1; n <= 12; n++) {
		for (int kind = 0; kind < 4; kind++) {
			size_t less = 0, greater = 0, seen;
			struct signed_rank_p p;
			double d[12];

			for (size_t i = 0; i < n; i++) {
				d[i] = bb_rng_normal(&rng) + 0.5;
				if (kind)
					d[i] = kind == 1   ? ceil(2 * d[i]) - 0.5
					       : kind == 2 ? round(2 * d[i])
							   : 1;
			}
			seen = rank_sum_x2(d, n, 0);
			for (unsigned int flip = 0; flip < 1u << n; flip++) {
				size_t t = rank_sum_x2(d, n, flip);

				less += t <= seen;
				greater += t >= seen;
			}
			p = signed_rank_p(d, n, 0);
			assert_same(p.less, (double)less / (1u << n));
			assert_same(p.greater, (double)greater / (1u << n));
			assert_same(p.two_sided, fmin(1, 2 * fmin(p.less, p.greater)));
		}
	}
}

static void brute_walsh(const double *d, size_t n, double *ret_walsh)
{
	size_t m = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t j = i; j < n; j++)
			ret_walsh[m++] = 0.5 * (d[i] + d[j]);
	bb_sort_doubles(ret_walsh, m);
}

/* Estimate and interval equal those from all sorted Walsh averages, with ties and negative
 * values. */
static void test_interval_by_enumeration(void **state)
{
	struct bb_rng rng;

	(void)state;
	bb_rng_seed(&rng, 12);
	for (size_t n = 1; n <= 60; n++) {
		double d[60], walsh[60 * 61 / 2];
		struct bb_signed_rank result;
		size_t m = n * (n + 1) / 2, k;

		for (size_t i = 0; i < n; i++)
			d[i] = n % 3 ? bb_rng_normal(&rng) : round(2 * bb_rng_normal(&rng));
		brute_walsh(d, n, walsh);
		result = bb_signed_rank(d, n, 0.05);
		k = bb_signed_rank_critical(n, 0.05);
		assert_same(result.estimate, 0.5 * (walsh[(m + 1) / 2 - 1] + walsh[m / 2]));
		if (k) {
			assert_same(result.interval.lo, walsh[k - 1]);
			assert_same(result.interval.hi, walsh[m - k]);
		} else {
			assert_true(isnan(result.interval.lo) && isnan(result.interval.hi));
		}
	}
}

/* Of three or more values, one wild value never decides the estimate. The interval is that of
 * bb_signed_rank(), and so is the estimate from BB_FEW values on. */
static void test_one_wild(void **state)
{
	(void)state;
	for (size_t n = 3; n <= 30; n++)
		for (int sign = -1; sign <= 1; sign += 2) {
			struct bb_signed_rank robust, plain;
			double d[30];

			for (size_t i = 0; i < n; i++)
				d[i] = 46 + 0.01 * (double)i;
			d[n / 2] = sign * 42.03e7;
			robust = bb_robust_rank(d, n, 0.05);
			plain = bb_signed_rank(d, n, 0.05);
			assert_true(robust.estimate >= 46 && robust.estimate < 46.3);
			assert_memory_equal(&robust.interval, &plain.interval,
					    sizeof(plain.interval));
			if (n >= BB_FEW)
				assert_same(robust.estimate, plain.estimate);
		}
}

/* The interval inverts the test: a theta just inside its ends is kept, one just outside is
 * rejected. */
static void test_interval_inverts_test(void **state)
{
	struct bb_rng rng;

	(void)state;
	bb_rng_seed(&rng, 13);
	for (size_t n = 6; n <= 40; n++) {
		struct bb_signed_rank result;
		struct signed_rank_p p;
		double d[40];

		for (size_t i = 0; i < n; i++)
			d[i] = bb_rng_normal(&rng);
		result = bb_signed_rank(d, n, 0.05);
		for (int side = -1; side <= 1; side += 2) {
			double end = side < 0 ? result.interval.lo : result.interval.hi;

			p = signed_rank_p(d, n, end - side * 1e-9);
			assert_true(p.two_sided > 0.05);
			p = signed_rank_p(d, n, end + side * 1e-9);
			assert_true(p.two_sided <= 0.05);
			assert_true((side < 0 ? p.greater : p.less) <= 0.025);
		}
	}
}

/*
 * Coverage over all 2^n sign flips, which is what the random order of blocks gives: the interval
 * holds 0 in >= 95 % of them, with ties and zeros, too.
 */
static void test_coverage_by_enumeration(void **state)
{
	static const double continuous[] = {0.3, 1.1, 2.7, 0.9, 5.3, 3.1, 0.2, 8.9, 1.7, 4.1};
	static const double tied[] = {0, 1, 1, 1, 2, 2, 0, 3, 3, 50};
	const double *const magnitudes[] = {continuous, tied};

	(void)state;
	for (size_t set = 0; set < 2; set++) {
		unsigned int missed = 0;

		for (unsigned int flip = 0; flip < 1u << 10; flip++) {
			struct bb_signed_rank result;
			double d[10];

			for (size_t i = 0; i < 10; i++)
				d[i] = flip >> i & 1 ? -magnitudes[set][i] : magnitudes[set][i];
			result = bb_signed_rank(d, 10, 0.05);
			missed += result.interval.lo > 0 || result.interval.hi < 0;
		}
		assert_true(missed <= 0.05 * (1u << 10));
		assert_true(missed > 0);
	}
}

/* Negating the differences negates the estimate and exchanges the ends, exactly. */
static void test_antisymmetry(void **state)
{
	struct bb_signed_rank plus, minus;
	double d[31], negated[31];
	struct bb_rng rng;

	(void)state;
	bb_rng_seed(&rng, 14);
	for (size_t i = 0; i < 31; i++) {
		d[i] = bb_rng_normal(&rng) * 1e-3;
		negated[i] = -d[i];
	}
	plus = bb_signed_rank(d, 31, 0.05);
	minus = bb_signed_rank(negated, 31, 0.05);
	assert_same(minus.estimate, -plus.estimate);
	assert_same(minus.interval.lo, -plus.interval.hi);
	assert_same(minus.interval.hi, -plus.interval.lo);
}

static void test_degenerate(void **state)
{
	static const double zeros[24] = {0}, one[] = {0.7}, with_nan[] = {1, NAN},
			    infinite[] = {1, -INFINITY};
	struct bb_signed_rank result;

	(void)state;
	assert_nan(bb_signed_rank(with_nan, 2, 0.05).estimate);
	assert_nan(bb_signed_rank(infinite, 2, 0.05).estimate);
	assert_nan(bb_signed_rank(one, 1, 1).estimate);
	assert_nan(bb_signed_rank(one, 1, NAN).estimate);
	result = bb_signed_rank(NULL, 0, 0.05);
	assert_true(isnan(result.estimate) && isnan(result.interval.lo) &&
		    isnan(result.interval.hi));
	result = bb_signed_rank(one, 1, 0.05);
	assert_true(result.estimate == 0.7 && isnan(result.interval.lo));
	result = bb_signed_rank(zeros, 24, 0.05);
	assert_true(result.estimate == 0 && result.interval.lo == 0 && result.interval.hi == 0);
}

/* Normal differences about 0.01: coverage and power by the exact distribution (24, 100) and beyond
 * it (400). */
static void test_simulated_coverage(void **state)
{
	static const size_t sizes[] = {24, 100, 400};
	static const int tries[] = {2000, 300, 100};
	static double d[400];
	struct bb_rng rng;

	(void)state;
	bb_rng_seed(&rng, 15);
	for (size_t s = 0; s < N_OF(sizes); s++) {
		int missed = 0, rejected = 0;

		for (int i = 0; i < tries[s]; i++) {
			struct bb_signed_rank result;

			for (size_t j = 0; j < sizes[s]; j++)
				d[j] = 0.01 + 0.02 * bb_rng_normal(&rng);
			result = bb_signed_rank(d, sizes[s], 0.05);
			missed += result.interval.lo > 0.01 || result.interval.hi < 0.01;
			rejected += result.interval.lo > 0 || result.interval.hi < 0;
		}
		assert_true(missed <= binomial_allowance(tries[s], 0.05));
		assert_true(missed > 0);
		/* Half a sigma from 0: the power is 0.63 at n = 24. */
		assert_true(rejected > tries[s] / 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_wild),
		cmocka_unit_test(test_hollander_wolfe_depression),
		cmocka_unit_test(test_critical_values),
		cmocka_unit_test(test_critical_handover),
		cmocka_unit_test(test_p_by_enumeration),
		cmocka_unit_test(test_interval_by_enumeration),
		cmocka_unit_test(test_interval_inverts_test),
		cmocka_unit_test(test_coverage_by_enumeration),
		cmocka_unit_test(test_antisymmetry),
		cmocka_unit_test(test_degenerate),
		cmocka_unit_test(test_simulated_coverage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
