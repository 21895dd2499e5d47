/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/std.h"

static void test_text_of_the_code(void **state)
{
	struct bb_err err = {0};

	(void)state;
	errno = EEXIST;
	assert_int_equal(bb_fail(&err, -ENOENT, "%s: %m; %d", "file", 7), -ENOENT);
	assert_string_equal(err.msg, "file: No such file or directory; 7");
	assert_int_equal(err.code, -ENOENT);
	assert_int_equal(errno, EEXIST);
}

/* The message of an error may be an argument of the next message. */
static void test_own_message_as_argument(void **state)
{
	struct bb_err err = {0};

	(void)state;
	bb_fail(&err, -EINVAL, "inner");
	assert_int_equal(bb_fail(&err, -EIO, "outer: %s", err.msg), -EIO);
	assert_string_equal(err.msg, "outer: inner");
	assert_int_equal(bb_fail(NULL, -EIO, "%m"), -EIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_of_the_code),
		cmocka_unit_test(test_own_message_as_argument),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
