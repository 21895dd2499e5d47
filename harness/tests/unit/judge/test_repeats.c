/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much stored runs of the same program differ: judge/repeats.h. */
#include "unit/stats_testing.h"

#include "judge/repeats.h"
#include "stats/loads.h"
#include "store/store.h"
#include "unit/folder_testing.h"
#undef assert_near
#undef assert_nan
#include "unit/report_testing.h"

/* Makes a run of one program, whose loads all have this latency. */
static struct bb_report *make_run(const char *id, const char *tag, uint64_t ns)
{
	struct bb_report *r = make_report(id);
	size_t i = make_case(r, "counter", "step", NULL, 0);

	for (uint32_t load = 0; load < 3; load++)
		add_samples(make_series(r, i, load), ns, 10);
	set_text(&make_program(r, "counter", "counter")->tag, tag);
	return r;
}

static void store_run(unsigned int day, const char *name, const char *tag, uint64_t ns)
{
	struct bb_report *r;
	struct bb_err err = {0};
	char id[64];

	snprintf(id, sizeof(id), "202601%02uT000000Z-%s-%08x", day, name, day);
	r = make_run(id, tag, ns);
	if (bb_store__write(folder, r, NULL, &err))
		fail_msg("%s", err.msg);
	bb_report__free(r);
}

/* Returns the note of a new run of the program `tag`. */
static struct bb_case noted(const char *tag)
{
	struct bb_report *r = make_run("20260201T000000Z-prog-x-1", tag, 100);
	struct bb_case c;

	bb_repeats__note(folder, r);
	c = r->cases[0]; /* only its numbers are used */
	bb_report__free(r);
	return c;
}

/* Runs of another program, name or machine do not count, and too few runs say nothing. */
static void test_same_program(void **state)
{
	static const uint64_t ns[] = {100, 104, 96, 102, 98, 101};
	double ln[BB_LEN(ns)];
	struct bb_spread spread;

	(void)state;
	for (unsigned int i = 0; i < BB_LEN(ns); i++) {
		assert_nan(noted("a1").between);
		store_run(i + 1, "prog-x", "a1", ns[i]);
		store_run(i + 1, "prog-y", "a1", 1000 * (i + 1));
		store_run(i + 11, "prog-x", "b2", 500);
		ln[i] = log((double)ns[i]);
	}
	spread = bb_spread_of(ln, BB_LEN(ns));
	assert_near(noted("a1").between, bb_pool_spreads(&spread, 1, NULL, 0, BB_ALPHA).half_width);
	assert_int_equal(noted("a1").between_runs, BB_LEN(ns));
	assert_near(noted("b2").between, 0);
	assert_nan(noted("c3").between);
}

/* Only the newest runs count. */
static void test_newest(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < BB_REPEATS_READ + 3; i++)
		store_run(i + 1, "prog-x", "a1", i < 3 ? 5000 : 100);
	assert_int_equal(noted("a1").between_runs, BB_REPEATS_READ);
	assert_near(noted("a1").between, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_same_program, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_newest, make_folder, remove_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
