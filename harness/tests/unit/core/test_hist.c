/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "core/hist.h"

/* Returns the value of the one bin that a single sample of `value` makes. */
static uint64_t bin_of(uint64_t value)
{
	struct bb_hist h;
	struct bb_sorted s;
	uint64_t bin;

	h = (struct bb_hist){0};
	bb_hist_add(&h, value, 1);
	bb_hist_sort(&h, &s);
	assert_int_equal(s.n_bins, 1);
	assert_int_equal(s.bins[0].count, 1);
	bin = s.bins[0].value_ns;
	bb_sorted_done(&s);
	bb_hist_done(&h);
	return bin;
}

static void test_empty(void **state)
{
	struct bb_hist h;
	struct bb_sorted s;

	(void)state;
	h = (struct bb_hist){0};
	bb_hist_add(&h, 5, 0); /* adding a value 0 times adds nothing */
	assert_int_equal(h.n, 0);
	assert_int_equal(h.used, 0);
	bb_hist_sort(&h, &s);
	assert_int_equal(s.n_bins, 0);
	assert_int_equal(s.n, 0);
	bb_sorted_done(&s);
	bb_sorted_done(NULL);
	bb_hist_done(&h);
	bb_hist_done(NULL);
}

/* Every value below BB_HIST_EXACT, added in random order, comes back exactly, ascending, with its
 * count. */
static void test_exact(void **state)
{
	struct bb_hist h;
	struct bb_sorted s;
	uint32_t order[BB_HIST_EXACT];
	struct bb_rng rng;
	uint64_t n = 0;

	(void)state;
	bb_rng_seed(&rng, 1);
	for (uint32_t i = 0; i < BB_HIST_EXACT; i++)
		order[i] = i;
	bb_rng_shuffle(&rng, order, BB_HIST_EXACT);
	h = (struct bb_hist){0};
	for (size_t i = 0; i < BB_HIST_EXACT; i++) {
		bb_hist_add(&h, order[i], 1);
		bb_hist_add(&h, order[i], order[i] % 3);
		n += 1 + order[i] % 3;
	}
	bb_hist_sort(&h, &s);
	assert_int_equal(s.n_bins, BB_HIST_EXACT);
	assert_int_equal(s.n, n);
	assert_int_equal(h.n, n);
	for (uint64_t i = 0; i < BB_HIST_EXACT; i++) {
		assert_int_equal(s.bins[i].value_ns, i);
		assert_int_equal(s.bins[i].count, 1 + i % 3);
	}
	bb_sorted_done(&s);
	bb_hist_done(&h);
}

/*
 * From 2^12 on, values with the same 12 leading bits share a bin. The bin's value is the middle of
 * their range: 2^(b-12) values of b bits share a bin, so the middle is at most v / 4096 away.
 */
static void test_significant_bits(void **state)
{
	struct bb_rng rng;

	(void)state;
	bb_rng_seed(&rng, 2);
	for (unsigned int bits = 13; bits <= 64; bits++) {
		for (int i = 0; i < 20; i++) {
			uint64_t v = bb_rng_u64(&rng) >> (64 - bits) | 1ULL << (bits - 1),
				 bin = bin_of(v);
			uint64_t width = 1ULL << (bits - 12), low = v - v % width;

			assert_true(bin >> (bits - 12) == v >> (bits - 12));
			assert_true((bin > v ? bin - v : v - bin) <= v / 4096);
			assert_true(bin == low + width / 2);
			assert_true(bin_of(low) == bin);
			assert_true(bin_of(low + (width - 1)) == bin);
			assert_true(bin_of(low - 1) != bin);
			assert_true(bin_of(bin) == bin); /* or merging would move samples */
		}
	}
	assert_true(bin_of(4095) == 4095);
	assert_true(bin_of(4096) == bin_of(4097));
	assert_true(bin_of(4097) != bin_of(4098));
	assert_true(bin_of(UINT64_MAX) == 0xfff8000000000000ULL);
}

