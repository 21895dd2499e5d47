/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/parse.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

static void test_u64(void **state)
{
	static const struct {
		const char *text;
		uint64_t value;
	} good[] = {
		{"0", 0},
		{"7", 7},
		{"0123", 123},
		{"0x10", 16},
		{"0XfF", 255},
		{"18446744073709551615", UINT64_MAX},
		{"0xffffffffffffffff", UINT64_MAX},
	};
	static const struct {
		const char *text;
		int rc;
	} bad[] = {
		{"", -EINVAL},
		{"-1", -EINVAL},
		{"-0", -EINVAL},
		{"+1", -EINVAL},
		{" 1", -EINVAL},
		{"1 ", -EINVAL},
		{"1\n", -EINVAL},
		{"1x", -EINVAL},
		{"x", -EINVAL},
		{"0x", -EINVAL},
		{"0x-1", -EINVAL},
		{"1.0", -EINVAL},
		{"1e3", -EINVAL},
		{"1_000", -EINVAL},
		{"ff", -EINVAL},
		{"\xd9\xa1", -EINVAL},
		{"18446744073709551616", -ERANGE},
		{"0x10000000000000000", -ERANGE},
	};
	uint64_t v;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		v = 99;
		assert_int_equal(bb_parse_u64(good[i].text, &v), 0);
		assert_true(v == good[i].value);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		v = 99;
		if (bb_parse_u64(bad[i].text, &v) != bad[i].rc)
			fail_msg("'%s'", bad[i].text);
		assert_true(v == 99); /* written only on success */
	}
}

static void test_i64(void **state)
{
	static const struct {
		const char *text;
		int64_t value;
	} good[] = {
		{"0", 0},
		{"-0", 0},
		{"-1", -1},
		{"42", 42},
		{"-0x10", -16},
		{"0x7fffffffffffffff", INT64_MAX},
		{"9223372036854775807", INT64_MAX},
		{"-9223372036854775808", INT64_MIN},
	};
	static const struct {
		const char *text;
		int rc;
	} bad[] = {
		{"", -EINVAL},
		{"-", -EINVAL},
		{"--1", -EINVAL},
		{"- 1", -EINVAL},
		{"+1", -EINVAL},
		{"-x", -EINVAL},
		{"1-", -EINVAL},
		{"-1.5", -EINVAL},
		{"-0x", -EINVAL},
		{"9223372036854775808", -ERANGE},
		{"-9223372036854775809", -ERANGE},
	};
	int64_t v;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		v = 99;
		assert_int_equal(bb_parse_i64(good[i].text, &v), 0);
		assert_true(v == good[i].value);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		v = 99;
		if (bb_parse_i64(bad[i].text, &v) != bad[i].rc)
			fail_msg("'%s'", bad[i].text);
		assert_true(v == 99);
	}
}

static void test_double(void **state)
{
	static const struct {
		const char *text;
		double value;
	} good[] = {
		{"0", 0.0},
		{"-1.5", -1.5},
		{".25", 0.25},
		{"1e3", 1000.0},
		{"5", 5.0},
		{"0x1p-1", 0.5},
		{"1.7976931348623157e308", 0x1.fffffffffffffp1023},
	};
	static const char *const bad[] = {
		"",   " 1",  "1 ",  "\t1", "1x",        "x",     "-",      ".",
		"1e", "1,5", "nan", "inf", "-infinity", "1e309", "-1e309", "1e-400",
	};
	double v;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		v = 99;
		assert_int_equal(bb_parse_double(good[i].text, &v), 0);
		assert_memory_equal(&v, &good[i].value, sizeof(v)); /* these are exact */
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		double untouched = 99;
		int rc;

		v = 99;
		rc = bb_parse_double(bad[i], &v);
		if (rc != -EINVAL && rc != -ERANGE)
			fail_msg("'%s': %d", bad[i], rc);
		assert_memory_equal(&v, &untouched, sizeof(v));
	}
}

