/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tests the strict BMF reader (harness/tests/bmf_check.h): what bencher accepts must pass. Every
 * case that bencher rejects, as read from its sources (0.6.12), must fail for its own reason.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bmf_check.h"

/* One benchmark "b" with one measure "latency". */
#define METRIC(object) "{\"b\":{\"latency\":" object "}}"

static const char *const good[] = {
	METRIC("{\"value\":1.5}"),
	METRIC("{\"value\":1.5,\"lower_value\":null,\"upper_value\":null}"),
	METRIC("{\"value\":1.5,\"lower_value\":1.5,\"upper_value\":1.5}"),
	METRIC("{\"upper_value\":2,\"lower_value\":1,\"value\":1.5}"),
	METRIC("{\"value\":-3.25,\"lower_value\":-4}"), /* a net latency may be negative */
	METRIC("{\"value\":1e-300}"),
	METRIC("{\"value\":1.7976931348623157e308}"), /* DBL_MAX */
	METRIC("{\"value\":18446744073709551616}"),   /* 2^64: an integer, and a valid f64 */
	"\n\t {\"a\":{\"latency\":{\"value\":1}}}\r\n\n",
	("{\"a/b/c=1\":{\"latency\":{\"value\":1},\"l1-accesses\":{\"value\":2}},"
	 "\"\\u00fc \xc3\xbc\":{\"0\":{\"value\":1}}}"),
};

struct bad_case {
	const char *text;
	const char *why; /* part of the message */
};

