/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The model of caches: sizes, ways, which line is replaced, accesses to two lines, cycles. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "profile/cache_model.h"

#define LINE 64u
#define L1_WAYS 8u
#define L1_SETS (BB_CACHE_L1_BYTES / LINE / L1_WAYS)

/* Reads n lines that are `step` bytes apart. Returns in which caches they were found. */
static struct bb_cache_counts read_lines(struct bb_cache_model *m, uint64_t n, uint64_t step,
					 bool is_code)
{
	struct bb_cache_counts counts = {0};

	for (uint64_t i = 0; i < n; i++)
		bb_cache_model__access(m, i * step, 8, is_code, &counts);
	return counts;
}

/* Lines that fit a cache are all found there the second time. With one line more, some are not. */
static void test_sizes(void **state)
{
	static const uint32_t sizes[] = {BB_CACHE_L1_BYTES, BB_CACHE_LL_BYTES};

	(void)state;
	for (size_t i = 0; i < BB_LEN(sizes); i++) {
		struct bb_cache_model *m = bb_cache_model__new();
		uint64_t n = sizes[i] / LINE;

		assert_int_equal(read_lines(m, n, LINE, false).ram, n);
		assert_int_equal(read_lines(m, n, LINE, false).ram, 0);
		assert_int_equal(read_lines(m, n, LINE, false).l1, i ? 0 : n);
		read_lines(m, n + 1, LINE, false);
		assert_true(read_lines(m, n + 1, LINE, false).l1 < n);
		bb_cache_model__free(m);
	}
}

/* Eight lines of one set fit. With nine, each replaces the line that is needed next. */
static void test_ways(void **state)
{
	struct bb_cache_model *m = bb_cache_model__new();
	struct bb_cache_counts counts;

	(void)state;
	read_lines(m, L1_WAYS, LINE * L1_SETS, false);
	assert_int_equal(read_lines(m, L1_WAYS, LINE * L1_SETS, false).l1, L1_WAYS);
	read_lines(m, L1_WAYS + 1, LINE * L1_SETS, false);
	counts = read_lines(m, L1_WAYS + 1, LINE * L1_SETS, false);
	assert_int_equal(counts.l1, 0);
	assert_int_equal(counts.ll, L1_WAYS + 1);
	bb_cache_model__free(m);
}

/* Code and data have an L1 each, and share the last level. */
static void test_code_and_data(void **state)
{
	struct bb_cache_model *m = bb_cache_model__new();

	(void)state;
	assert_int_equal(read_lines(m, 1, LINE, false).ram, 1);
	assert_int_equal(read_lines(m, 1, LINE, true).ll, 1);
	assert_int_equal(read_lines(m, 1, LINE, true).l1, 1);
	bb_cache_model__free(m);
}

/* An access to two lines counts once, for the slower of the two. */
static void test_two_lines(void **state)
{
	struct bb_cache_model *m = bb_cache_model__new();
	struct bb_cache_counts counts = {0};

	(void)state;
	bb_cache_model__access(m, 0, 8, false, &counts);
	bb_cache_model__access(m, LINE - 4, 8, false, &counts); /* the second line is new */
	assert_int_equal(counts.ram, 2);
	bb_cache_model__access(m, LINE - 4, 8, false, &counts);
	bb_cache_model__access(m, LINE - 8, 8, false, &counts);
	assert_int_equal(counts.l1, 2);
	bb_cache_model__access(m, 2 * LINE - 8, 8, false, &counts);
	assert_int_equal(counts.l1, 3);
	bb_cache_model__access(m, LINE, 0, false, &counts);
	assert_int_equal(counts.l1, 4);
	bb_cache_model__access(m, UINT64_MAX - 3, 4, false, &counts);
	assert_int_equal(counts.ram, 3);
	bb_cache_model__free(m);
}

static void test_cycles(void **state)
{
	(void)state;
	assert_int_equal(bb_cache_counts__cycles(&(struct bb_cache_counts){100, 10, 1}), 185);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),         cmocka_unit_test(test_ways),
		cmocka_unit_test(test_code_and_data), cmocka_unit_test(test_two_lines),
		cmocka_unit_test(test_cycles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
