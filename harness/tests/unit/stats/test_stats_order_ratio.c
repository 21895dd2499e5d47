/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit/stats_testing.h"

#include "base/rng.h"
#include "stats/estimate.h"
#include "stats/quantile.h"

/* Sets x[i] = from + i. */
static void ramp(double *x, size_t n, double from)
{
	for (size_t i = 0; i < n; i++)
		x[i] = from + (double)i;
}

/*
 * The binomial distribution at 1/2 for n = 12 has the counts 1, 12, 66 of 4096. 2 (1 + 12) / 4096 =
 * 0.0063 is within 0.025, and 2 (1 + 12 + 66) / 4096 = 0.0386 is not. So k = 2 at 5 % / 2 (David &
 * Nagaraja 2003, section 7.1).
 */
static void test_interval_is_that_of_the_two_medians(void **state)
{
	double a[12], b[12];
	struct bb_order_ratio r;

	(void)state;
	ramp(a, 12, 100);
	ramp(b, 12, 200);
	r = bb_order_ratio(a, 12, b, 12, 0.05);
	assert_near(r.ratio, 205.5 / 105.5, 1e-15);
	assert_near(r.interval.lo, 201.0 / 110.0, 1e-15);
	assert_near(r.interval.hi, 210.0 / 101.0, 1e-15);
}

/* The two extremes cover the median with probability 1 - 2^(1-n) (section 7.1). So p = 2 * 2^(1-n),
 * with the smaller n, if the samples do not overlap. */
static void test_p_of_samples_apart(void **state)
{
	double a[12], b[12];

	(void)state;
	ramp(a, 12, 100);
	ramp(b, 12, 200);
	assert_near(bb_order_ratio_p(a, 12, b, 12, 1), 4 * ldexp(1, -12), 1e-15);
	assert_near(bb_order_ratio_p(a, 12, b, 8, 1), 4 * ldexp(1, -8), 1e-15);
	assert_near(bb_order_ratio_p(a, 7, b, 12, 1), 4 * ldexp(1, -7), 1e-15);
	assert_same(bb_order_ratio_p(b, 12, a, 12, 1), 1); /* in the other direction */
	assert_same(bb_order_ratio_p(a, 12, b, 12, 3), 1); /* not three times as large */
	assert_same(bb_order_ratio_p(a, 1, b, 12, 1), 1);
}

/* a goes up to 111, b begins at 105.5. The ranks 4 and 9 are the first that do not overlap: 4 (1 +
 * 12 + 66 + 220) / 4096. */
static void test_p_of_samples_that_overlap(void **state)
{
	double a[12], b[12];

	(void)state;
	ramp(a, 12, 100);
	ramp(b, 12, 105.5);
	/* b[k - 1] = 104.5 + k > a[12 - k] = 112 - k from k = 4 on. */
	assert_near(bb_order_ratio_p(a, 12, b, 12, 1), 4 * 299.0 / 4096, 1e-14);
}

static void draw(struct bb_rng *rng, double *x, size_t n, double centre, double sd)
{
	for (size_t i = 0; i < n; i++)
		x[i] = centre * exp(sd * bb_rng_normal(rng));
	bb_sort_doubles(x, n);
}

/* p <= alpha exactly if the interval at alpha is beyond the limit, for all sizes. */
static void test_p_agrees_with_the_interval(void **state)
{
	static const double alphas[] = {0.2, 0.05, 0.01, 0.001};
	struct bb_rng rng;
	double a[40], b[40];
	int beyond = 0;

	(void)state;
	bb_rng_seed(&rng, 7);
	for (int i = 0; i < 2000; i++) {
		size_t n_a = 1 + bb_rng_below(&rng, 40), n_b = 1 + bb_rng_below(&rng, 40);
		double alpha = alphas[i % 4], p;
		struct bb_order_ratio r;

		draw(&rng, a, n_a, 1000, 0.02);
		draw(&rng, b, n_b, 1030, 0.02);
		r = bb_order_ratio(a, n_a, b, n_b, alpha);
		p = bb_order_ratio_p(a, n_a, b, n_b, 1.01);
		if ((r.interval.lo > 1.01) != (p <= alpha))
			fail_msg("n %zu, %zu: p %g, but lo %g at %g", n_a, n_b, p, r.interval.lo,
				 alpha);
		beyond += p <= alpha;
		p = bb_order_ratio_p(b, n_b, a, n_a, 1 / 1.03);
		if ((r.interval.hi < 1.03) != (p <= alpha))
			fail_msg("n %zu, %zu: p %g, but hi %g at %g", n_a, n_b, p, r.interval.hi,
				 alpha);
	}
	assert_in_range(beyond, 200, 1800); /* both outcomes occurred often */
}

