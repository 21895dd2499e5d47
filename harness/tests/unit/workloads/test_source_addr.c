/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The results of all versions of fun_xdp, against its published description. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "workloads/source_addr.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define NOTHING 99

/* The table of v4, as the reference prints it. */
static const uint8_t table[] = {0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233};

/* The three upper bytes: none, all, and some that change the remainders by 3 and 5. */
static const uint32_t uppers[] = {0,          0x03020a00, 0x0100a8c0 & ~0xffU, 0x00000100,
				  0x12345600, 0x80000000, 0xffffff00};

static bool in_table(uint32_t addr)
{
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if ((addr & 0xff) == table[i])
			return true;
	return false;
}

/* The remainder of addr by n without a division: it is that of the sum of the bytes, because 256 %
 * n is 1. */
static uint32_t remainder_of(uint32_t addr, uint32_t n)
{
	uint32_t sum = (addr & 0xff) + (addr >> 8 & 0xff) + (addr >> 16 & 0xff) + (addr >> 24);

	while (sum >= n)
		sum -= n;
	return sum;
}

static int fizz_buzz(uint32_t addr)
{
	bool by_3 = !remainder_of(addr, 3), by_5 = !remainder_of(addr, 5);

	if (by_3 && by_5)
		return 2;
	if (by_3)
		return 0;
	return by_5 ? 1 : NOTHING;
}

static int ask(bool (*version)(uint32_t, enum bb_source_addr *), uint32_t addr)
{
	enum bb_source_addr kind = (enum bb_source_addr)77;
	bool pushed = version(addr, &kind);

	if (!pushed)
		assert_int_equal(kind, 77); /* written only if something is pushed */
	return pushed ? (int)kind : NOTHING;
}

static void test_names(void **state)
{
	(void)state;
	assert_int_equal(BB_FIZZ, 0);
	assert_int_equal(BB_BUZZ, 1);
	assert_int_equal(BB_FIZZ_BUZZ, 2);
	assert_int_equal(BB_FIBONACCI, 3);
	assert_int_equal(BB_SOURCE_ADDR_QUEUE_ENTRIES, 1024);
}

static void test_v1_v2_v4(void **state)
{
	(void)state;
	for (size_t u = 0; u < ARRAY_LEN(uppers); u++) {
		for (uint32_t low = 0; low < 256; low++) {
			uint32_t addr = uppers[u] | low;

			assert_int_equal(ask(bb_source_addr_v1, addr),
					 remainder_of(addr, 3) ? NOTHING : 0);
			assert_int_equal(ask(bb_source_addr_v2, addr), fizz_buzz(addr));
			assert_int_equal(ask(bb_source_addr_v4, addr),
					 in_table(addr) ? 3 : fizz_buzz(addr));
		}
	}
}

/* By hand, so that these do not depend on the arithmetic above. */
static void test_examples(void **state)
{
	static const struct {
		uint32_t addr;
		int v1, v2, v3, v4;
	} cases[] = {
		{0, 0, 2, 2, 3}, /* 0 is a Fibonacci number, but the loop says no */
		{1, NOTHING, NOTHING, 3, 3},
		{4, NOTHING, NOTHING, NOTHING, NOTHING},
		{6, 0, 0, 0, 0},
		{10, NOTHING, 1, 1, 1},
		{15, 0, 2, 2, 2},
		{55, NOTHING, 1, 3, 3},
		{241, NOTHING, NOTHING, 3, NOTHING},
		{245, NOTHING, 1, 3, 1},
		{255, 0, 2, 3, 2},
		{256, NOTHING, NOTHING, NOTHING, 3}, /* the low byte is 0 */
		/* 192.168.0.1 is 16820416. */
		{0x0100a8c0, NOTHING, NOTHING, NOTHING, NOTHING},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		assert_int_equal(ask(bb_source_addr_v1, cases[i].addr), cases[i].v1);
		assert_int_equal(ask(bb_source_addr_v2, cases[i].addr), cases[i].v2);
		assert_int_equal(ask(bb_source_addr_v3, cases[i].addr), cases[i].v3);
		assert_int_equal(ask(bb_source_addr_v4, cases[i].addr), cases[i].v4);
	}
}

/* v3 and v4 differ at 0, where the loop says no, and at 241, 245, 247, 253 and 255, where it says
 * yes, and nowhere else. */
static void test_v3(void **state)
{
	static const uint8_t only_v3[] = {241, 245, 247, 253, 255};

	(void)state;
	for (size_t u = 0; u < ARRAY_LEN(uppers); u++) {
		for (uint32_t low = 0; low < 256; low++) {
			uint32_t addr = uppers[u] | low;
			bool fibonacci = in_table(addr) && low;

			for (size_t i = 0; i < ARRAY_LEN(only_v3); i++)
				fibonacci |= low == only_v3[i];
			assert_int_equal(ask(bb_source_addr_v3, addr),
					 fibonacci ? 3 : fizz_buzz(addr));
		}
	}
}

/* Returns the rounds of v3's loop for this low byte. */
static uint32_t trips_of(uint8_t low)
{
	uint32_t trips = 0;

	bb_is_fibonacci_by_loop(low, &trips);
	return trips;
}

/* The reference lists the rounds from 233 on. Below, the loop needs one round for each Fibonacci
 * number less than n. */
static void test_v3_trips(void **state)
{
	static const struct {
		uint32_t first, last, trips;
	} listed[] = {
		{233, 233, 12},  {234, 241, 22},  {242, 245, 55},
		{246, 247, 105}, {248, 253, 112}, {254, 255, 381},
	};
	static const uint32_t fibonacci[] = {1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(listed); i++)
		for (uint32_t n = listed[i].first; n <= listed[i].last; n++)
			assert_int_equal(trips_of((uint8_t)n), listed[i].trips);
	for (uint32_t n = 0; n <= 233; n++) {
		uint32_t less = 0;

		for (size_t i = 0; i < ARRAY_LEN(fibonacci); i++)
			less += fibonacci[i] < n;
		assert_int_equal(trips_of((uint8_t)n), less);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),    cmocka_unit_test(test_v1_v2_v4),
		cmocka_unit_test(test_examples), cmocka_unit_test(test_v3),
		cmocka_unit_test(test_v3_trips),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
