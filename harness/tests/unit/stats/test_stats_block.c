/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit/stats_testing.h"

#include <errno.h>

#include "base/rng.h"
#include "stats/paired.h"

/* By hand: the pooled values 100 102 104 106 | 5000 have med 104 and IQR 4, so T = 104 + 20. The
 * mean of a is 101, of b 105, and b has one outlier. */
static void test_by_hand(void **state)
{
	static const uint64_t a[] = {102, 100}, b[] = {106, 5000, 104},
			      on_limit[] = {106, 124, 104};
	struct bb_ab_block block;
	double scratch[5];

	(void)state;
	block = bb_ab_block_difference(a, 2, b, 3, 1, scratch);
	assert_same(block.threshold_ns, 124);
	assert_same(block.mean_a_ns, 101);
	assert_same(block.mean_b_ns, 105);
	assert_same(block.d, log(105) - log(101));
	assert_int_equal(block.outliers_a, 0);
	assert_int_equal(block.outliers_b, 1);
	block = bb_ab_block_difference(a, 2, b, 3, 40, scratch);
	assert_same(block.threshold_ns, 104 + 120);
	block = bb_ab_block_difference(a, 2, on_limit, 3, 1, scratch);
	assert_int_equal(block.outliers_b, 0); /* a value equal to T is kept */
	block = bb_ab_block_difference(a, 2, b, 3, NAN, scratch);
	assert_same(block.threshold_ns, 124);
}

static uint64_t heavy_tailed(struct bb_rng *rng, double median)
{
	return (uint64_t)(median * exp(bb_rng_normal(rng) / (0.1 + 5 * bb_rng_double(rng))));
}

/* Exchanging the labels negates d exactly: with ticks, heavy tails, ties, unequal sizes, and sizes
 * beyond 48. */
static void test_antisymmetry(void **state)
{
	struct bb_rng rng;

	(void)state;
	bb_rng_seed(&rng, 31);
	for (int i = 0; i < 3000; i++) {
		size_t na = 1 + bb_rng_below(&rng, 64),
		       nb = i % 3 ? na : 1 + bb_rng_below(&rng, 64);
		uint64_t a[64], b[64], tick = i % 2 ? 40 : 1;
		struct bb_ab_block ab, ba;
		double scratch[128], d;

		for (size_t j = 0; j < 64; j++) {
			a[j] = heavy_tailed(&rng, 700) / tick * tick;
			b[j] = heavy_tailed(&rng, 710) / tick * tick;
		}
		ab = bb_ab_block_difference(a, na, b, nb, (double)tick, scratch);
		ba = bb_ab_block_difference(b, nb, a, na, (double)tick, scratch);
		assert_same(ab.threshold_ns, ba.threshold_ns);
		assert_int_equal(ab.outliers_a, ba.outliers_b);
		assert_int_equal(ab.outliers_b, ba.outliers_a);
		assert_int_equal(isnan(ab.d), isnan(ba.d));
		d = -ba.d + 0.0; /* only the sign of a zero may differ */
		ab.d += 0.0;
		if (!isnan(d))
			assert_memory_equal(&ab.d, &d, sizeof(d));
	}
}

/* The order of the values does not change the result by a bit, and the inputs are not changed. */
static void test_order_does_not_matter(void **state)
{
	uint64_t a[16], b[16], reversed_a[16], copy[16];
	struct bb_ab_block one, other;
	double scratch[32];
	struct bb_rng rng;

	(void)state;
	bb_rng_seed(&rng, 32);
	for (size_t j = 0; j < 16; j++) {
		a[j] = reversed_a[15 - j] = 600 + bb_rng_below(&rng, 300);
		b[j] = 600 + bb_rng_below(&rng, 300);
	}
	memcpy(copy, a, sizeof(a));
	one = bb_ab_block_difference(a, 16, b, 16, 1, scratch);
	other = bb_ab_block_difference(reversed_a, 16, b, 16, 1, scratch);
	assert_memory_equal(&one, &other, sizeof(one));
	assert_memory_equal(a, copy, sizeof(a));
}

static void test_degenerate(void **state)
{
	static const uint64_t zeros[] = {0, 0}, far[] = {9999};
	static const uint64_t hundred[] = {100, 100, 100, 100, 100, 100, 100, 100, 100};
	struct bb_ab_block block;
	double scratch[18];

	(void)state;
	assert_nan(bb_ab_block_difference(hundred, 0, hundred, 2, 1, scratch).d);
	assert_nan(bb_ab_block_difference(hundred, 2, hundred, 0, 1, scratch).d);
	block = bb_ab_block_difference(hundred, 9, hundred, 9, 1, scratch);
	assert_same(block.d, 0);
	block = bb_ab_block_difference(hundred, 1, hundred, 1, 1, scratch);
	assert_same(block.d, 0);
	/* A mean of 0, which has no logarithm, and a label with only outliers: void, and not
	 * infinite. */
	block = bb_ab_block_difference(zeros, 2, hundred, 2, 1, scratch);
	assert_nan(block.d);
	block = bb_ab_block_difference(hundred, 9, far, 1, 1, scratch);
	assert_nan(block.d);
	assert_nan(block.mean_b_ns);
	assert_int_equal(block.outliers_b, 1);
	/* A label that is three times as slow, m = 16 each, is no outlier, because the pooled IQR
	 * includes both labels. */
	for (int i = 0; i < 2; i++) {
		uint64_t a[16], b[16];
		double big[32];

		for (size_t j = 0; j < 16; j++) {
			a[j] = i ? 300 : 100;
			b[j] = i ? 100 : 300;
		}
		block = bb_ab_block_difference(a, 16, b, 16, 1, big);
		assert_near(fabs(block.d), log(3), 1e-15);
		assert_true(block.outliers_a + block.outliers_b == 0);
	}
}

static void test_pair(void **state)
{
	double d[] = {0.3, NAN, 0.1, 0.2, NAN}, none[] = {NAN, NAN}, even[] = {1, 2};
	size_t used;

	(void)state;
	assert_same(bb_ab_pair_difference(d, 5, &used), 0.2);
	assert_int_equal(used, 3);
	assert_nan(bb_ab_pair_difference(none, 2, &used));
	assert_int_equal(used, 0);
	assert_nan(bb_ab_pair_difference(NULL, 0, NULL));
	assert_same(bb_ab_pair_difference(even, 2, NULL), 1.5);
	assert_same(bb_ab_pair_difference(even, 1, NULL), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_antisymmetry),
		cmocka_unit_test(test_order_does_not_matter),
		cmocka_unit_test(test_degenerate),
		cmocka_unit_test(test_pair),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
