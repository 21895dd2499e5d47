/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit/stats_testing.h"

#include "base/rng.h"
#include "stats/quantile.h"

/*
 * Type 7 by its definition, Hyndman & Fan 1996: p(k) = (k - 1) / (n - 1). So the k-th of n values
 * is the quantile of exactly that p, and quantiles between two values are linear.
 */
static void test_type_7_definition(void **state)
{
	static const double x[] = {1, 2, 4, 8, 16};

	(void)state;
	for (size_t k = 0; k < N_OF(x); k++)
		assert_same(bb_quantile_sorted(x, N_OF(x), (double)k / 4), x[k]);
	assert_same(bb_quantile_sorted(x, N_OF(x), 0.125), 1.5);
	assert_same(bb_quantile_sorted(x, N_OF(x), 0.875), 12);
}

/* R: quantile(x <- 1:10, c(.05, .25, .5, .9)) of type 7 is 1.45, 3.25, 5.5, 9.1, by h = 1 + 9 p. */
static void test_one_to_ten(void **state)
{
	static const double x[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};

	(void)state;
	assert_near(bb_quantile_sorted(x, 10, 0.05), 1.45, 1e-14);
	assert_near(bb_quantile_sorted(x, 10, 0.25), 3.25, 1e-14);
	assert_near(bb_quantile_sorted(x, 10, 0.5), 5.5, 1e-14);
	assert_near(bb_quantile_sorted(x, 10, 0.9), 9.1, 1e-14);
}

static void test_degenerate(void **state)
{
	static const double one[] = {7}, infinite[] = {1, 2, INFINITY};
	struct bb_sorted none = {0};

	(void)state;
	assert_nan(bb_quantile_sorted(one, 0, 0.5));
	assert_nan(bb_hist_quantile(&none, 0.5));
	for (double p = 0; p <= 1; p += 0.25)
		assert_same(bb_quantile_sorted(one, 1, p), 7);
	assert_nan(bb_quantile_sorted(one, 1, -0.01));
	assert_nan(bb_quantile_sorted(one, 1, 1.01));
	assert_nan(bb_quantile_sorted(one, 1, NAN));
	assert_same(bb_quantile_sorted(infinite, 3, 0.5), 2);
	assert_true(isinf(bb_quantile_sorted(infinite, 3, 1)));
}

static void test_median(void **state)
{
	double odd[] = {5, 1, 3}, even[] = {4, 1, 3, 2}, with_nan[] = {1, NAN, 3};

	(void)state;
	assert_same(bb_median(odd, 3), 3);
	assert_same(bb_median(even, 4), 2.5);
	assert_nan(bb_median(with_nan, 3));
	assert_nan(bb_median(odd, 0));
	assert_same(bb_median(odd, 1), 1);
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Against qsort(), with ties and NANs, for sizes around the switch from insertion sort to heap
 * sort. */
static void test_sort(void **state)
{
	struct bb_rng rng;

	(void)state;
	bb_rng_seed(&rng, 1);
	for (size_t n = 0; n < 200; n++) {
		double x[200], want[200];
		size_t n_numbers = 0;

		for (size_t i = 0; i < n; i++) {
			x[i] = bb_rng_below(&rng, 10) ? floor(bb_rng_normal(&rng) * 20) : NAN;
			if (!isnan(x[i]))
				want[n_numbers++] = x[i];
		}
		qsort(want, n_numbers, sizeof(*want), ascending);
		bb_sort_doubles(x, n);
		for (size_t i = 0; i < n_numbers; i++)
			assert_same(x[i], want[i]);
		for (size_t i = n_numbers; i < n; i++)
			assert_nan(x[i]);
	}
}

/* The quantiles of a histogram are exactly those of its expanded samples. */
static void test_hist_equals_expanded(void **state)
{
	struct bb_rng rng;

	(void)state;
	bb_rng_seed(&rng, 2);
	for (size_t n = 1; n < 300; n += 1 + n / 7) {
		struct bb_sorted sorted;
		struct bb_hist hist;
		double x[300];

		hist = (struct bb_hist){0};
		for (size_t i = 0; i < n; i++) {
			uint64_t v = 100 + bb_rng_below(&rng, n % 3 ? 8 : 3000);

			x[i] = (double)v;
			bb_hist_add(&hist, v, 1);
		}
		bb_hist_sort(&hist, &sorted);
		bb_sort_doubles(x, n);
		for (int i = 0; i <= 200; i++)
			assert_same(bb_hist_quantile(&sorted, i / 200.0),
				    bb_quantile_sorted(x, n, i / 200.0));
		bb_sorted_done(&sorted);
		bb_hist_done(&hist);
	}
}

/* Ten million samples, as bins with large counts. */
static void test_ten_million(void **state)
{
	struct bb_hist_bin bins[] = {{10, 2500000}, {20, 2500000}, {30, 4999999}, {1000000, 1}};
	struct bb_sorted s = {bins, N_OF(bins), 10000000};

	(void)state;
	assert_same(bb_hist_quantile(&s, 0), 10);
	assert_same(bb_hist_quantile(&s, 0.2), 10);
	/* h = 2499999.75 is between the last 10 and the first 20. */
	assert_near(bb_hist_quantile(&s, 0.25), 17.5, 1e-8);
	assert_near(bb_hist_quantile(&s, 0.5), 25, 1e-8);
	assert_same(bb_hist_quantile(&s, 0.9999), 30);
	assert_same(bb_hist_quantile(&s, 1), 1000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_type_7_definition),
		cmocka_unit_test(test_one_to_ten),
		cmocka_unit_test(test_degenerate),
		cmocka_unit_test(test_median),
		cmocka_unit_test(test_sort),
		cmocka_unit_test(test_hist_equals_expanded),
		cmocka_unit_test(test_ten_million),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
