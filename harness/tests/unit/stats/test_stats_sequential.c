/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit/stats_testing.h"

#include "base/rng.h"
#include "stats/paired.h"

/* M_n(0) = C(2n, n) / 2^n (Legendre's duplication formula): a whole number divided by a power of
 * two. */
static void test_all_on_one_side(void **state)
{
	double central = 1; /* C(2n, n) */

	(void)state;
	for (size_t n = 0; n < 25; n++) {
		double want = log(central) - (double)n * M_LN2;

		assert_near(bb_eprocess_log(n, 0), want, 1e-12 * (1 + fabs(want)));
		assert_near(bb_eprocess_log(n, n), want, 1e-12 * (1 + fabs(want)));
		central *= 2 * (2 * (double)n + 1) / ((double)n + 1);
	}
}

/* The next toss of a fair coin does not change the mean: (M_{n+1}(s) + M_{n+1}(s + 1)) / 2 =
 * M_n(s). */
static void test_martingale(void **state)
{
	(void)state;
	assert_same(bb_eprocess_log(0, 0), 0);
	for (size_t n = 0; n < 300; n += 1 + n / 10)
		for (size_t s = 0; s <= n; s++)
			assert_near(0.5 *
					    (exp(bb_eprocess_log(n + 1, s)) +
					     exp(bb_eprocess_log(n + 1, s + 1))) /
					    exp(bb_eprocess_log(n, s)),
				    1, 1e-10);
	assert_nan(bb_eprocess_log(3, 4));
}

/* The first n that can reject at 5 %: C(14, 7) / 2^7 = 26.8 >= 20 > C(12, 6) / 2^6 = 14.4. */
static void test_rank(void **state)
{
	(void)state;
	assert_int_equal(bb_eprocess_rank(0, 0.05), 0);
	assert_int_equal(bb_eprocess_rank(6, 0.05), 0);
	assert_int_equal(bb_eprocess_rank(7, 0.05), 1);
	assert_int_equal(bb_eprocess_rank(24, 0), 0);
	assert_int_equal(bb_eprocess_rank(24, NAN), 0);
	for (size_t n = 1; n < 2000; n += 1 + n / 5) {
		size_t k = 0;

		while (bb_eprocess_log(n, k) >= log(20))
			k++;
		assert_int_equal(bb_eprocess_rank(n, 0.05), k);
		assert_true(k <= n / 2);
	}
}

/*
 * Exact false alarms of a test that is looked at after each of 1000 pairs: the distribution of s
 * for a fair coin, absorbed at M >= 1 / alpha. Intervals for a fixed n, looked at as often, give
 * many more.
 */
static void test_peeking_exact(void **state)
{
	double *prob = calloc(1002, sizeof(*prob)), alarms = 0, naive_alarms = 0;

	(void)state;
	assert_non_null(prob);
	for (int naive = 0; naive < 2; naive++) {
		memset(prob, 0, 1002 * sizeof(*prob));
		prob[0] = 1;
		for (size_t n = 1; n <= 1000; n++) {
			size_t k = naive ? bb_order_rank(n, 0.05) : bb_eprocess_rank(n, 0.05);

			for (size_t s = n; s > 0; s--)
				prob[s] = 0.5 * (prob[s] + prob[s - 1]);
			prob[0] *= 0.5;
			for (size_t s = 0; s <= n; s++) {
				if (s >= k && n - s >= k)
					continue;
				*(naive ? &naive_alarms : &alarms) += prob[s];
				prob[s] = 0;
			}
		}
	}
	free(prob);
	assert_true(alarms <= 0.05);
	assert_true(alarms > 0.02);
	assert_true(naive_alarms > 0.25);
}

static void test_interval(void **state)
{
	static const double x[] = {7, 1, 6, 2, 5, 3, 4}, with_nan[] = {7, 1, 6, 2, 5, 3, 4, NAN};
	struct bb_interval i = bb_eprocess_interval(x, 7, 0.05);

	(void)state;
	assert_same(i.lo, 1);
	assert_same(i.hi, 7);
	i = bb_eprocess_interval(x, 6, 0.05);
	assert_true(isnan(i.lo) && isnan(i.hi));
	i = bb_eprocess_interval(NULL, 0, 0.05);
	assert_true(isnan(i.lo) && isnan(i.hi));
	i = bb_eprocess_interval(x, 1, 0.05);
	assert_true(isnan(i.lo) && isnan(i.hi));
	i = bb_eprocess_interval(with_nan, 8, 0.05);
	assert_true(isnan(i.lo) && isnan(i.hi));
	i = bb_eprocess_interval(x, 7, 2);
	assert_true(isnan(i.lo) && isnan(i.hi));
}

