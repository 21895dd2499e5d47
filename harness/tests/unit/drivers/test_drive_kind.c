/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A new kind of drive needs one file and one row. This file is the driver, and its table of kinds
 * (in place of drivers/registry.c) has the row. Scenario, plan, run, comparison and report then
 * work without any change.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/driver.h"
#include "cli/output.h"
#include "plan/plan.h"
#include "report/report.h"
#include "run/runner.h"

/* --- the file --- */

static const char *spin_name(size_t i)
{
	static const char *const names[] = {"up", "down"};

	return i < sizeof(names) / sizeof(names[0]) ? names[i] : NULL;
}

/* At rate r, one spin takes r + 3 ps (thousandths of a nanosecond). */
static int toy_batch(void *slot, uint32_t param, struct bb_batch *b, struct bb_err *err)
{
	const struct bb_drive_spec *spec = ((struct bb_drive_slot *)slot)->state->spec;

	(void)err;
	assert_string_equal(spec->call.function, "down");
	for (b->n = 0; b->n < b->want; b->n++)
		b->ns[b->n] = param + 3;
	return 0;
}

static const struct bb_driver toy = {
	.kind = {.with = "toy",
		 .doc = "a top that spins",
		 .keys = {{.name = "function", .choice = spin_name},
			  {.name = "rate_hz"},
			  {.name = "seconds"}},
		 .param = "rate_hz",
		 .param_default = 5,
		 .seconds = 2,
		 .pace = BB_TIMED_PACE,
		 .batch_samples = 120,
		 .sample = {"spin", "ns per spin", false},
		 .units_per_ns = 1000,
		 .synthetic = true},
	.batch = toy_batch,
};

/* --- the row --- */

static const struct bb_drive_kind *const kinds[] = {&toy.kind};

/* --- everything else follows --- */

#define SCENARIO                                                                                   \
	"name: tops\n"                                                                             \
	"variants: [{name: small}]\n"                                                              \
	"drive: [{with: toy, function: down, rate_hz: [10, 20]}]\n"

static struct bb_scenario *must_parse(const char *text)
{
	struct bb_scenario *s = NULL;
	struct bb_err err = {0};

	if (bb_scenario__parse(text, strlen(text), "t.yml", &s, &err))
		fail_msg("%s", err.msg);
	return s;
}

static void test_scenario_and_plan(void **state)
{
	struct bb_scenario *s = must_parse(SCENARIO);
	struct bb_plan_opts opts = {.loads = 4};
	struct bb_err err = {0};
	struct bb_plan plan;

	(void)state;
	assert_int_equal(bb_plan__make(s, &opts, &plan, &err), 0);
	assert_int_equal(plan.n_cases, 2);
	assert_string_equal(plan.cases[0].name, "tops/small/toy/rate_hz=10");
	assert_string_equal(plan.cases[1].name, "tops/small/toy/rate_hz=20");
	assert_true(plan.cases[0].seconds == 2);
	bb_plan__done(&plan);
	bb_scenario__free(s);
}

static void test_defaults(void **state)
{
	struct bb_scenario *s = must_parse("{name: n, variants: [{name: v}], drive: [{with: toy, "
					   "function: up}]}");

	(void)state;
	assert_int_equal(s->drives[0].values.n, 1);
	assert_int_equal(s->drives[0].values.v[0], 5);
	bb_scenario__free(s);
}

static void test_complaints(void **state)
{
	static const struct {
		const char *drive, *message;
	} bad[] = {
		{"with: top", "unknown with 'top' (did you mean 'toy'?); there are: toy"},
		{"with: toy", "a drive needs the key 'function'"},
		{"with: toy, function: dwn", "(did you mean 'down'?)"},
		{"with: toy, function: up, workload: w", "does not belong to 'with: toy'"},
	};
	char text[200];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct bb_scenario *s = NULL;
		struct bb_err err = {0};

		snprintf(text, sizeof(text), "{name: n, variants: [{name: v}], drive: [{%s}]}",
			 bad[i].drive);
		assert_int_equal(bb_scenario__parse(text, strlen(text), "t.yml", &s, &err),
				 -EINVAL);
		if (!strstr(err.msg, bad[i].message))
			fail_msg("'%s' is not in: %s", bad[i].message, err.msg);
	}
}

static void test_run_and_table(void **state)
{
	struct bb_run_opts run_opts = {.seed = 1};
	struct bb_plan_opts opts = {.loads = 4};
	struct bb_scenario *s = must_parse(SCENARIO);
	struct bb_report *r = bb_report__new();
	struct bb_err err = {0};
	struct bb_plan plan;
	char *table = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&table, &size);

	(void)state;
	assert_non_null(out);
	assert_int_equal(bb_plan__make(s, &opts, &plan, &err), 0);
	if (bb_run_plan(&plan, &run_opts, r, &err))
		fail_msg("%s", err.msg);
	bb_report__summarise(r);
	assert_int_equal(r->n_cases, 2);
	assert_int_equal(r->cases[0].n_series, 4);
	assert_int_equal(r->cases[0].summary.samples, 480);
	assert_true(fabs(r->cases[0].summary.latency.value - 0.013) < 1e-9);
	assert_true(r->cases[1].summary.rate_requested.value == 20);
	assert_int_equal(bb_export(bb_exporter_find("table"), r, NULL, out, &err), 0);
	fclose(out);
	assert_non_null(strstr(table, "tops, toy, over rate_hz (ns per spin)"));
	free(table);
	bb_report__free(r);
	bb_plan__done(&plan);
	bb_scenario__free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scenario_and_plan),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_complaints),
		cmocka_unit_test(test_run_and_table),
	};

	bb_drive_kinds__pass(kinds, 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