/* A histogram with is_exact keeps every digit, and so does one that it is merged into. */
static void test_keeps_each_digit(void **state)
{
	struct bb_hist h = {.is_exact = true}, all = {0};
	struct bb_sorted s;

	(void)state;
	for (uint64_t v = 1000000; v < 1000003; v++)
		bb_hist_add(&h, v, v - 999999);
	bb_hist_merge(&all, &h);
	bb_hist_sort(&all, &s);
	assert_int_equal(s.n_bins, 3);
	for (uint64_t i = 0; i < 3; i++) {
		assert_int_equal(s.bins[i].value_ns, 1000000 + i);
		assert_int_equal(s.bins[i].count, i + 1);
	}
	bb_sorted_done(&s);
	bb_hist_done(&all);
	bb_hist_done(&h);
}

static void test_sums(void **state)
{
	struct bb_hist h;

	(void)state;
	h = (struct bb_hist){0};
	bb_hist_add(&h, 1000001, 3);
	assert_int_equal(h.min_ns, 1000001); /* the value as added, not its bin */
	assert_int_equal(h.max_ns, 1000001);
	bb_hist_add(&h, 0, 1);
	bb_hist_add(&h, 999999999, 2);
	bb_hist_add(&h, 50, 1);
	assert_int_equal(h.n, 7);
	assert_int_equal(h.used, 4);
	assert_int_equal(h.min_ns, 0);
	assert_int_equal(h.max_ns, 999999999);
	assert_true(fabs(h.sum_ns - (3 * 1000001.0 + 2 * 999999999.0 + 50)) < 0.5);
	bb_hist_done(&h);
	assert_int_equal(h.n, 0);
	assert_null(h.slots);
}

static void add_random(struct bb_hist *h, struct bb_rng *rng, int n)
{
	for (int i = 0; i < n; i++) {
		uint64_t v = bb_rng_u64(rng) >> (20 + bb_rng_below(rng, 44));

		bb_hist_add(h, v, 1 + bb_rng_below(rng, 5));
	}
}

static void assert_same(const struct bb_hist *a, const struct bb_hist *b)
{
	struct bb_sorted sa, sb;

	assert_int_equal(a->n, b->n);
	assert_int_equal(a->used, b->used);
	assert_int_equal(a->min_ns, b->min_ns);
	assert_int_equal(a->max_ns, b->max_ns);
	assert_true(fabs(a->sum_ns - b->sum_ns) <= 1e-9 * b->sum_ns);
	bb_hist_sort(a, &sa);
	bb_hist_sort(b, &sb);
	assert_int_equal(sa.n, sb.n);
	assert_int_equal(sa.n_bins, sb.n_bins);
	assert_memory_equal(sa.bins, sb.bins, sa.n_bins * sizeof(*sa.bins));
	bb_sorted_done(&sa);
	bb_sorted_done(&sb);
}

/* Merging two histograms gives the same as adding the samples of both to one. */
static void test_merge(void **state)
{
	struct bb_hist a, b, both, empty;
	struct bb_rng rng, again;

	(void)state;
	bb_rng_seed(&rng, 3);
	again = rng;
	a = (struct bb_hist){0};
	b = (struct bb_hist){0};
	both = (struct bb_hist){0};
	empty = (struct bb_hist){0};
	add_random(&a, &rng, 3000);
	add_random(&b, &rng, 5000);
	add_random(&both, &again, 8000);
	bb_hist_merge(&a, &b);
	assert_same(&a, &both);
	bb_hist_merge(&a, &empty);
	assert_same(&a, &both);
	bb_hist_merge(&empty, &both);
	assert_same(&empty, &both);
	bb_hist_done(&a);
	bb_hist_done(&b);
	bb_hist_done(&both);
	bb_hist_done(&empty);
}