/* theta is outside the interval exactly if M rejects it, and if the one-sided p-value of that side
 * is <= alpha. */
static void test_interval_inverts_test(void **state)
{
	struct bb_rng rng;

	(void)state;
	bb_rng_seed(&rng, 21);
	for (size_t n = 7; n <= 60; n++) {
		struct bb_interval interval;
		double d[60];

		for (size_t i = 0; i < n; i++)
			d[i] = n % 4 ? bb_rng_normal(&rng) : round(bb_rng_normal(&rng));
		interval = bb_eprocess_interval(d, n, 0.05);
		for (double theta = -3; theta <= 3; theta += 0.25) {
			size_t above = 0, below = 0;

			for (size_t i = 0; i < n; i++) {
				above += d[i] > theta;
				below += d[i] < theta;
			}
			assert_int_equal(interval.lo > theta,
					 2 * above > n && bb_eprocess_log(n, n - above) >= log(20));
			assert_int_equal(interval.hi<theta, 2 * below> n &&
					 bb_eprocess_log(n, n - below) >= log(20));
			assert_int_equal(interval.lo > theta,
					 bb_eprocess_p(d, n, theta, 1) <= 0.05);
			assert_int_equal(interval.hi < theta,
					 bb_eprocess_p(d, n, theta, -1) <= 0.05);
		}
	}
	assert_nan(bb_eprocess_p((const double[]){NAN}, 1, 0, 1));
	assert_nan(bb_eprocess_p((const double[]){1}, 1, NAN, 1));
	assert_same(bb_eprocess_p(NULL, 0, 0, 1), 1);
}

/* Ties at the median are evidence for neither side, so constant differences never reject their own
 * value. */
static void test_ties(void **state)
{
	static const double zeros[500] = {0};
	struct bb_interval i = bb_eprocess_interval(zeros, 500, 0.05);

	(void)state;
	assert_same(i.lo, 0);
	assert_same(i.hi, 0);
	assert_same(bb_eprocess_p(zeros, 500, 0, 1), 1);
	assert_same(bb_eprocess_p(zeros, 500, 0, -1), 1);
	assert_true(bb_eprocess_p(zeros, 500, -0.01, 1) < 1e-100);
}

/* Returns the share of 1000 tries in which one of up to 100 looks puts 0 outside the interval. The
 * differences are symmetric about `shift`. */
static double share_that_stops(double shift, int tied)
{
	struct bb_rng rng;
	int stopped = 0;

	bb_rng_seed(&rng, 22);
	for (int i = 0; i < 1000; i++) {
		double d[100];

		for (size_t n = 0; n < 100; n++) {
			struct bb_interval interval;

			d[n] = shift + bb_rng_normal(&rng) / (0.2 + bb_rng_double(&rng));
			if (tied)
				d[n] = round(d[n]);
			interval = bb_eprocess_interval(d, n + 1, 0.05);
			if (interval.lo > 0 || interval.hi < 0) {
				stopped++;
				break;
			}
		}
	}
	return stopped / 1000.0;
}

static void test_peeking_simulated(void **state)
{
	double none = share_that_stops(0, 0), small = share_that_stops(0.5, 0),
	       large = share_that_stops(1.5, 0);

	(void)state;
	assert_true(1000 * none <= binomial_allowance(1000, 0.05));
	assert_true(none > 0);
	assert_true(small > none + 0.2);
	assert_true(large > 0.95);
	assert_true(1000 * share_that_stops(0, 1) <= binomial_allowance(1000, 0.05));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_on_one_side),
		cmocka_unit_test(test_martingale),
		cmocka_unit_test(test_rank),
		cmocka_unit_test(test_peeking_exact),
		cmocka_unit_test(test_interval),
		cmocka_unit_test(test_interval_inverts_test),
		cmocka_unit_test(test_ties),
		cmocka_unit_test(test_peeking_simulated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
