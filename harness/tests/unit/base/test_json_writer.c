/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/json_writer.h"

/* Returns the text that `put` writes into an object or array; the caller frees it. */
static char *written(void (*put)(struct bb_json *w), const char *opening, unsigned int indent)
{
	char *text = NULL;
	size_t len;
	FILE *mem = open_memstream(&text, &len);
	struct bb_json w = {.out = mem, .indent = indent};

	assert_non_null(mem);
	bb_json__open(&w, NULL, opening);
	put(&w);
	bb_json__end(&w);
	assert_int_equal(fclose(mem), 0);
	return text;
}

static void put_layout(struct bb_json *w)
{
	bb_json__add_u64(w, "one", 1);
	bb_json__open(w, "none", "[\n");
	bb_json__close(w);
	bb_json__open(w, "list", "[\n");
	for (int i = 0; i < 2; i++) {
		bb_json__open(w, NULL, "{");
		bb_json__add_bool(w, "a", i);
		fprintf(bb_json__add(w, "b"), "%d", -i);
		bb_json__break(w);
		bb_json__open(w, "c", "[");
		bb_json__add_u64(w, NULL, 1);
		bb_json__add_u64(w, NULL, 2);
		bb_json__close(w);
		bb_json__open(w, "d", "{");
		bb_json__close(w);
		bb_json__close(w);
	}
	bb_json__close(w);
	bb_json__open(w, "left", "{");
	bb_json__open(w, "open", "[");
}

static void test_layout(void **state)
{
	char *text = written(put_layout, "{\n", 2);
	json_t *parsed;

	(void)state;
	assert_string_equal(text, "{\n"
				  "  \"one\": 1,\n"
				  "  \"none\": [],\n"
				  "  \"list\": [\n"
				  "    {\"a\": false, \"b\": 0,\n"
				  "      \"c\": [1, 2], \"d\": {}},\n"
				  "    {\"a\": true, \"b\": -1,\n"
				  "      \"c\": [1, 2], \"d\": {}}\n"
				  "  ],\n"
				  "  \"left\": {\"open\": []}\n"
				  "}\n");
	free(text);
	text = written(put_layout, "{", 0);
	parsed = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(parsed);
	json_decref(parsed);
	free(text);
}

static void put_values(struct bb_json *w)
{
	bb_json__add_text(w, NULL, "a\"b\\c\n\x7f/\xc3\xa9\xe2\x82\xac");
	bb_json__add_text(w, NULL, "x\xff\xfey\xc3");
	bb_json__add_text(w, NULL, "");
	bb_json__add_text(w, NULL, NULL);
	bb_json__add_u64(w, NULL, BB_JSON_EXACT);
	bb_json__add_u64(w, NULL, BB_JSON_EXACT + 1);
	bb_json__add_double(w, NULL, 0.1);
	bb_json__add_double(w, NULL, NAN);
	bb_json__add_fixed(w, NULL, 2.0);
	bb_json__open(w, NULL, "[");
	bb_json__add_fixed(w, NULL, INFINITY);
	bb_json__close(w);
}

static void test_values(void **state)
{
	char *text = written(put_values, "[", 0);

	(void)state;
	assert_string_equal(text, "[\"a\\\"b\\\\c\\u000a\\u007f/\xc3\xa9\xe2\x82\xac\", "
				  "\"x\\ufffd\\ufffdy\\ufffd\", \"\", null, 9007199254740992, "
				  "\"0x20000000000001\", 0.1, null, 2, []]\n");
	free(text);
}

static void put_key(struct bb_json *w)
{
	bb_json__add_u64(w, "a \"key\"", 1);
}

static void put_no_key(struct bb_json *w)
{
	bb_json__add_u64(w, NULL, 1);
}

static void put_closed(struct bb_json *w)
{
	bb_json__close(w);
	bb_json__close(w);
}

static void put_deep(struct bb_json *w)
{
	for (int i = 0; i < BB_JSON_MAX_DEPTH; i++)
		bb_json__open(w, "deep", "{");
}

static void put_break(struct bb_json *w)
{
	bb_json__break(w);
}

static bool is_refused(void (*put)(struct bb_json *w), const char *opening)
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (!child) {
		static const struct rlimit no_core;

		setrlimit(RLIMIT_CORE, &no_core);
		signal(SIGABRT, SIG_DFL); /* cmocka's handler would run the other tests here */
		(void)!freopen("/dev/null", "w", stderr);
		free(written(put, opening, 0));
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void test_misuse(void **state)
{
	(void)state;
	assert_false(is_refused(put_key, "{"));
	assert_false(is_refused(put_no_key, "["));
	assert_true(is_refused(put_key, "["));
	assert_true(is_refused(put_no_key, "{"));
	assert_true(is_refused(put_closed, "{"));
	assert_true(is_refused(put_deep, "{"));
	assert_true(is_refused(put_break, "{"));
	assert_true(is_refused(put_layout, "("));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layout),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_misuse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