/* 'end of file' and the like are jansson's words. */
static const struct bad_case bad[] = {
	/* Not one object. */
	{"", "BMF: 1:"},
	{" \n", "BMF: 2:"},
	{"{}", "no benchmark"},
	{" { } \n", "no benchmark"},
	{"[]", "not a JSON object"},
	{"[" METRIC("{\"value\":1}") "]", "not a JSON object"},
	{"null", "not a JSON object"},
	{"1", "not a JSON object"},
	{"\"b\"", "not a JSON object"},
	{"ringbuf: 700 ns\n" METRIC("{\"value\":1}"), "BMF: 1:"},
	{"\xef\xbb\xbf" METRIC("{\"value\":1}"), "BMF: 1:"},
	{METRIC("{\"value\":1}") " done", "end of file expected"},
	{METRIC("{\"value\":1}") "\n" METRIC("{\"value\":1}"), "end of file expected"},
	{METRIC("{\"value\":1}") ",", "end of file expected"},
	{"{\"b\":{\"latency\":{\"value\":1}}", "BMF: 1:"},
	{"// c\n" METRIC("{\"value\":1}"), "BMF: 1:"},
	/* JSON that some readers would accept. */
	{METRIC("{\"value\":1,}"), "BMF: 1:"},
	{"{\"b\":{\"latency\":{\"value\":1},}}", "BMF: 1:"},
	{"{\"b\":{\"latency\":{\"value\":1}},}", "BMF: 1:"},
	{"{'b':{'latency':{'value':1}}}", "BMF: 1:"},
	{"{b:{\"latency\":{\"value\":1}}}", "BMF: 1:"},
	{"{\"b\xff\":{\"latency\":{\"value\":1}}}", "BMF: 1:"},
	{METRIC("{\"value\":+1}"), "BMF: 1:"},
	{METRIC("{\"value\":.5}"), "BMF: 1:"},
	{METRIC("{\"value\":1.}"), "BMF: 1:"},
	{METRIC("{\"value\":0x10}"), "BMF: 1:"},
	{METRIC("{\"value\":1,5}"), "BMF: 1:"},
	/* The value. */
	{METRIC("{\"value\":NaN}"), "BMF: 1:"},
	{METRIC("{\"value\":nan}"), "BMF: 1:"},
	{METRIC("{\"value\":Infinity}"), "BMF: 1:"},
	{METRIC("{\"value\":-Infinity}"), "BMF: 1:"},
	{METRIC("{\"value\":-inf}"), "BMF: 1:"},
	{METRIC("{\"value\":1e309}"), "overflow"},
	{METRIC("{\"value\":-1e309}"), "overflow"},
	{METRIC("{}"), "value is missing"},
	{METRIC("{\"lower_value\":1,\"upper_value\":2}"), "value is missing"},
	{METRIC("{\"value\":null}"), "value is not a number"},
	{METRIC("{\"value\":\"1.5\"}"), "value is not a number"},
	{METRIC("{\"value\":true}"), "value is not a number"},
	{METRIC("{\"value\":[1]}"), "value is not a number"},
	{METRIC("1.5"), "is not an object"},
	{METRIC("null"), "is not an object"},
	/* The bounds. */
	{METRIC("{\"value\":1.5,\"lower_value\":1.6}"), "lower_value"},
	{METRIC("{\"value\":1.5,\"upper_value\":1.4}"), "upper_value"},
	{METRIC("{\"value\":1.5,\"lower_value\":\"1\"}"), "neither a number nor null"},
	{METRIC("{\"value\":1.5,\"upper_value\":false}"), "neither a number nor null"},
	{METRIC("{\"value\":1.5,\"upper_value\":NaN}"), "BMF: 1:"},
	{METRIC("{\"value\":1.5,\"upper_value\":1e400}"), "overflow"},
	/* The keys. */
	{METRIC("{\"value\":1,\"unit\":\"ns\"}"), "unknown field"},
	{METRIC("{\"value\":1,\"Value\":1}"), "unknown field"},
	{METRIC("{\"value\":1,\"value\":2}"), "duplicate"},
	{"{\"b\":{\"latency\":{\"value\":1},\"latency\":{\"value\":1}}}", "duplicate"},
	{"{\"b\":{\"latency\":{\"value\":1}},\"b\":{\"latency\":{\"value\":1}}}", "duplicate"},
	{"{\"\":{\"latency\":{\"value\":1}}}", "empty name"},
	{"{\"b\":{\"\":{\"value\":1}}}", "not a slug"},
	{"{\"b\":{\"Latency\":{\"value\":1}}}", "not a slug"},
	{"{\"b\":{\"p50_ns\":{\"value\":1}}}", "not a slug"},
	{"{\"b\":{\"p 50\":{\"value\":1}}}", "not a slug"},
	{"{\"b\":{\"-p50\":{\"value\":1}}}", "not a slug"},
	{"{\"b\":{\"p50-\":{\"value\":1}}}", "not a slug"},
	{"{\"b\":{\"p--50\":{\"value\":1}}}", "not a slug"},
	{"{\"b\":{\"\xc3\xa9t\xc3\xa9\":{\"value\":1}}}", "not a slug"},
	{"{\"b\":{}}", "has no measure"},
	{"{\"b\":null}", "not an object of measures"},
	{"{\"b\":1}", "not an object of measures"},
	{"{\"b\":[{\"latency\":{\"value\":1}}]}", "not an object of measures"},
	/* One bad benchmark among good ones. */
	{"{\"a\":{\"latency\":{\"value\":1}},\"b\":{\"latency\":{\"value\":null}}}", "\"b\" "
										     "latency: "
										     "value"},
};

/* Checks a copy of exactly `len` bytes, so that AddressSanitizer sees a read past the end. */
static int check_exact(const char *text, size_t len, struct bb_err *err)
{
	char *copy = malloc(len ? len : 1);
	int rc;

	assert_non_null(copy);
	memcpy(copy, text, len);
	rc = bb_bmf_check(copy, len, err);
	free(copy);
	return rc;
}

static void test_good(void **state)
{
	struct bb_err err = {0};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		if (check_exact(good[i], strlen(good[i]), &err))
			fail_msg("rejected: %s\nbecause: %s", good[i], err.msg);
	}
}

