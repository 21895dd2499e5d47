/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `bpfbench live` without a kernel: figures from counters, how rows are sorted and printed, and how
 * the pause follows the load. */
#include "unit/stats_testing.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/live_print.h"
#include "openmetrics_check.h"
#include "run/live.h"

static void test_count(void **state)
{
	static const struct bb_prog_stats before = {.run_time_ns = 5000,
						    .run_cnt = 10,
						    .recursion_misses = 1},
					  after = {.run_time_ns = 405000,
						   .run_cnt = 1010,
						   .recursion_misses = 5};
	struct bb_live_row row = {.gone = true, .windows = 3};

	(void)state;
	bb_live_row__count(&row, &before, &after, 0.5);
	assert_int_equal(row.runs, 1000);
	assert_int_equal(row.misses, 4);
	assert_same(row.runs_per_s, 2000);
	assert_same(row.misses_per_s, 8);
	assert_same(row.ns_per_run, 400);
	assert_near(row.cpu_share, 0.0008, 1e-15); /* 400 us in half a second */
	assert_int_equal(row.total.run_cnt, 1010);
	assert_true(row.gone && row.windows == 3); /* bb_live_row__count() does not change these */

	bb_live_row__count(&row, &after, &after, 2);
	assert_int_equal(row.runs, 0);
	assert_same(row.runs_per_s, 0);
	assert_nan(row.ns_per_run); /* without a run, there is no cost */
	assert_same(row.cpu_share, 0);
	assert_nan(bb_live_row__share(&row));
}

/* Makes a row of n runs that took 1..n ns. */
static struct bb_live_row distributed(uint64_t n)
{
	struct bb_live_row row = {.runs = 2 * n};
	struct bb_live_windows w = {0};

	for (uint64_t i = 1; i <= n; i++)
		bb_live_windows__add(&w, 1, i);
	bb_live_row__distribute(&row, &w);
	bb_live_windows__done(&w);
	return row;
}

static void test_distribute(void **state)
{
	struct bb_live_row row = distributed(1001);

	(void)state;
	assert_same(row.p50, 501);
	assert_same(row.p90, 901);
	assert_same(row.p99, 991);
	assert_int_equal(row.windows, 1001);
	assert_same(row.windows_ns, 1001 * 501);
	assert_same(bb_live_row__share(&row), 0.5);
	row = distributed(999);
	assert_same(row.p90, 899.2);
	assert_nan(row.p99); /* needs ten runs above it */
	row = distributed(99);
	assert_same(row.p50, 50);
	assert_nan(row.p90);
	row = distributed(0); /* there were runs, but none alone */
	assert_nan(row.p50);
	assert_int_equal(row.mean_of, 0);
}

/* A profiler on two CPUs: hardly any run has a window of its own. */
static void test_means(void **state)
{
	struct bb_live_row row = {.runs = 220};
	struct bb_live_windows w = {0};

	(void)state;
	for (uint64_t i = 0; i < 100; i++)
		bb_live_windows__add(&w, 2, 2 * (1000 + i));
	for (int i = 0; i < 10; i++)
		bb_live_windows__add(&w, 1, 50);
	bb_live_windows__add(&w, 1000, 1); /* too many runs for one window */
	bb_live_row__distribute(&row, &w);
	assert_int_equal(row.mean_of, 2);
	assert_int_equal(row.windows, 100);
	assert_same(row.windows_ns, 200 * 1049.5);
	assert_same(row.p50, 1049.5);
	assert_near(bb_live_row__share(&row), 200.0 / 220, 1e-12);
	for (int i = 0; i < 90; i++) /* with half as many single runs, those are used */
		bb_live_windows__add(&w, 1, 50);
	bb_live_row__distribute(&row, &w);
	assert_int_equal(row.mean_of, 1);
	assert_same(row.p50, 50);
	bb_live_windows__done(&w);
}

