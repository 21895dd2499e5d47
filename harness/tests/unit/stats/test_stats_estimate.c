/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit/stats_testing.h"

#include "base/rng.h"
#include "stats/special.h"
#include "stats/estimate.h"
#include "stats/quantile.h"

/* Returns a sorted histogram of x[n]; the caller frees it. */
static struct bb_sorted sorted_of(const uint64_t *x, size_t n)
{
	struct bb_sorted sorted;
	struct bb_hist hist;

	hist = (struct bb_hist){0};
	for (size_t i = 0; i < n; i++)
		bb_hist_add(&hist, x[i], 1);
	bb_hist_sort(&hist, &sorted);
	bb_hist_done(&hist);
	return sorted;
}

static double tick_of(const uint64_t *x, size_t n)
{
	struct bb_sorted s = sorted_of(x, n);
	double tick = bb_tick(&s);

	bb_sorted_done(&s);
	return tick;
}

#define TICK_OF(...)                                                                               \
	tick_of((const uint64_t[]){__VA_ARGS__},                                                   \
		sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static void test_tick(void **state)
{
	struct bb_sorted none = {0};

	(void)state;
	assert_same(bb_tick(&none), 1);
	assert_same(TICK_OF(100), 1);
	assert_same(TICK_OF(100, 100, 100), 1);
	assert_same(TICK_OF(80, 120, 120, 200), 40);
	assert_same(TICK_OF(85, 125, 205), 40); /* by differences: the offset does not matter */
	assert_same(TICK_OF(100, 101, 115, 180), 1);
	assert_same(TICK_OF(0, 0, 40), 40); /* an empty program on a coarse clock */
	/* One outlier beside a constant gives no tick. */
	assert_same(TICK_OF(100, 100, 100, 1000000), 1);
	/* Values that the histogram rounds: a tick of 64 ns is still found, and exact values have
	 * priority. */
	assert_same(TICK_OF(8000, 8064, 8192, 8128, 8256), 64);
	assert_same(TICK_OF(4000, 4040, 4080, 4120, 4133), 40);
}

/* A clock of 24 MHz: a difference of k ticks reads as floor or ceil of k * 41.67 ns. */
static void test_tick_not_whole(void **state)
{
	uint64_t x[400];
	struct bb_rng rng;

	(void)state;
	bb_rng_seed(&rng, 3);
	for (size_t i = 0; i < N_OF(x); i++) {
		double start = floor(bb_rng_double(&rng) * 1e6),
		       cost = 110 + fabs(bb_rng_normal(&rng)) * 30;
		double end = floor(start + cost * 24e-3 + bb_rng_double(&rng));

		x[i] = (uint64_t)(floor(end * 1e3 / 24) - floor(start * 1e3 / 24));
	}
	assert_near(tick_of(x, N_OF(x)), 1e3 / 24, 0.5);
	/* Four values 1 ns apart are not due to rounding. */
	assert_same(TICK_OF(83, 84, 85, 125, 166), 1);
	assert_same(TICK_OF(83, 84, 100, 166), 1);
}

/* T = med + max(5 IQR, 3 tick, 10 ns). Each of the three terms is the largest once. */
static void test_threshold(void **state)
{
	static const uint64_t wide[] = {100, 110, 120, 130, 140},
			      narrow[] = {100, 100, 100, 101, 5000},
			      coarse[] = {80, 120, 120, 120, 120, 120, 120, 5000};
	struct bb_sorted w = sorted_of(wide, 5), n = sorted_of(narrow, 5), c = sorted_of(coarse, 8),
			 none = {0};

	(void)state;
	assert_same(bb_censor_series(&w).threshold_ns, 120 + 5 * 20);
	assert_same(bb_censor_series(&n).threshold_ns, 100 + 10);
	assert_same(bb_censor_series(&c).threshold_ns, 120 + 3 * 40);
	assert_same(100 + bb_censor_margin(1, 40), 100 + 120);
	assert_same(bb_censor_margin(1, NAN), 10);
	assert_nan(bb_censor_series(&none).threshold_ns);
	bb_sorted_done(&w);
	bb_sorted_done(&n);
	bb_sorted_done(&c);
}

/* The threshold is 100 + 10. A value equal to it counts in the mean, the one above does not. */
static void test_censored_mean_and_shares(void **state)
{
	static const uint64_t x[] = {100, 100, 100, 100, 100, 100, 100, 100,
				     100, 100, 100, 100, 100, 110, 111, 694};
	struct bb_sorted s = sorted_of(x, N_OF(x)), none = {0};
	struct bb_censor c = bb_censor_series(&s);

	(void)state;
	assert_same(c.threshold_ns, 110);
	assert_same(c.mean_ns, 1410 / 14.0);
	assert_same(c.share_of_n, 0.125);
	assert_same(c.share_of_sum, 805 / 2215.0);
	c = bb_censor_series(&none);
	assert_true(isnan(c.mean_ns) && isnan(c.share_of_n) && isnan(c.share_of_sum));
	bb_sorted_done(&s);
}

/* All zero: the share of a sum of 0 is 0 and not NAN. Then one value, and none. */
static void test_censor_series_degenerate(void **state)
{
	static const uint64_t zero[] = {0, 0, 0}, one[] = {42};
	struct bb_sorted z = sorted_of(zero, 3), o = sorted_of(one, 1), none = {0};
	struct bb_censor c = bb_censor_series(&z);

	(void)state;
	assert_same(c.mean_ns, 0);
	assert_same(c.share_of_sum, 0);
	c = bb_censor_series(&o);
	assert_same(c.tick_ns, 1);
	assert_same(c.threshold_ns, 52);
	assert_same(c.mean_ns, 42);
	assert_same(c.share_of_n, 0);
	c = bb_censor_series(&none);
	assert_true(isnan(c.threshold_ns) && isnan(c.mean_ns) && isnan(c.share_of_n));
	bb_sorted_done(&z);
	bb_sorted_done(&o);
}

/*
 * On a clock of 40 ns, the median of a program of 100 ns is 80 or 120. The censored mean averages
 * to 100, also with preemptions of a millisecond in 2 % of the samples.
 */
static void test_censored_mean_on_coarse_clock(void **state)
{
	struct bb_censor c;
	struct bb_sorted s;
	struct bb_hist hist;
	struct bb_rng rng;

	(void)state;
	bb_rng_seed(&rng, 4);
	hist = (struct bb_hist){0};
	for (int i = 0; i < 20000; i++) {
		double start = bb_rng_double(&rng) * 40, cost = bb_rng_below(&rng, 50) ? 100 : 1e6;

		bb_hist_add(&hist, 40 * (uint64_t)((start + cost) / 40), 1);
	}
	bb_hist_sort(&hist, &s);
	c = bb_censor_series(&s);
	assert_same(c.tick_ns, 40);
	assert_near(c.mean_ns, 100, 5 * 20 / sqrt(20000));
	assert_near(c.share_of_n, 0.02, 5 * sqrt(0.02 * 0.98 / 20000));
	assert_true(c.share_of_sum > 0.99);
	bb_sorted_done(&s);
	bb_hist_done(&hist);
}

/* Counts scaled up to ten million do not change the locations. They are compared with the small
 * histogram, expanded by hand. */
static void test_ten_million(void **state)
{
	struct bb_hist_bin small[] = {{100, 40}, {101, 30}, {102, 20}, {103, 9}, {900, 1}};
	struct bb_hist_bin large[N_OF(small)];
	struct bb_sorted s = {small, N_OF(small), 100}, l = {large, N_OF(large), 10000000};
	double x[100], sum = 0, kept = 0;
	struct bb_censor cs, cl;
	size_t n = 0;

	(void)state;
	for (size_t i = 0; i < N_OF(small); i++) {
		large[i] = (struct bb_hist_bin){small[i].value_ns, small[i].count * 100000};
		for (uint64_t j = 0; j < small[i].count; j++)
			x[n++] = (double)small[i].value_ns;
	}
	cs = bb_censor_series(&s);
	cl = bb_censor_series(&l);
	assert_same(cs.threshold_ns,
		    bb_quantile_sorted(x, n, 0.5) + fmax(5 * (bb_quantile_sorted(x, n, 0.75) -
							      bb_quantile_sorted(x, n, 0.25)),
							 10));
	for (size_t i = 0; i < n; i++) {
		sum += x[i] <= cs.threshold_ns ? x[i] : 0;
		kept += x[i] <= cs.threshold_ns;
	}
	assert_near(cs.mean_ns, sum / kept, 1e-12);
	assert_near(cl.mean_ns, cs.mean_ns, 1e-12);
	assert_near(cl.threshold_ns, cs.threshold_ns, 1e-12);
	assert_near(cl.share_of_sum, cs.share_of_sum, 1e-15);
}

/*
 * Ranks of the sign test's interval at 5 %. The table has its two-sided critical values k - 1,
 * Dixon & Mood 1946, table 1 (n = 6: 0, 9: 1, 12: 2, 15: 3, 17: 4, 20: 5, 25: 7, 30: 9, 40: 13, 50:
 * 17, 100: 39).
 */
static void test_order_rank_table(void **state)
{
	static const size_t table[][2] = {{6, 0},  {9, 1},  {12, 2},  {15, 3},  {17, 4},  {20, 5},
					  {25, 7}, {30, 9}, {40, 13}, {50, 17}, {100, 39}};

	(void)state;
	for (size_t n = 0; n < 6; n++)
		assert_int_equal(bb_order_rank(n, 0.05), 0);
	for (size_t i = 0; i < N_OF(table); i++)
		assert_int_equal(bb_order_rank(table[i][0], 0.05), table[i][1] + 1);
	assert_int_equal(bb_order_rank(5, 0.0625), 1); /* exactly 2 / 2^5: equality counts */
	assert_int_equal(bb_order_rank(24, NAN), 0);
	assert_int_equal(bb_order_rank(24, 0), 0);
}

/* The rank by its definition, computed another way, on both sides of n = 1000, where the code
 * switches to logarithms. */
static void test_order_rank_large(void **state)
{
	(void)state;
	for (size_t n = 900; n < 3000; n += 97) {
		size_t k = bb_order_rank(n, 0.05);

		assert_true(2 * bb_binomial_cdf(k - 1, n, 0.5) <= 0.05);
		assert_true(2 * bb_binomial_cdf(k, n, 0.5) > 0.05);
	}
}

/* Coverage over all 2^n ways in which n continuous values can lie about their median: at least 1 -
 * alpha for k, and less for k + 1. */
static void test_order_interval_coverage(void **state)
{
	(void)state;
	for (size_t n = 6; n <= 12; n++) {
		size_t k = bb_order_rank(n, 0.05), missed = 0, missed_next = 0;

		for (unsigned int signs = 0; signs < 1u << n; signs++) {
			size_t above = (size_t)__builtin_popcount(signs), below = n - above;

			missed += above < k || below < k;
			missed_next += above < k + 1 || below < k + 1;
		}
		assert_true((double)missed <= 0.05 * (1u << n));
		assert_true((double)missed_next > 0.05 * (1u << n));
	}
}

static void test_order_interval(void **state)
{
	static const double x[] = {1, 2, 3, 4, 5, 6, 7, 8, 9},
			    with_nan[] = {1, 2, 3, 4, 5, 6, 7, 8, NAN};
	struct bb_interval i = bb_order_interval(x, 9, 0.05);

	(void)state;
	assert_same(i.lo, 2);
	assert_same(i.hi, 8);
	i = bb_order_interval(x, 5, 0.05);
	assert_true(isnan(i.lo) && isnan(i.hi));
	i = bb_order_interval(x, 0, 0.05);
	assert_true(isnan(i.lo) && isnan(i.hi));
	i = bb_order_interval(with_nan, 9, 0.05);
	assert_true(isnan(i.lo) && isnan(i.hi));
}

static void test_location(void **state)
{
	static const double x[] = {9, 1, 8, NAN, 2, 7, 3, 6, 4, 5, NAN}, void_only[] = {NAN, NAN},
			    net[] = {-1, 3, 4};
	struct bb_location l = bb_location_over_loads(x, N_OF(x), 0.05);

	(void)state;
	assert_int_equal(l.n, 9);
	assert_same(l.value, 5);
	assert_same(l.interval.lo, 2);
	assert_same(l.interval.hi, 8);
	assert_near(l.spread, 8.2 / 1.8, 1e-12); /* type 7: the quantile p is 1 + 8 p */
	assert_same(x[0], 9);
	l = bb_location_over_loads(void_only, 2, 0.05);
	assert_true(l.n == 0 && isnan(l.value) && isnan(l.interval.lo) && isnan(l.spread));
	l = bb_location_over_loads(NULL, 0, 0.05);
	assert_true(l.n == 0 && isnan(l.value));
	l = bb_location_over_loads(x, 1, 0.05);
	assert_true(l.n == 1 && l.value == 9 && isnan(l.interval.lo) && isnan(l.spread));
	l = bb_location_over_loads(net, 3, 0.05); /* with a net cost below 0 there is no ratio */
	assert_true(l.value == 3 && isnan(l.spread));
}

/* 24 loads with heavy tails: the interval covers the true median in at least 95 % of 2000 tries. */
static void test_location_coverage(void **state)
{
	size_t missed = 0;
	struct bb_rng rng;

	(void)state;
	bb_rng_seed(&rng, 5);
	for (int i = 0; i < 2000; i++) {
		struct bb_location l;
		double x[24];

		for (size_t j = 0; j < N_OF(x); j++)
			x[j] = 700 * exp(bb_rng_normal(&rng) / (0.05 + bb_rng_double(&rng)));
		l = bb_location_over_loads(x, N_OF(x), 0.05);
		missed += l.interval.lo > 700 || l.interval.hi < 700;
	}
	assert_true((double)missed <= binomial_allowance(2000, 0.05));
	/* The interval is not too wide: for n = 24, exactly 2.27 % miss. */
	assert_true(missed > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tick),
		cmocka_unit_test(test_tick_not_whole),
		cmocka_unit_test(test_threshold),
		cmocka_unit_test(test_censored_mean_and_shares),
		cmocka_unit_test(test_censor_series_degenerate),
		cmocka_unit_test(test_censored_mean_on_coarse_clock),
		cmocka_unit_test(test_ten_million),
		cmocka_unit_test(test_order_rank_table),
		cmocka_unit_test(test_order_rank_large),
		cmocka_unit_test(test_order_interval_coverage),
		cmocka_unit_test(test_order_interval),
		cmocka_unit_test(test_location),
		cmocka_unit_test(test_location_coverage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