/* Coverage with different spreads and sizes, for which a model of equal shapes would fail. */
static void test_coverage(void **state)
{
	struct bb_rng rng;
	double a[24], b[12];
	int missed = 0, false_p = 0;

	(void)state;
	bb_rng_seed(&rng, 11);
	for (int i = 0; i < 4000; i++) {
		struct bb_order_ratio r;

		draw(&rng, a, 24, 1000, 0.01);
		draw(&rng, b, 12, 1010, 0.05);
		r = bb_order_ratio(a, 24, b, 12, 0.05);
		missed += !(r.interval.lo <= 1.01 && 1.01 <= r.interval.hi);
		false_p += bb_order_ratio_p(a, 24, b, 12, 1.01) <= 0.05;
	}
	assert_true(missed <= binomial_allowance(4000, 0.05));
	assert_true(false_p <= binomial_allowance(4000, 0.025)); /* one side */
	assert_true(false_p > 0);
}

/* 2 * 2 / 2^n <= 0.05 needs n = 7 (0.031), and <= 0.01 needs n = 9 (0.0078). */
static void test_needs(void **state)
{
	double a[7], b[7];

	(void)state;
	assert_int_equal(bb_order_ratio_needs(0.05), 7);
	assert_int_equal(bb_order_ratio_needs(0.01), 9);
	assert_int_equal(bb_order_ratio_needs(0), 0);
	assert_int_equal(bb_order_ratio_needs(NAN), 0);
	ramp(a, 7, 1);
	ramp(b, 7, 1);
	assert_nan(bb_order_ratio(a, 6, b, 7, 0.05).interval.lo);
	assert_nan(bb_order_ratio(a, 7, b, 6, 0.05).interval.hi);
	assert_same(bb_order_ratio(a, 7, b, 6, 0.05).ratio, 3.5 / 4);
	assert_true(!isnan(bb_order_ratio(a, 7, b, 7, 0.05).interval.lo));
}

static void test_constants(void **state)
{
	double a[9] = {5, 5, 5, 5, 5, 5, 5, 5, 5};
	struct bb_order_ratio r;

	(void)state;
	r = bb_order_ratio(a, 9, a, 9, 0.05);
	assert_same(r.interval.lo, 1);
	assert_same(r.interval.hi, 1);
	assert_same(bb_order_ratio_p(a, 9, a, 9, 1), 1);
	assert_near(bb_order_ratio_p(a, 9, a, 9, 0.99), 4 * ldexp(1, -9), 1e-15);
}

static void test_nonsense(void **state)
{
	double good[2] = {1, 2}, zero[2] = {0, 1}, nan[2] = {1, NAN}, inf[2] = {1, INFINITY},
	       down[2] = {2, 1};
	const double *const bad[] = {zero, nan, inf, down};

	(void)state;
	for (size_t i = 0; i < N_OF(bad); i++) {
		assert_nan(bb_order_ratio(bad[i], 2, good, 2, 0.05).ratio);
		assert_nan(bb_order_ratio(good, 2, bad[i], 2, 0.05).ratio);
		assert_nan(bb_order_ratio_p(bad[i], 2, good, 2, 1));
		assert_nan(bb_order_ratio_p(good, 2, bad[i], 2, 1));
	}
	assert_nan(bb_order_ratio(good, 0, good, 2, 0.05).ratio);
	assert_nan(bb_order_ratio(good, 2, good, 2, 1).ratio);
	assert_nan(bb_order_ratio_p(good, 0, good, 2, 1));
	assert_nan(bb_order_ratio_p(good, 2, good, 2, 0));
	assert_nan(bb_order_ratio_p(good, 2, good, 2, NAN));
	assert_nan(bb_order_ratio_p(good, 2, good, 2, INFINITY));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_interval_is_that_of_the_two_medians),
		cmocka_unit_test(test_p_of_samples_apart),
		cmocka_unit_test(test_p_of_samples_that_overlap),
		cmocka_unit_test(test_p_agrees_with_the_interval),
		cmocka_unit_test(test_coverage),
		cmocka_unit_test(test_needs),
		cmocka_unit_test(test_constants),
		cmocka_unit_test(test_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
