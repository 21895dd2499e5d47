/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>

#include "base/std.h"

static void test_append(void **state)
{
	uint64_t *v = NULL;
	size_t n = 0;

	(void)state;
	for (uint64_t i = 0; i < 1000; i++) {
		uint64_t *added = bb_append(&v, &n, sizeof(*added));

		assert_non_null(added);
		assert_ptr_equal(added, &v[i]);
		assert_int_equal(*added, 0);
		*added = i + 1;
	}
	assert_int_equal(n, 1000);
	for (uint64_t i = 0; i < n; i++)
		assert_int_equal(v[i], i + 1);
	free(v);
}

static void test_reserve(void **state)
{
	char *text = NULL;
	size_t size = 0;

	(void)state;
	assert_int_equal(bb_reserve(&text, 5, &size, 1), 0);
	assert_true(size >= 5);
	text[4] = 'x';
	assert_int_equal(bb_reserve(&text, 5000, &size, 1), 0);
	assert_true(size >= 5000);
	assert_int_equal(text[4], 'x');
	assert_int_equal(bb_reserve(&text, SIZE_MAX, &size, 16), -ENOMEM);
	assert_int_equal(text[4], 'x');
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_append),
		cmocka_unit_test(test_reserve),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