static void test_bad(void **state)
{
	struct bb_err err;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		memset(&err, 0, sizeof(err));
		if (check_exact(bad[i].text, strlen(bad[i].text), &err) != -EINVAL)
			fail_msg("accepted: %s", bad[i].text);
		assert_int_equal(err.code, -EINVAL);
		if (!strstr(err.msg, bad[i].why))
			fail_msg("%s\nexpected: ...%s...\ngot: %s", bad[i].text, bad[i].why,
				 err.msg);
		/* The caller may pass NULL for the error. */
		assert_int_equal(check_exact(bad[i].text, strlen(bad[i].text), NULL), -EINVAL);
	}
}

/* A text that is cut off anywhere is invalid. A writer that died midway leaves such a text. */
static void test_truncated(void **state)
{
	static const char text[] = "{\"a\":{\"latency\":{\"value\":12.5,\"upper_value\":13}}}";
	struct bb_err err;
	size_t len;

	(void)state;
	for (len = 0; len < sizeof(text) - 1; len++)
		assert_int_equal(check_exact(text, len, &err), -EINVAL);
	assert_int_equal(check_exact(text, sizeof(text) - 1, &err), 0);
	/* A NUL at the end counts as text. */
	assert_int_equal(check_exact(text, sizeof(text), &err), -EINVAL);
}

/* Checks a document whose benchmark has a name of `name_len` bytes, and its measure one of
 * `measure_len` bytes. */
static int check_lengths(size_t name_len, size_t measure_len, struct bb_err *err)
{
	char *name = malloc(name_len + 1), *measure = malloc(measure_len + 1), *text;
	size_t size = name_len + measure_len + 32;
	int len, rc;

	text = malloc(size);
	assert_non_null(name);
	assert_non_null(measure);
	assert_non_null(text);
	memset(name, 'n', name_len);
	name[name_len] = '\0';
	memset(measure, 'm', measure_len);
	measure[measure_len] = '\0';
	len = snprintf(text, size, "{\"%s\":{\"%s\":{\"value\":1}}}", name, measure);
	assert_true(len > 0 && (size_t)len < size);
	rc = check_exact(text, (size_t)len, err);
	free(text);
	free(measure);
	free(name);
	return rc;
}

static void test_lengths(void **state)
{
	struct bb_err err = {0};

	(void)state;
	assert_int_equal(check_lengths(1, 1, &err), 0);
	assert_int_equal(check_lengths(1024, 64, &err), 0);
	assert_int_equal(check_lengths(1025, 64, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "1025 bytes"));
	assert_int_equal(check_lengths(1024, 65, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "65 bytes"));
}

static void test_name_is_counted_in_bytes(void **state)
{
	char text[2 * 513 + 64] = "{\"";
	struct bb_err err = {0};
	size_t letters;

	(void)state;
	for (letters = 512; letters <= 513; letters++) {
		size_t i, len = 2;

		for (i = 0; i < letters; i++) {
			text[len++] = '\xc3';
			text[len++] = '\xa9';
		}
		len += (size_t)snprintf(text + len, sizeof(text) - len,
					"\":{\"latency\":{\"value\":1}}}");
		assert_int_equal(check_exact(text, len, &err), letters == 512 ? 0 : -EINVAL);
	}
}

static void test_request_limit(void **state)
{
	size_t len = (4u << 20) + 1;
	char *text = malloc(len);
	struct bb_err err = {0};
	static const char doc[] = METRIC("{\"value\":1}");

	(void)state;
	assert_non_null(text);
	memset(text, ' ', len);
	memcpy(text, doc, sizeof(doc) - 1);
	assert_int_equal(bb_bmf_check(text, len - 1, &err), 0);
	assert_int_equal(bb_bmf_check(text, len, &err), -EMSGSIZE);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_name_is_counted_in_bytes),
		cmocka_unit_test(test_request_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
