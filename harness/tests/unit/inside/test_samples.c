/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The runs of a path become samples of a stored series, spread over the widths of their buckets. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "inside/figures.h"

static void test_spread(void **state)
{
	/* Bucket 100 is 640 to 672 ns, bucket 164 is 10 240 to 10 752 ns. Both include the clock
	 * readings, 40 ns. */
	struct bb_inside_path p = {.timed = 33, .worst_ns = 10300}, one = {.worst_ns = 10300},
			      fast = {.worst_ns = 1};
	struct bb_hist hist = {0};
	struct bb_sorted sorted;

	(void)state;
	p.buckets[100] = 32;
	p.buckets[164] = 1;
	bb_inside_path__samples(&p, 40, &hist);
	assert_int_equal(hist.n, 33);
	assert_int_equal(hist.max_ns, 10260);
	assert_true(bb_inside_path__median(&p) == 640 + 16.5);
	one.buckets[164] = 1; /* its middle, 10 496 ns, is above the maximum */
	assert_true(bb_inside_path__median(&one) == 10300);
	fast.buckets[0] = 5; /* half a clock tick below its middle is below 0 */
	fast.buckets[1] = 1;
	assert_true(bb_inside_path__median(&fast) == 0);
	bb_hist_sort(&hist, &sorted);
	assert_int_equal(sorted.n_bins, 17);
	for (size_t i = 0; i < 16; i++) {
		assert_int_equal(sorted.bins[i].value_ns, 601 + 2 * i);
		assert_int_equal(sorted.bins[i].count, 2);
	}
	bb_sorted_done(&sorted);
	bb_hist_done(&hist);
}

/* One run that took less than the clock readings: 0 ns. */
static void test_too_fast(void **state)
{
	struct bb_inside_path p = {.timed = 1, .worst_ns = 30};
	struct bb_hist hist = {0};

	(void)state;
	p.buckets[30] = 1;
	bb_inside_path__samples(&p, 40, &hist);
	assert_int_equal(hist.n, 1);
	assert_int_equal(hist.max_ns, 0);
	bb_hist_done(&hist);
}

static void test_not_timed(void **state)
{
	struct bb_inside_path p = {.runs = 7};
	struct bb_hist hist = {0};

	(void)state;
	bb_inside_path__samples(&p, 40, &hist);
	assert_int_equal(hist.n, 0);
	assert_true(isnan(bb_inside_path__worst(&p, 40)));
	bb_hist_done(&hist);
}

/* 20 000 timed runs a second, for days: their number does not fit 32 bits. */
static void test_many(void **state)
{
	uint64_t words[(BB_INSIDE_STRIPES + BB_INSIDE_HEAD + BB_INSIDE_MARKS + 64) / 8] = {0};
	uint64_t *slot = words + (BB_INSIDE_STRIPES + BB_INSIDE_HEAD) / 8;
	struct bb_inside_clone c = {
		.with = BB_INSIDE_TIME,
		.n_stripes = 1,
		.slot_bytes = BB_INSIDE_MARKS + 64,
		.memory.v = words,
	};
	struct bb_inside_figures f;

	(void)state;
	slot[BB_INSIDE_UNTIMED / 8] = 3;
	slot[BB_INSIDE_HIST / 8 + 100] = UINT32_MAX + UINT64_C(1);
	slot[BB_INSIDE_HIST / 8 + 101] = 1;
	f = bb_inside_figures__read(&c);
	assert_int_equal(f.all.timed, UINT32_MAX + UINT64_C(2));
	assert_int_equal(f.all.runs, UINT32_MAX + UINT64_C(5));
	assert_int_equal(f.all.buckets[100], UINT32_MAX + UINT64_C(1));
	assert_int_equal(f.n_paths, 1);
	bb_inside_figures__done(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spread),
		cmocka_unit_test(test_too_fast),
		cmocka_unit_test(test_not_timed),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