static const struct bb_live_row rows[] = {
	{.program = {7, 6, "beta"},
	 .runs_per_s = 10,
	 .ns_per_run = 500,
	 .cpu_share = 0.1,
	 .runs = 10,
	 .mean_of = 1,
	 .windows = 10,
	 .windows_ns = 5000,
	 .single = {.counts = {[0] = 3, [41] = 1}, .n = 4, .sum_ns = 40000000},
	 .p50 = 490,
	 .p90 = NAN,
	 .p99 = NAN,
	 .seconds = 1,
	 .total = {123456, 40, 2}},
	{.program = {3, 6, "idle"},
	 .ns_per_run = NAN,
	 .p50 = NAN,
	 .p90 = NAN,
	 .p99 = NAN,
	 .seconds = 1},
	{.program = {5, 4711, "q\"\\u"},
	 .gone = true,
	 .runs_per_s = 3000,
	 .ns_per_run = 20,
	 .cpu_share = 0.1,
	 .runs = 3000,
	 .mean_of = 1,
	 .windows = 1200,
	 .windows_ns = 24000,
	 .p50 = 20,
	 .p90 = 21,
	 .p99 = 22.5,
	 .seconds = 0.25,
	 .total = {1u << 30, 3000, 0}},
};

static const struct bb_live_order *order_named(const char *name)
{
	for (size_t i = 0; i < BB_N_LIVE_ORDERS; i++)
		if (!strcmp(bb_live_orders[i].name, name))
			return &bb_live_orders[i];
	fail_msg("no order '%s'", name);
	return NULL;
}

static void check_order(const char *name, uint32_t a, uint32_t b, uint32_t c)
{
	struct bb_live_row sorted[N_OF(rows)];

	memcpy(sorted, rows, sizeof(rows));
	bb_live_rows__sort(sorted, N_OF(rows), order_named(name));
	assert_int_equal(sorted[0].program.id, a);
	assert_int_equal(sorted[1].program.id, b);
	assert_int_equal(sorted[2].program.id, c);
}

static void test_orders(void **state)
{
	(void)state;
	check_order("cpu", 5, 7, 3); /* equal rows by id */
	check_order("runs", 5, 7, 3);
	check_order("ns", 7, 5, 3); /* rows without the figure are last */
	check_order("name", 7, 3, 5);
}

static char *print_some(int format, size_t n, bool all)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	bb_live_formats[format].print(rows, n,
				      &(struct bb_live_view){.all = all, .look = bb_doc_plain_look},
				      out);
	assert_int_equal(fclose(out), 0);
	return text;
}

static char *print(int format, size_t n)
{
	return print_some(format, n, true);
}

static void test_openmetrics(void **state)
{
	char *text = print(BB_LIVE_OPENMETRICS, N_OF(rows));
	struct bb_err err = {0};

	(void)state;
	assert_non_null(strstr(text, "\nbpf_program_runs_total{id=\"7\",type=\"xdp\",name=\"beta\"}"
				     " 40\n"));
	assert_non_null(strstr(text, "\nbpf_program_run_time_seconds_total{id=\"7\",type=\"xdp\","
				     "name=\"beta\"} 0.000123456\n"));
	assert_non_null(strstr(text, "{id=\"5\",type=\"type-4711\",name=\"q\\\"\\\\u\",quantile="
				     "\"0.5\"} 2e-08\n"));
	assert_non_null(strstr(text, "_bucket{id=\"7\",type=\"xdp\",name=\"beta\",le=\"3.2e-08\"} "
				     "3\n"));
	assert_non_null(strstr(text, ",le=\"0.033554432\"} 3\n"));
	assert_non_null(strstr(text, ",le=\"+Inf\"} 4\n"));
	assert_non_null(strstr(text, "_sum{id=\"7\",type=\"xdp\",name=\"beta\"} 0.04\n"));
	assert_null(strstr(text, "nan"));
	assert_null(strstr(text, "null"));
	/* Ten runs have no 90th percentile. */
	assert_null(strstr(text, "name=\"beta\",quantile=\"0.9\""));
	if (bb_openmetrics_check(text, &err))
		fail_msg("%s", err.msg);
	free(text);
	text = print(BB_LIVE_OPENMETRICS, 0);
	if (bb_openmetrics_check(text, &err))
		fail_msg("%s", err.msg);
	free(text);
}

