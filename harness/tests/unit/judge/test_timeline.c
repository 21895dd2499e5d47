/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `history` keeps of a run. Marks, order and files that are no runs are tested end to end in
 * cli/test_history.sh. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <limits.h>

#include "judge/timeline.h"
#include "store/store.h"
#include "unit/folder_testing.h"
#include "unit/report_testing.h"

static void store(struct bb_report *r)
{
	bb_report__summarise(r);
	assert_int_equal(bb_store__write(folder, r, NULL, NULL), 0);
	bb_report__free(r);
}

static struct bb_timeline read_all(void)
{
	struct bb_timeline_opts opts = {.rule = bb_history_default_rule};
	struct bb_timeline t = {0};
	struct bb_err err = {0};

	if (bb_timeline__read(folder, &opts, &t, &err))
		fail_msg("%s", err.msg);
	return t;
}

static void add_loads(struct bb_report *r, size_t i, const uint32_t *loads, const uint64_t *ns,
		      size_t n)
{
	for (size_t k = 0; k < n; k++)
		add_samples(make_series(r, i, loads[k]), ns[k], 10);
}

/* The ratio is computed round by round, whatever their order. Rounds that only one of the two
 * programs has are left out. */
static void test_ratio_by_rounds(void **state)
{
	static const uint32_t rounds[] = {0, 1, 2, 3}, mixed[] = {3, 2, 7, 1, 0};
	static const uint64_t floor_ns[] = {100, 200, 300, 400}, ns[] = {800, 660, 9999, 420, 190};
	struct bb_report *r = make_report("20260101T000000Z-x");
	struct bb_timeline t;
	struct bb_timeline_point *p;
	size_t empty = make_case(r, "empty", "step", "stack_depth", 8);
	size_t program = make_case(r, "ringbuf", "step", "stack_depth", 8), elsewhere;

	(void)state;
	add_loads(r, empty, rounds, floor_ns, 4);
	add_loads(r, program, mixed, ns, 5);
	elsewhere = make_case(r, "ringbuf", "step", "stack_depth", 32);
	add_loads(r, elsewhere, mixed, ns, 5);
	r->cases[empty].is_anchor = true;
	store(r);
	t = read_all();
	assert_int_equal(t.n_cases, 3);
	assert_int_equal(t.n_runs, 1);

	p = &t.cases[1].points[0];
	assert_int_equal(t.cases[1].by, BB_BY_RATIO);
	/* 800/400 = 2, 660/300 = 2.2, 420/200 = 2.1, 190/100 = 1.9. The median in ln is sqrt(2 *
	 * 2.1). */
	assert_near(p->of->figure[BB_BY_RATIO].value, sqrt(2 * 2.1));
	assert_nan(p->of->figure[BB_BY_RATIO].lo);
	assert_near(p->of->figure[BB_BY_LATENCY].value, 660);
	assert_int_equal(p->of->loads, 5);

	assert_true(t.cases[0].is_anchor);
	assert_int_equal(t.cases[0].by, BB_BY_LATENCY);
	assert_nan(t.cases[0].points[0].of->figure[BB_BY_RATIO].value);
	assert_int_equal(t.cases[2].by, BB_BY_LATENCY); /* no anchor at that depth */
	assert_int_equal(p->judged.mark, BB_HISTORY_LEARNING);
	bb_timeline__done(&t);
}

/* ln of 100, 100 e^0.01, ...: the deviations from the median are 0.02 0.01 0 0.01 0.02, so the MAD
 * is 0.01. */
static void test_standard_error(void **state)
{
	static const uint32_t rounds[] = {0, 1, 2, 3, 4};
	static const uint64_t ns[] = {1000000, 1010050, 1020201, 1030455, 1040811};
	struct bb_report *r = make_report("20260101T000000Z-x");
	struct bb_timeline t;

	(void)state;
	add_loads(r, make_case(r, "five", "step", NULL, 0), rounds, ns, 5);
	add_loads(r, make_case(r, "one", "step", NULL, 0), rounds, ns, 1);
	set_text(&BB_ADD(bb_series_record, &r->cases[1], series)->void_why, "misses");
	store(r);
	t = read_all();
	/* The histogram keeps 12 significant bits. */
	assert_near_by(t.cases[0].points[0].of->se[BB_BY_LATENCY],
		       sqrt(M_PI / 2) * 1.4826 * 0.01 / sqrt(5), 5e-4);
	assert_true(t.cases[0].points[0].of->se[BB_BY_LATENCY] > 0.007 &&
		    t.cases[0].points[0].of->se[BB_BY_LATENCY] < 0.0095);
	assert_nan(t.cases[1].points[0].of->se[BB_BY_RATIO]);
	assert_int_equal(t.cases[1].points[0].of->voids, 1);
	bb_timeline__done(&t);
}

/* Runs are in the order in which they started, not by file name. A point whose fingerprint differs
 * from the newest one is void. */
static void test_order_and_machines(void **state)
{
	static const uint32_t rounds[] = {0, 1};
	static const uint64_t ns[] = {1000, 1001};
	static const char *const ids[] = {"b", "a", "c"},
				 *const started[] = {"2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z",
						     "2026-01-03T00:00:00Z"},
				 *const kernels[] = {"6.1", "6.12", "6.12"};
	struct bb_report *r;
	struct bb_timeline t;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		r = make_report(ids[i]);
		set_text(&r->started, started[i]);
		assert_int_equal(bb_fingerprint_set(&r->fingerprint, "kernel_release", kernels[i]),
				 0);
		add_loads(r, make_case(r, "five", "step", NULL, 0), rounds, ns, 2);
		store(r);
	}
	t = read_all();
	assert_int_equal(t.n_runs, 3);
	assert_int_equal(t.index.n_machines, 2);
	for (size_t i = 0; i < 3; i++) {
		assert_string_equal(t.runs[i].of->id, ids[i]);
		assert_int_equal(t.cases[0].points[i].run, i);
	}
	assert_near(t.runs[0].epoch_s, 1767225600); /* date -u -d 2026-01-01 +%s */
	assert_string_equal(t.cases[0].points[0].differs, "kernel_release");
	assert_int_equal(t.cases[0].points[0].judged.mark, BB_HISTORY_VOID);
	assert_null(t.cases[0].points[1].differs);
	bb_timeline__done(&t);
}

static void test_empty_folder_and_bad_rule(void **state)
{
	struct bb_timeline_opts opts = {
		.rule = {.eps = 0.01, .alpha = 0.01, .window_min = 1, .window_max = 1}};
	struct bb_timeline t = read_all();
	struct bb_report *r = make_report("20260101T000000Z-x");
	struct bb_err err;

	(void)state;
	assert_int_equal(t.n_cases, 0);
	bb_timeline__done(&t);
	/* A case without series still is a point. */
	make_case(r, "nothing", "step", NULL, 0);
	store(r);
	t = read_all();
	assert_int_equal(t.cases[0].n_points, 1);
	assert_nan(t.cases[0].points[0].of->figure[BB_BY_LATENCY].value);
	bb_timeline__done(&t);
	assert_int_equal(bb_timeline__read(folder, &opts, &t, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "windows of 1 to 1"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_ratio_by_rounds, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_standard_error, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_order_and_machines, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(test_empty_folder_and_bad_rule, make_folder,
						remove_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
