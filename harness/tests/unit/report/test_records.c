/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/record.h"
#include "report/report.h"

static void test_defaults_and_end(void **state)
{
	struct bb_report *r = bb_report__new();
	struct bb_series *s;

	(void)state;
	assert_non_null(r);
	assert_int_equal(BB_ADD(bb_case_record, r, cases)->units_per_ns, 1);
	assert_int_equal(r->cases[0].floor, BB_NO_FLOOR);
	s = BB_ADD(bb_series_record, &r->cases[0], series);
	assert_non_null(s);
	assert_int_equal(s->jit_mod64, -1);
	assert_true(isnan(s->steal) && isnan(s->slope.cycles) && isnan(s->reference_ns[0]));
	s->void_why = strdup("a text that is freed with its report");
	bb_report__free(r);
}

static void test_numbers(void **state)
{
	const double x[] = {1, NAN, 3};
	struct bb_numbers list = {0};
	double out[4] = {0};

	(void)state;
	bb_numbers__append(&list, x, 3);
	bb_numbers__copy(&list, out, 4);
	assert_true(out[0] > 0.9 && isnan(out[1]) && out[2] > 2.9 && isnan(out[3]));
	free(list.x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults_and_end),
		cmocka_unit_test(test_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
