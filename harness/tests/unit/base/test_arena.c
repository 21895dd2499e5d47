/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"

static void count(void *thing)
{
	++*(int *)thing;
}

static void test_arena(void **state)
{
	static const int items[] = {1, 2};
	struct bb_arena a = {0};
	int n_let_go = 0, *longer;
	char *text = bb_strdup("x");

	(void)state;
	assert_ptr_equal(bb_arena__own(&a, text), text);
	assert_null(bb_arena__own(&a, NULL));
	longer = bb_arena__extend(&a, items, BB_LEN(items), 2, sizeof(*items));
	assert_int_equal(longer[0], 1);
	assert_int_equal(longer[1], 2);
	assert_int_equal(longer[2] | longer[3], 0);
	assert_non_null(bb_arena__extend(&a, NULL, 0, 0, sizeof(*items)));
	bb_arena__hold(&a, &n_let_go, count);
	assert_int_equal(n_let_go, 0);
	bb_arena__done(&a);
	assert_int_equal(n_let_go, 1);
	bb_arena__done(&a); /* it is empty, and can be used again */
	assert_int_equal(n_let_go, 1);
	bb_arena__own(&a, bb_strdup("y"));
	bb_arena__done(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arena),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
