/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Makefile links this test with base, core, stats, plan, env and report only, so none of them
 * needs a driver. A program has only the drives that it passes to bb_drive_kinds__pass().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "core/drive_kind.h"
#include "plan/plan.h"
#include "plan/scenario.h"
#include "report/report.h"

#define SCENARIO "{name: n, variants: [{name: v}], drive: [{with: mine}]}"

static const struct bb_drive_kind mine = {.with = "mine",
					  .doc = "a drive of this test",
					  .pace = {.samples = 100, .turn = 10},
					  .sample = BB_SAMPLE_RUN,
					  .synthetic = true};
static const struct bb_drive_kind *const kinds[] = {&mine};

static void test_none(void **state)
{
	struct bb_scenario *s = NULL;
	struct bb_err err = {0};

	(void)state;
	bb_drive_kinds__pass(NULL, 0);
	assert_null(bb_drive_kind_find("mine", NULL));
	assert_true(bb_scenario__parse(SCENARIO, strlen(SCENARIO), "t.yml", &s, &err) < 0);
	assert_string_equal(bb_drive_kind_named("step")->sample.unit, "ns per run");
}

static void test_one(void **state)
{
	struct bb_plan_opts opts = {.loads = 4};
	struct bb_scenario *s = NULL;
	struct bb_err err = {0};
	struct bb_plan plan;

	(void)state;
	bb_drive_kinds__pass(kinds, 1);
	if (bb_scenario__parse(SCENARIO, strlen(SCENARIO), "t.yml", &s, &err) ||
	    bb_plan__make(s, &opts, &plan, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(plan.n_cases, 1);
	assert_string_equal(plan.cases[0].name, "n/v/mine");
	assert_int_equal(plan.cases[0].samples, 100);
	bb_plan__done(&plan);
	bb_scenario__free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