/* The checker must find these errors, or the test above says nothing. */
static void test_openmetrics_checker(void **state)
{
	static const char *const bad[] = {
		"",
		"# EOF\n",
		"# HELP a b\n# TYPE a gauge\na{x=\"1\"} 1\n",
		"# HELP a b\n# TYPE a gauge\na{x=\"1\"} 1\n# EOF",
		"# TYPE a gauge\na{x=\"1\"} 1\n# EOF\n",
		"# HELP a b\n# TYPE a counter\na{x=\"1\"} 1\n# EOF\n",
		"# HELP a b\n# TYPE a gauge\na{x=\"1\"} 1\na{x=\"1\"} 2\n# EOF\n",
		"# HELP a b\n# TYPE a gauge\nb{x=\"1\"} 1\n# EOF\n",
		"# HELP a b\n# TYPE a gauge\na{x=\"1} 1\n# EOF\n",
		"# HELP a b\n# TYPE a gauge\na{x=\"1\"} null\n# EOF\n",
		"# HELP a b\n# TYPE a gauge\n# UNIT a seconds\na{x=\"1\"} 1\n# EOF\n",
		"# HELP a b\n# TYPE a gauge\n# HELP a b\n# TYPE a gauge\n# EOF\n",
		"# HELP a b\n# TYPE a gauge\na{x=\"\\q\"} 1\n# EOF\n",
		"# HELP a b\n# TYPE a histogram\na_bucket{le=\"1\"} 2\na_bucket{le=\"+Inf\"} 1\n# "
		"EOF\n",
		"# HELP a b\n# TYPE a histogram\na_bucket{le=\"1\"} 2\na_count{x=\"\"} 2\n# EOF\n",
	};

	(void)state;
	for (size_t i = 0; i < N_OF(bad); i++) {
		char *text = strdup(bad[i]);
		struct bb_err err = {0};

		assert_non_null(text);
		if (!bb_openmetrics_check(text, &err))
			fail_msg("taken: %s", bad[i]);
		free(text);
	}
}

static void test_json(void **state)
{
	char *text = print(BB_LIVE_JSON, N_OF(rows));
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL),
	       *programs = json_object_get(root, "programs");

	(void)state;
	assert_int_equal(json_array_size(programs), 3);
	assert_true(json_is_null(json_object_get(json_array_get(programs, 1), "ns_per_run")));
	assert_int_equal(json_integer_value(json_object_get(json_array_get(programs, 0), "total_"
											 "runs")),
			 40);
	assert_true(json_is_true(json_object_get(json_array_get(programs, 2), "gone")));
	assert_string_equal(json_string_value(json_object_get(json_array_get(programs, 2), "name")),
			    "q\"\\u");
	json_decref(root);
	free(text);
}

static void test_table(void **state)
{
	char *text = print(BB_LIVE_TABLE, N_OF(rows));

	(void)state;
	assert_non_null(strstr(text, "ns/run"));
	assert_non_null(strstr(text, "(gone)"));
	assert_non_null(strstr(text, " ~20.0 ")); /* 1200 of 3000 runs */
	assert_null(strstr(text, "~490"));        /* that would be of all runs */
	assert_null(strstr(text, "nan"));
	assert_non_null(strstr(text, "  idle"));
	assert_null(strstr(text, "did not run"));
	free(text);
	text = print_some(BB_LIVE_TABLE, N_OF(rows), false);
	assert_null(strstr(text, "  idle"));
	assert_non_null(strstr(text, "\n1 program did not run: idle (--all lists it)\n"));
	free(text);
}

static void test_pause(void **state)
{
	uint64_t pause_ns = 200000, longest_ns = 0;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		uint64_t next_ns = bb_live_next_pause(pause_ns, false);

		assert_true(next_ns >= pause_ns);
		pause_ns = longest_ns = next_ns;
	}
	assert_in_range(longest_ns, 500000, 5000000); /* still a short sleep */
	assert_true(bb_live_next_pause(pause_ns, true) < pause_ns);
	for (int i = 0; i < 20; i++)
		pause_ns = bb_live_next_pause(pause_ns, true);
	assert_int_equal(pause_ns, 0);
	/* In a burst, there is no pause until the next look. */
	assert_int_equal(bb_live_next_pause(0, false), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_count),       cmocka_unit_test(test_distribute),
		cmocka_unit_test(test_means),       cmocka_unit_test(test_orders),
		cmocka_unit_test(test_openmetrics), cmocka_unit_test(test_openmetrics_checker),
		cmocka_unit_test(test_json),        cmocka_unit_test(test_table),
		cmocka_unit_test(test_pause),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
