/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* Pearson's statistic for n_bins equally likely bins. */
static double chi_square(const uint64_t *counts, size_t n_bins)
{
	double total = 0, sum = 0, expected;

	for (size_t i = 0; i < n_bins; i++)
		total += (double)counts[i];
	expected = total / (double)n_bins;
	for (size_t i = 0; i < n_bins; i++)
		sum += ((double)counts[i] - expected) * ((double)counts[i] - expected) / expected;
	return sum;
}

/*
 * The state is the first four outputs of splitmix64. For seed 1234567 they are in Rosetta Code,
 * "Pseudo-random numbers/Splitmix64", which took them from Vigna's splitmix64.c.
 */
static void test_seed(void **state)
{
	static const uint64_t expected[4] = {
		6457827717110365317ULL,
		3203168211198807973ULL,
		9817491932198370423ULL,
		4593380528125082431ULL,
	};
	struct bb_rng rng;

	(void)state;
	bb_rng_seed(&rng, 1234567);
	assert_memory_equal(rng.s, expected, sizeof(expected));
}

/* The first ten outputs from state {1, 2, 3, 4}, from the test of the rand_xoshiro crate, which
 * took them from Vigna's C. */
static void test_xoshiro(void **state)
{
	static const uint64_t expected[] = {
		11520ULL,
		0ULL,
		1509978240ULL,
		1215971899390074240ULL,
		1216172134540287360ULL,
		607988272756665600ULL,
		16172922978634559625ULL,
		8476171486693032832ULL,
		10595114339597558777ULL,
		2904607092377533576ULL,
	};
	struct bb_rng rng = {.s = {1, 2, 3, 4}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(expected); i++)
		assert_true(bb_rng_u64(&rng) == expected[i]);
}

static void test_seeds_differ(void **state)
{
	struct bb_rng a, b, c;

	(void)state;
	/* The state must not be all zeros, because the generator never leaves that state. */
	bb_rng_seed(&a, 0);
	bb_rng_seed(&b, 0);
	bb_rng_seed(&c, 1);
	for (int i = 0; i < 100; i++) {
		uint64_t x = bb_rng_u64(&a);

		assert_true(x == bb_rng_u64(&b));
		assert_true(x != bb_rng_u64(&c));
	}
}

/* 0.1 % and 99.9 % points of chi-square for df 9: 1.152 and 27.877 (NIST/SEMATECH e-Handbook,
 * 1.3.6.7.4). */
static void test_below(void **state)
{
	uint64_t counts[10] = {0};
	struct bb_rng rng;
	double x;

	(void)state;
	bb_rng_seed(&rng, 42);
	for (int i = 0; i < 100000; i++) {
		uint64_t v = bb_rng_below(&rng, ARRAY_LEN(counts));

		assert_true(v < ARRAY_LEN(counts));
		counts[v]++;
	}
	x = chi_square(counts, ARRAY_LEN(counts));
	assert_true(x > 1.152 && x < 27.877);
	for (int i = 0; i < 100; i++)
		assert_true(bb_rng_below(&rng, 1) == 0);
}

/*
 * A bare modulo is seen best at n = 3 * 2^62: the lowest third of the results would come up twice
 * as often as the others. 99.9 % point of chi-square, df 2: 13.816 (same table).
 */
static void test_below_is_unbiased(void **state)
{
	uint64_t counts[3] = {0};
	struct bb_rng rng;

	(void)state;
	bb_rng_seed(&rng, 43);
	for (int i = 0; i < 30000; i++) {
		uint64_t v = bb_rng_below(&rng, 3ULL << 62);

		assert_true(v < 3ULL << 62);
		counts[v >> 62]++;
	}
	assert_true(chi_square(counts, ARRAY_LEN(counts)) < 13.816);
}

static void test_double(void **state)
{
	enum { N = 100000 };
	uint64_t counts[10] = {0};
	struct bb_rng rng;
	double x;

	(void)state;
	bb_rng_seed(&rng, 44);
	for (int i = 0; i < N; i++) {
		double u = bb_rng_double(&rng);

		assert_true(u >= 0.0 && u < 1.0);
		counts[(size_t)(u * 10)]++;
	}
	x = chi_square(counts, ARRAY_LEN(counts));
	assert_true(x > 1.152 && x < 27.877);
}