static void test_bool(void **state)
{
	static const char *const truths[] = {"true", "yes", "on"}, *const lies[] = {"false", "no",
										    "off"};
	static const char *const bad[] = {"", "1", "0", "True", "tru", "truee", " yes", "n"};
	int v;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(truths); i++) {
		assert_int_equal(bb_parse_bool(truths[i], &v), 0);
		assert_int_equal(v, 1);
		assert_int_equal(bb_parse_bool(lies[i], &v), 0);
		assert_int_equal(v, 0);
	}
	v = 99;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_int_equal(bb_parse_bool(bad[i], &v), -EINVAL);
	assert_int_equal(v, 99);
}

static const char *near(const char *word)
{
	static const char *const names[] = {"name",    "program",  "description",
					    "globals", "variants", "drive"};

	return bb_nearest(word, names, ARRAY_LEN(names));
}

static void test_nearest(void **state)
{
	(void)state;
	assert_string_equal(near("name"), "name");
	assert_string_equal(near("nam"), "name");         /* one deleted */
	assert_string_equal(near("names"), "name");       /* one inserted */
	assert_string_equal(near("nane"), "name");        /* one changed */
	assert_string_equal(near("anme"), "name");        /* two swapped count as one */
	assert_string_equal(near("varient"), "variants"); /* from 7 letters on: two slips */
	assert_string_equal(near("descrpition"), "description");
	assert_null(near("naem2")); /* 5 letters: one slip, not two */
	assert_null(near("nn"));
	assert_null(near(""));
	assert_null(near("completely different"));
	assert_null(bb_nearest("name", NULL, 0));
}

static void test_nearest_picks(void **state)
{
	static const char *const names[] = {"abcdefgx", "abcdefgh", "abcdefgy", "abcdefg"};
	static const char *const tie[] = {"freq_a", "freq_b"};

	(void)state;
	/* The same name wins over names that are only similar. */
	assert_ptr_equal(bb_nearest("abcdefgh", names, ARRAY_LEN(names)), names[1]);
	assert_ptr_equal(bb_nearest("abcdefgxx", names, ARRAY_LEN(names)), names[0]);
	/* Of names that are equally near, the first wins. */
	assert_ptr_equal(bb_nearest("freq_c", tie, ARRAY_LEN(tie)), tie[0]);
}

static void test_hex(void **state)
{
	static const struct {
		const char *text;
		int rc;
		size_t len, at; /* at: of the error, if -EINVAL */
	} cases[] = {
		{"", 0, 0, 0},
		{" \t\r\n:", 0, 0, 0},
		{"00", 0, 1, 0},
		{"0aFf 09:9A\n", 0, 4, 0},
		{"0", -EINVAL, 0, 1},
		{"0 0", -EINVAL, 0, 1},
		{"00 1", -EINVAL, 0, 4},
		{"0x10", -EINVAL, 0, 1},
		{"0g", -EINVAL, 0, 1},
		{"g0", -EINVAL, 0, 0},
		{"00-11", -EINVAL, 0, 2},
		{"@0", -EINVAL, 0, 0},
		{"\xc3\x9f", -EINVAL, 0, 0},
		{"0011223344", -EFBIG, 0, 0},
	};
	static const uint8_t bytes[] = {0x0a, 0xff, 0x09, 0x9a};
	uint8_t data[4];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		size_t len = 99, at = 99;
		int rc = bb_parse_hex(cases[i].text, data, sizeof(data), &len, &at);

		if (rc != cases[i].rc || len != (rc ? 99 : cases[i].len) ||
		    at != (rc == -EINVAL ? cases[i].at : 99))
			fail_msg("'%s': rc %d, len %zu, at %zu", cases[i].text, rc, len, at);
		if (!rc && len == sizeof(bytes))
			assert_memory_equal(data, bytes, sizeof(bytes));
	}
}

/* A word far longer than any name is near none of them. Only its beginning is compared. */
static void test_nearest_long(void **state)
{
	char word[4096], name[128];
	const char *const names[] = {name};

	(void)state;
	memset(word, 'x', sizeof(word));
	word[sizeof(word) - 1] = 0;
	assert_null(near(word));
	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = 0;
	assert_ptr_equal(bb_nearest(word, names, 1), name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_u64),           cmocka_unit_test(test_i64),
		cmocka_unit_test(test_double),        cmocka_unit_test(test_bool),
		cmocka_unit_test(test_hex),           cmocka_unit_test(test_nearest),
		cmocka_unit_test(test_nearest_picks), cmocka_unit_test(test_nearest_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