/* A merge keeps the extremes and the sum of the values as added, from either side. */
static void test_merge_keeps_raw_values(void **state)
{
	struct bb_hist low, high, empty;

	(void)state;
	low = (struct bb_hist){0};
	high = (struct bb_hist){0};
	empty = (struct bb_hist){0};
	bb_hist_add(&low, 1000001, 1);
	bb_hist_add(&high, 9000001, 1);
	bb_hist_merge(&low, &empty);
	assert_int_equal(low.min_ns, 1000001);
	assert_int_equal(low.max_ns, 1000001);
	bb_hist_merge(&empty, &low);
	assert_int_equal(empty.min_ns, 1000001);
	assert_int_equal(empty.max_ns, 1000001);
	bb_hist_merge(&high, &low);
	assert_int_equal(high.min_ns, 1000001);
	assert_int_equal(high.max_ns, 9000001);
	bb_hist_merge(&low, &high);
	assert_int_equal(low.min_ns, 1000001);
	assert_int_equal(low.max_ns, 9000001);
	assert_int_equal(low.n, 3);
	assert_true(fabs(low.sum_ns - 11000003.0) < 0.5);
	bb_hist_done(&low);
	bb_hist_done(&high);
	bb_hist_done(&empty);
}

static void test_sort(void **state)
{
	struct bb_hist h;
	struct bb_sorted s;
	struct bb_rng rng;
	uint64_t n = 0;

	(void)state;
	bb_rng_seed(&rng, 4);
	h = (struct bb_hist){0};
	add_random(&h, &rng, 4000);
	bb_hist_sort(&h, &s);
	assert_int_equal(s.n_bins, h.used);
	for (size_t i = 0; i < s.n_bins; i++) {
		assert_true(!i || s.bins[i - 1].value_ns < s.bins[i].value_ns);
		assert_true(s.bins[i].count > 0);
		n += s.bins[i].count;
	}
	assert_int_equal(n, h.n);
	assert_int_equal(s.n, h.n);
	bb_sorted_done(&s);
	assert_null(s.bins);
	bb_hist_done(&h);
}

/* After bb_hist_reserve(n), adding n new values does not move the slots, so the measuring loop
 * allocates nothing. */
static void test_reserve(void **state)
{
	struct bb_hist h;

	(void)state;
	for (size_t n = 1; n < 600; n++) {
		const struct bb_hist_bin *slots;
		size_t capacity;

		h = (struct bb_hist){0};
		for (uint64_t v = 0; v < n % 50; v++)
			bb_hist_add(&h, v, 1);
		bb_hist_reserve(&h, n);
		slots = h.slots;
		capacity = h.capacity;
		assert_int_equal(capacity & (capacity - 1), 0);
		for (uint64_t v = 0; v < n; v++)
			bb_hist_add(&h, 1000 + v, 1);
		assert_ptr_equal(h.slots, slots);
		assert_int_equal(h.capacity, capacity);
		assert_int_equal(h.used, n + n % 50);
		assert_int_equal(h.n, n + n % 50);
		bb_hist_done(&h);
	}
}

static void test_time_buckets(void **state)
{
	static const uint64_t ns[] = {0, 32, 33, 48, 49, 1000, 33000000, 34000000, UINT64_MAX / 2};
	static const size_t at[] = {0, 0, 1, 1, 2, 10, 40, 41, 41};
	struct bb_time_buckets b = {0};
	uint64_t sum = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(ns) / sizeof(ns[0]); i++) {
		struct bb_hist h = {0};
		uint64_t before = b.counts[at[i]];

		bb_hist_add(&h, ns[i], i + 1);
		bb_time_buckets__add(&b, &h);
		assert_int_equal(b.counts[at[i]], before + i + 1);
		bb_hist_done(&h);
	}
	for (size_t i = 0; i < BB_TIME_BUCKETS; i++) {
		sum += b.counts[i];
		assert_true(!i || bb_time_bucket_bound(i) > bb_time_bucket_bound(i - 1));
	}
	assert_int_equal(sum, b.n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_significant_bits),
		cmocka_unit_test(test_keeps_each_digit),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_merge_keeps_raw_values),
		cmocka_unit_test(test_sort),
		cmocka_unit_test(test_reserve),
		cmocka_unit_test(test_time_buckets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