/*
 * The largest word must not round to 1. To get it, s[1] is computed by inverting the output
 * function: the inverses of 9 and 5 modulo 2^64, and a rotation to the other side.
 */
static void test_double_extremes(void **state)
{
	uint64_t y = -0x8e38e38e38e38e39ULL;
	struct bb_rng rng = {.s = {1, (y >> 7 | y << 57) * 0xcccccccccccccccdULL, 1, 1}},
		      copy = rng;

	(void)state;
	assert_true(bb_rng_u64(&copy) == UINT64_MAX);
	assert_true(bb_rng_double(&rng) < 1.0);
	rng = (struct bb_rng){.s = {1, 0, 0, 1}};
	copy = rng;
	assert_true(bb_rng_u64(&copy) == 0);
	assert_true(bb_rng_double(&rng) <= 0.0);
}

/* Mean 0, variance 1 and fourth moment 3, each within four of its standard errors (the square roots
 * of 1/n, 2/n and 96/n). */
static void test_normal(void **state)
{
	const double n = 200000;
	double m1 = 0, m2 = 0, m4 = 0;
	struct bb_rng rng;

	(void)state;
	bb_rng_seed(&rng, 45);
	for (int i = 0; i < (int)n; i++) {
		double z = bb_rng_normal(&rng);

		assert_true(isfinite(z));
		m1 += z;
		m2 += z * z;
		m4 += z * z * z * z;
	}
	assert_true(fabs(m1 / n) < 4 * sqrt(1 / n));
	assert_true(fabs(m2 / n - 1) < 4 * sqrt(2 / n));
	assert_true(fabs(m4 / n - 3) < 4 * sqrt(96 / n));
}

static void test_shuffle_is_permutation(void **state)
{
	struct bb_rng rng;
	uint32_t x[257];

	(void)state;
	bb_rng_seed(&rng, 46);
	for (size_t n = 0; n <= ARRAY_LEN(x); n++) {
		uint8_t seen[ARRAY_LEN(x)] = {0};
		size_t moved = 0;

		for (uint32_t i = 0; i < ARRAY_LEN(x); i++)
			x[i] = i;
		bb_rng_shuffle(&rng, x, n);
		for (size_t i = 0; i < n; i++) {
			assert_true(x[i] < n && !seen[x[i]]);
			seen[x[i]] = 1;
			moved += x[i] != i;
		}
		for (size_t i = n; i < ARRAY_LEN(x); i++)
			assert_true(x[i] == i);
		/* The number of fixed points has mean 1; ten or more have probability 1e-7. */
		assert_true(n < 10 || n - moved < 10);
	}
}

/* All 24 orders of four are equally likely: df 23, 99.9 % point 49.728 (same table). */
static void test_shuffle_is_uniform(void **state)
{
	uint64_t counts[4][4][4] = {{{0}}}, bins[24];
	struct bb_rng rng;
	size_t n = 0;

	(void)state;
	bb_rng_seed(&rng, 47);
	for (int i = 0; i < 24000; i++) {
		uint32_t x[4] = {0, 1, 2, 3};

		bb_rng_shuffle(&rng, x, 4);
		counts[x[0]][x[1]][x[2]]++;
	}
	for (size_t a = 0; a < 4; a++)
		for (size_t b = 0; b < 4; b++)
			for (size_t c = 0; c < 4; c++)
				if (a != b && a != c && b != c)
					bins[n++] = counts[a][b][c];
	assert_int_equal(n, ARRAY_LEN(bins));
	assert_true(chi_square(bins, ARRAY_LEN(bins)) < 49.728);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_seed),
		cmocka_unit_test(test_xoshiro),
		cmocka_unit_test(test_seeds_differ),
		cmocka_unit_test(test_below),
		cmocka_unit_test(test_below_is_unbiased),
		cmocka_unit_test(test_double),
		cmocka_unit_test(test_double_extremes),
		cmocka_unit_test(test_normal),
		cmocka_unit_test(test_shuffle_is_permutation),
		cmocka_unit_test(test_shuffle_is_uniform),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
