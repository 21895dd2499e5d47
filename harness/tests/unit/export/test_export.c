/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "bmf_check.h"
#include "base/json_writer.h"
#include "export/documents.h"
#include "export/table_cells.h"
#include "store/run_json.h"
#include "unit/export_testing.h"

static void assert_refused(const struct bb_report *r, int want_rc, const char *says)
{
	struct bb_err err = {.msg = ""};
	int rc;

	assert_null(exported("bmf", r, &rc, &err));
	assert_int_equal(rc, want_rc);
	if (!strstr(err.msg, says))
		fail_msg("'%s' is not in '%s'", says, err.msg);
}

/* --- golden files --- */

static void test_golden_bmf(void **state)
{
	(void)state;
	check_golden("bmf.json", "bmf");
}

static void test_golden_table(void **state)
{
	(void)state;
	check_golden("table.txt", "table");
	check_golden("details.txt", "details");
}

static void test_golden_run(void **state)
{
	(void)state;
	check_golden("run.json", "json");
}

/* --- BMF --- */

static void test_bmf_is_valid(void **state)
{
	struct bb_report *r = make_sample_report();
	const struct bb_estimate *e = &r->cases[1].summary.latency;
	char *text = export_ok("bmf", r);
	struct bb_err err = {.msg = ""};
	json_t *root, *latency;

	(void)state;
	if (bb_bmf_check(text, strlen(text), &err))
		fail_msg("%s", err.msg);
	root = json_loads(text, 0, NULL);
	assert_int_equal(json_object_size(root), r->n_cases + r->n_programs);
	latency = json_object_get(json_object_get(root, r->cases[1].name), "latency");
	assert_near_by(json_number_value(json_object_get(latency, "value")), e->value, 1e-5);
	assert_near_by(json_number_value(json_object_get(latency, "lower_value")), e->lo, 1e-5);
	assert_near_by(json_number_value(json_object_get(latency, "upper_value")), e->hi, 1e-5);
	/* Three loads give no interval, 75 samples no percentiles, and a floor has no net. */
	assert_lacks(text, "null");
	latency = json_object_get(root, "perf_profiler/empty/in-situ/freq_hz=100");
	assert_null(json_object_get(json_object_get(latency, "latency"), "lower_value"));
	assert_null(json_object_get(latency, "latency-net"));
	assert_null(json_object_get(latency, "latency-p90"));
	assert_non_null(json_object_get(latency, "latency-p50"));
	json_decref(root);
	free(text);
	bb_report__free(r);
}

/* Each program has a benchmark with what the kernel says of it. Unknown figures are left out; 0 is
 * not. */
static void test_bmf_of_programs(void **state)
{
	struct bb_report *r = make_sample_report();
	struct bb_err err = {.msg = ""};
	json_t *root, *program;
	char *text;

	(void)state;
	make_program(r, "nothing_known", "x");
	text = export_ok("bmf", r);
	if (bb_bmf_check(text, strlen(text), &err))
		fail_msg("%s", err.msg);
	root = json_loads(text, 0, NULL);
	assert_null(json_object_get(root, "perf_profiler/nothing_known"));
	program = json_object_get(root, "perf_profiler/empty");
	assert_int_equal(json_object_size(program), bb_n_static_metrics);
	assert_near(json_number_value(
			    json_object_get(json_object_get(program, "jited-bytes"), "value")),
		    20);
	assert_near(json_number_value(json_object_get(json_object_get(program, "stack-depth-bytes"),
						      "value")),
		    0);
	/* Exact figures have no interval. */
	assert_int_equal(json_object_size(json_object_get(program, "stack-depth-bytes")), 1);
	assert_int_equal(json_object_size(json_object_get(root, "perf_profiler/pid_filter")), 2);
	json_decref(root);
	free(text);
	bb_report__free(r);
}

static void test_bmf_refuses_nothing(void **state)
{
	struct bb_report *r = make_report("x");

	(void)state;
	assert_refused(r, -ENODATA, "nothing was measured (0 cases)");
	bb_report__add_skip(r, "perf_profiler/step", "needs root");
	assert_refused(r, -ENODATA, "skipped: needs root");
	make_case(r, "v", "step", NULL, 0);
	bb_report__summarise(r);
	assert_refused(r, -ENODATA,
		       "nothing was measured (1 cases; the first: the run ended before it was "
		       "measured)");
	bb_report__free(r);
}

/* A case without a sample is left out of BMF. Its name is reported, because bencher does not notice
 * a missing case. */
static void test_bmf_leaves_out_void_case(void **state)
{
	struct bb_report *r = make_sample_report();
	struct bb_err err = {0};
	struct bb_series *s;
	char *text, *github;

	(void)state;
	assert_int_equal(bb_export_say_left_out(r, &err), 0);
	s = make_series(r, make_case(r, "v", "step", "stack_depth", 32), 0);
	set_text(&s->void_why, "recursion misses");
	add_samples(s, 700, 10);
	bb_report__summarise(r);
	text = export_ok("bmf", r);
	github = export_ok("github-action", r);
	assert_has(text, "\"perf_profiler/pid_filter/");
	assert_null(strstr(text, "perf_profiler/v/step"));
	assert_null(strstr(github, "perf_profiler/v/step"));
	if (bb_bmf_check(text, strlen(text), &err))
		fail_msg("%s", err.msg);
	assert_int_equal(bb_export_say_left_out(r, &err), -ENODATA);
	assert_string_equal(err.msg, "perf_profiler/v/step/stack_depth=32: no valid sample "
				     "(recursion misses): it is left out");
	free(text);
	free(github);
	bb_report__free(r);
}

/* bb_report__skip_without_sample() removes cases without a sample. The others keep their floors. */
static void test_skip_without_sample(void **state)
{
	struct bb_report *r = make_report("x");
	const char *names[] = {"none", "a", "floor", "b"};

	(void)state;
	for (size_t k = 0; k < 4; k++) {
		size_t i = make_case(r, names[k], "step", NULL, 0);

		if (k)
			add_samples(make_series(r, i, 0), 700, 10);
		r->cases[i].floor = BB_NO_FLOOR;
	}
	r->cases[1].floor = r->cases[3].floor = 2;
	bb_report__skip_without_sample(r, 4);
	assert_int_equal(r->n_cases, 4);
	bb_report__skip_without_sample(r, 0);
	assert_int_equal(r->n_cases, 3);
	assert_string_equal(r->cases[1].variant, "floor");
	assert_int_equal(r->cases[0].floor, 1);
	assert_int_equal(r->cases[2].floor, 1);
	assert_int_equal(r->n_skips, 1);
	assert_string_equal(r->skips[0].why, "the run ended before it was measured");
	set_text(&r->cases[0].series[0].void_why, "x");
	set_text(&r->cases[1].series[0].void_why, "x");
	set_text(&r->cases[2].series[0].void_why, "x");
	bb_report__skip_without_sample(r, 0);
	assert_int_equal(r->n_cases, 3); /* nothing is removed if no case would be left */
	bb_report__free(r);
}

static void test_bmf_refuses_incomplete(void **state)
{
	struct bb_report *r = make_sample_report();
	char *text;

	(void)state;
	set_text(&r->incomplete, "interrupted by SIGINT");
	assert_refused(r, -ECANCELED,
		       "run is incomplete (interrupted by SIGINT): no BMF is written");
	text = export_ok("details", r); /* formats for people show an incomplete run */
	assert_int_equal(strncmp(text, "INCOMPLETE: interrupted by SIGINT; ", 35), 0);
	free(text);
	bb_report__free(r);
}

static void test_bmf_names(void **state)
{
	struct bb_report *r = make_report("x");
	char variant[1100];
	size_t i;

	(void)state;
	memset(variant, 'v', sizeof(variant));
	variant[1024 - strlen("perf_profiler//step")] = '\0';
	i = make_case(r, variant, "step", NULL, 0);
	add_samples(make_series(r, i, 0), 700, 10);
	assert_int_equal(strlen(r->cases[i].name), 1024);
	bb_report__summarise(r);
	free(export_ok("bmf", r));
	variant[strlen(variant)] = 'v';
	variant[1025 - strlen("perf_profiler//step")] = '\0';
	i = make_case(r, variant, "step", NULL, 0);
	add_samples(make_series(r, i, 0), 700, 10);
	bb_report__summarise(r);
	assert_refused(r, -ENAMETOOLONG, "has 1025 bytes");
	set_text(&r->cases[i].name, "");
	assert_refused(r, -ENAMETOOLONG, "has 0 bytes");
	set_text(&r->cases[i].name, r->cases[0].name);
	assert_refused(r, -EEXIST, "two cases have this name");
	set_text(&r->cases[i].name, "perf_profiler/a/b");
	make_program(r, "a/b", "b")->metrics.xlated_bytes = 8;
	assert_refused(r, -EEXIST, "perf_profiler/a/b: a program and a case");
	set_text(&r->programs[0].name, "");
	assert_refused(r, -ENAMETOOLONG, "has 0 bytes");
	bb_report__free(r);
}

static void test_bmf_escapes_names(void **state)
{
	struct bb_report *r = make_report("x");
	size_t i = make_case(r, "a\"b\\c\nd\xff", "step", NULL, 0);
	struct bb_err err = {.msg = ""};
	char *text;

	(void)state;
	add_samples(make_series(r, i, 0), 700, 10);
	bb_report__summarise(r);
	text = export_ok("bmf", r);
	if (bb_bmf_check(text, strlen(text), &err))
		fail_msg("%s", err.msg);
	assert_has(text, "\"perf_profiler/a\\\"b\\\\c\\u000ad\\ufffd/step\"");
	free(text);
	bb_report__free(r);
}

static void test_fixed_numbers(void **state)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = {
		{712.4, "712.4"},
		{0, "0"},
		{-0.0, "0"},
		{-0.0001, "0"},
		{-3.25, "-3.25"},
		{100, "100"},
		{0.0005001, "0.001"},
		{14021332.5, "14021332.5"},
		{1e15, "1000000000000000"},
		{2.0 / 3, "0.667"},
		{1000, "1000"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[64] = "";
		FILE *out = fmemopen(text, sizeof(text), "w");

		bb_json_fixed(out, cases[i].value);
		fclose(out);
		assert_string_equal(text, cases[i].text);
	}
}

/* --- the table --- */

static void test_human_numbers(void **state)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = {
		{0.0512, "0.05"},    {5.126, "5.13"},        {58.13, "58.1"},    {712.44, "712.4"},
		{999.96, "1000"},    {1234.5, "1234"},       {9999.4, "9999"},   {9999.7, "10000"},
		{12345, "12345"},    {14021332, "14021332"}, {123456, "123456"}, {-3.21, "-3.21"},
		{-0.001, "0.00"},    {-123456, "-123456"},   {NAN, ""},          {INFINITY, ""},
		{1e30, "1.000e+30"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(bb_table_cell_number(cases[i].value, cases[i].value).text,
				    cases[i].text);
	assert_string_equal(bb_table_cell_number(3.14, 712).text, "3.1");
}

/* Every line of the sample report fits a terminal, except texts that users wrote. */
static void test_table_width(void **state)
{
	struct bb_report *r = make_sample_report();
	char *text = export_ok("details", r), *save = NULL;

	(void)state;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (!strncmp(line, "  void: ", 8) || !strncmp(line, "  skipped: ", 11))
			continue;
		if (bb_text_width(line) > 120)
			fail_msg("%zu wide: %s", bb_text_width(line), line);
		assert_true(line[strlen(line) - 1] != ' ');
	}
	free(text);
	bb_report__free(r);
}

/* Columns stay aligned although one name has more bytes than characters. */
static void test_table_aligns_utf8(void **state)
{
	struct bb_report *r = make_report("x");
	static const char *const names[] = {"naive", "na\xc3\xafve"};
	char *text, *first, *second;

	(void)state;
	for (int k = 0; k < 2; k++)
		add_samples(make_series(r, make_case(r, names[k], "step", NULL, 0), 0), 700, 10);
	bb_report__summarise(r);
	text = export_ok("details", r);
	first = strstr(text, "\n  naive ");
	second = strstr(text, "\n  na\xc3\xafve ");
	assert_non_null(first);
	assert_non_null(second);
	assert_int_equal(strcspn(second + 1, "\n"), strcspn(first + 1, "\n") + 1);
	free(text);
	bb_report__free(r);
}

/* A stored file may come from anywhere. No control characters of it may reach the terminal. */
static void test_table_is_clean(void **state)
{
	struct bb_report *r = make_report("x");
	size_t i = make_case(r, "v\x1b[2J", "step", NULL, 0);
	char *text;

	(void)state;
	set_text(&make_series(r, i, 0)->void_why, "\x1b]0;owned\x07\xc2\x9b\xff");
	bb_report__summarise(r);
	text = export_ok("details", r);
	assert_has(text, "v?[2J");
	assert_has(text, "?]0;owned?");
	for (const char *p = text; *p; p++)
		assert_true(*p == '\n' || (*p >= 0x20 && *p < 0x7f));
	free(text);
	bb_report__free(r);
}

/* Calls that a signal interrupted are mentioned, although nothing is lost. */
static void test_table_retries(void **state)
{
	struct bb_report *r = make_sample_report();
	char *text = export_ok("details", r);

	(void)state;
	assert_lacks(text, "broken off");
	free(text);
	r->cases[0].series[0].retries = 2;
	r->cases[0].series[1].retries = 1;
	text = export_ok("details", r);
	assert_has(text, "perf_profiler/empty/step/stack_depth=8: 3 calls were broken off by "
			 "signals and made again\n");
	free(text);
	bb_report__free(r);
}

/* Columns that make a table too wide move to further tables below it; nothing is cut off. */
static void test_table_spills(void **state)
{
	struct bb_report *r = make_report("x");
	char *text, *row;

	(void)state;
	for (int k = 0; k < 9; k++) {
		char variant[40];
		size_t i;

		snprintf(variant, sizeof(variant), "variant_of_a_long_name_%d", k);
		i = make_case(r, variant, "in-situ", "freq_hz", 1000);
		make_loads(r, i, 6, 200, 12900);
		for (size_t s = 0; s < 6; s++)
			r->cases[i].series[s].target_cpu_s = 0.21;
	}
	bb_report__summarise(r);
	text = export_ok("details", r);
	row = strstr(text, "\n  variant_of_a_long_name_0");
	assert_non_null(row);
	assert_true(strcspn(row + 1, "\n") <= 120);
	/* Each further table begins with the variant. */
	row = strstr(row, "\n\n  variant ");
	assert_non_null(row);
	assert_true((size_t)(strstr(row, "  steal %  ") - row) < strcspn(row + 2, "\n"));
	assert_int_equal(strspn(strchr(row + 2, '\n'), "\n "), 3);
	assert_has(row, "\n  variant_of_a_long_name_8 ");
	assert_has(text, "\n  steal %                CPU time");
	for (row = text; *row; row += strcspn(row, "\n") + 1)
		assert_true(strcspn(row, "\n") <= 120);
	free(text);
	bb_report__free(r);
}

/* 392 packets a second of the requested 1000 are reported by every format for people; 980 of 1000
 * are not. */
static void test_below_rate(void **state)
{
	static const char *const formats[] = {"table", "markdown", "html"};
	static const uint64_t events[] = {196, 490};
	struct bb_report *r = make_report("x");

	(void)state;
	for (size_t k = 0; k < 2; k++) {
		size_t i = make_case(r, k ? "quick" : "slow", "in-situ-packets", "rate_hz", 1000);

		make_loads(r, i, 6, 200, 12900);
		for (size_t s = 0; s < 6; s++)
			r->cases[i].series[s].events = events[k]; /* in 0.5 s */
	}
	bb_report__summarise(r);
	for (size_t k = 0; k < sizeof(formats) / sizeof(formats[0]); k++) {
		char *text = export_ok(formats[k], r);

		assert_has(text, "below the rate");
		assert_has(text, ": 392 of 1000 Hz: ");
		assert_lacks(text, ": 980 of 1000 Hz: ");
		free(text);
	}
	bb_report__free(r);
}

static void test_table_tells_all(void **state)
{
	struct bb_report *r = make_sample_report();
	char *text = export_ok("details", r);

	(void)state;
	assert_has(text, "perf_profiler, step, stack_depth = 8 (ns per run)");
	assert_has(text, "perf_profiler, in-situ, freq_hz = 100 (ns per run)");
	assert_has(text, "void: perf_profiler/ringbuf_nowakeup/step/stack_depth=8: 2 of 8 series "
			 "(load 3, 6): "
			 "run_cnt is 131");
	assert_has(text, "void: perf_profiler/pid_filter/step/stack_depth=8: 1 of 9 series (load "
			 "8): "
			 "zero runs counted");
	assert_has(text, "misses: perf_profiler/pid_filter/step/stack_depth=8: 2 runs");
	assert_has(text, "skipped: perf_profiler/slope: this kernel has no");
	assert_has(text, "* net not larger than its +-");
	assert_has(text, "steal 34 %");
	assert_has(text, "perf_profiler, programs as the kernel loaded them");
	assert_has(text, "pid_filter (ringbuf)");
	assert_has(text, "jited-bytes            machine code");
	bb_report__free(r);
	free(text);

	r = make_report("x");
	text = export_ok("details", r);
	assert_has(text, "Nothing was measured.");
	assert_lacks(text, "Notes");
	assert_lacks(text, "programs");
	free(text);
	bb_report__free(r);
}

static void test_table_little_executed(void **state)
{
	struct bb_report *r = make_sample_report();
	char *text;

	(void)state;
	r->cases[0].n_insns = r->cases[1].n_insns = 166;
	r->cases[0].executed_insns = 42;
	r->cases[1].executed_insns = 41;
	text = export_ok("details", r);
	assert_has(text, "41 of 166 instructions): a filter ends the run early");
	assert_lacks(text, "42 of 166 instructions");
	free(text);
	bb_report__free(r);
}

/* --- plot --- */

static void test_plot_ecdf(void **state)
{
	struct bb_report *r = make_report("x");
	size_t i = make_case(r, "v", "step", "stack_depth", 4);
	struct bb_series *s = make_series(r, i, 0);
	char *text, *save = NULL;
	double last_ns = -1, last_share = 0;
	size_t points = 0, tail = 0;

	(void)state;
	for (uint64_t ns = 500; ns < 2500; ns++)
		add_samples(s, ns, 5);
	for (uint64_t ns = 4000; ns < 1000000; ns += 4000)
		add_samples(s, ns, 1);
	assert_int_equal(bb_fingerprint_set(&r->fingerprint, "bpfbench", "0.2.0"), 0);
	assert_int_equal(bb_fingerprint_set(&r->fingerprint, "clocksource", "tsc"), 0);
	bb_report__summarise(r);
	text = export_ok("plot", r);
	assert_has(text, "\n# run\tx\t2026-11-21T13:17:00Z\t6.1.0-27-amd64\tAMD EPYC 7763 64-Core "
			 "Processor\t34\t-\t0.2.0\ttsc\n");
	/* The 5125th of 10249 samples. */
	assert_has(text, "\tv\tstep\tstack_depth\t4\t-\trun\t10249\t1524\t");
	for (char *line = strtok_r(strstr(text, "\n# ecdf\tperf_profiler"), "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		double ns, share;

		if (*line == '#' && strncmp(line, "# ecdf", 6))
			break;
		if (*line == '#')
			continue;
		assert_memory_equal(line, "perf_profiler/v/step/stack_depth=4\t", 35);
		ns = strtod(line + 35, NULL);
		share = strtod(strrchr(line, '\t'), NULL);
		assert_true(ns > last_ns && share > last_share);
		last_ns = ns;
		last_share = share;
		points++;
		tail += ns > 2500;
	}
	assert_true(points > 200 && points <= 400);
	assert_true(tail > 50); /* 2.4 % of the samples are there */
	assert_near(last_share, 1);
	assert_true(last_ns > 990000);
	free(text);
	bb_report__free(r);
}

static void test_plot_cost(void **state)
{
	struct bb_report *r = make_report("x");
	char *text;

	(void)state;
	for (uint32_t depth = 4; depth <= 16; depth *= 2)
		for (int k = 0; k < 2; k++)
			add_samples(make_series(r,
						make_case(r, k ? "w" : "v", "step", "stack_depth",
							  depth),
						0),
				    700 + depth, 10);
	make_case(r, "void", "step", NULL, 0);
	r->cases[1].floor = 0; /* v is the floor of w at depth 4 */
	bb_report__summarise(r);
	text = export_ok("plot", r);
	assert_has(text, "\n\n\n# cost\tperf_profiler\tv\tstep\tstack_depth\tfloor\n"
			 "perf_profiler\tv\tstep\tstack_depth\t4\t704\tNaN\tNaN\t4\tNaN\n"
			 "perf_profiler\tv\tstep\tstack_depth\t8\t708\tNaN\tNaN\t8\tNaN\n"
			 "perf_profiler\tv\tstep\tstack_depth\t16\t716\tNaN\tNaN\t16\tNaN\n"
			 "\n\n# cost\tperf_profiler\tw\tstep\tstack_depth\t-\n");
	assert_has(text, "\tperf_profiler\tv\tstep\tstack_"
			 "depth\t4\tfloor\trun\t10\t704\tNaN\tNaN\n");
	assert_has(text, "\tperf_profiler\tw\tstep\tstack_depth\t4\t-\trun\t10\t704\tNaN\tNaN\n");
	assert_has(text, "\nperf_profiler\tvoid\tstep\t-\t0\tNaN\tNaN\tNaN\t-\tNaN\n");
	assert_lacks(text, "# ecdf\tperf_profiler/void");
	free(text);
	bb_report__free(r);
}

/* The cost and place of each load, with floor and net of that load. Void series and live cases have
 * none. */
static void test_plot_loads(void **state)
{
	struct bb_report *r = make_report("x");
	size_t floor = make_case(r, "v", "step", NULL, 0), w = make_case(r, "w", "step", NULL, 0);
	size_t live = make_case(r, "x", "live", NULL, 0);
	char *text;

	(void)state;
	for (uint32_t load = 0; load < 3; load++) {
		add_samples(make_series(r, floor, load), 30, 10);
		add_samples(make_series(r, w, load), 40 + load, 10);
	}
	set_text(&r->cases[w].series[1].void_why, "runs were missed");
	r->cases[w].series[2].jit_mod64 = -1;
	add_samples(make_series(r, live, 0), 50, 10);
	r->cases[w].floor = floor;
	r->cases[live].is_live = true;
	bb_report__summarise(r);
	text = export_ok("plot", r);
	assert_has(text, "\n\n\n# "
			 "loads\tperf_profiler/w/step\tperf_profiler\tw\tstep\t-\t0\t-\trun\n"
			 "perf_profiler/w/step\t0\t0\t40\nperf_profiler/w/step\t2\tNaN\t42\n\n\n");
	assert_lacks(text, "# loads\tperf_profiler/x/live");
	assert_has(text, "\n\n\n# net\tperf_profiler/w/step\tperf_profiler\tw\tstep\t-\t0\t-\trun\n"
			 "perf_profiler/w/step\t41\tNaN\tNaN\t30\t11\tNaN\tNaN\n\n\n");
	assert_has(text, "perf_profiler/v/step\t30\tNaN\tNaN\tNaN\tNaN\tNaN\tNaN\n");
	free(text);
	bb_report__free(r);
}

static void test_plot_comparison(void **state)
{
	struct bb_report *r = make_report("x");
	struct bb_comparison *c = BB_ADD(bb_comparison_record, r, comparisons);
	char *text;

	(void)state;
	assert_non_null(c);
	set_text(&c->name, "s/step/stack_depth=8");
	set_text(&c->base, "old\tone");
	set_text(&c->head, "new");
	c->threshold = 0.015;
	c->alpha = 0.05;
	for (int i = 0; i < 10; i++) {
		struct bb_pair *p = BB_ADD(bb_pair_record, c, pairs);

		assert_non_null(p);
		p->matched = i < 8;
		p->base_mod64 = p->head_mod64 = 8;
		p->d = log(i < 8 ? 1.05 : 0.9);
	}
	bb_pair_void(&c->pairs[9], "because");
	bb_comparisons_judge(r->comparisons, r->n_comparisons);
	text = export_ok("plot", r);
	assert_has(text, "\n\n\n# ab\ts/step/stack_depth=8\told one\tnew\t1.5\t95\tregressed\n"
			 "s/step/stack_depth=8\tmatched\t5\t5\t5\n"
			 "s/step/stack_depth=8\tunmatched\t-10\tNaN\tNaN\n"
			 "s/step/stack_depth=8\tnet\tNaN\tNaN\tNaN\n"
			 "s/step/stack_depth=8\tpair\t5\tNaN\tNaN\n");
	assert_has(text, "unmatched-pair\t-10\tNaN\tNaN\n");
	/* The other one is void. */
	assert_null(strstr(strstr(text, "unmatched-pair\t-10") + 1, "unmatched-pair"));
	free(text);
	bb_report__free(r);
}

/* --- all of them --- */

static void test_json_is_what_is_stored(void **state)
{
	struct bb_report *r = make_sample_report();
	char *text = export_ok("json", r), *stored;
	size_t len;

	(void)state;
	bb_run_json__compose(r, &stored, &len);
	assert_string_equal(text, stored);
	free(stored);
	free(text);
	bb_report__free(r);
}

static void test_full_device(void **state)
{
	struct bb_report *r = make_sample_report();

	(void)state;
	make_counted(r, "ringbuf", 100); /* without counts, there is nothing for lcov */
	for (size_t i = 0; i < BB_N_EXPORTERS; i++) {
		FILE *full = fopen("/dev/full", "w");
		struct bb_err err = {.msg = ""};

		assert_non_null(full);
		assert_int_equal(bb_export(&bb_exporters[i], r, NULL, full, &err), -ENOSPC);
		assert_has(err.msg, "the output cannot be written: No space left on device");
		fclose(full);
	}
	bb_report__free(r);
}

static void test_registry(void **state)
{
	(void)state;
	for (size_t i = 0; i < BB_N_EXPORTERS; i++) {
		assert_ptr_equal(bb_exporter_find(bb_exporters[i].name), &bb_exporters[i]);
		assert_true(*bb_exporters[i].doc);
	}
	assert_null(bb_exporter_find("xml"));
	assert_null(bb_exporter_find(""));
}

/* With more than BB_SWEEP_VALUES values, a parameter has one table with a row for each variant.
 * With at most that many, each value has a table in the details, and the short table has a row for
 * each variant. */
static void check_sweep(uint32_t n_values, bool is_sweep)
{
	struct bb_report *r = make_report("20261121T131700Z-sweep-00000000");
	char *text;

	for (uint32_t v = 0; v < n_values; v++) {
		add_samples(make_series(r, make_case(r, "flat", "step", "input", v), 0), 50, 10);
		add_samples(make_series(r, make_case(r, "steep", "step", "input", v), 0),
			    100 + 10 * v, 10);
	}
	bb_report__summarise(r);
	text = export_ok("details", r);
	assert_int_equal(strstr(text, "input = 3 (") != NULL, !is_sweep);
	assert_non_null(strstr(text, ", over input ("));
	if (is_sweep) {
		assert_non_null(strstr(text, "  flat         17   50.0   0    50.0   50.0   0\n"));
		assert_non_null(strstr(text, "  steep        17  100.0   0   180.0  260.0  16\n"));
	}
	free(text);
	bb_report__free(r);
}

static void test_sweep(void **state)
{
	(void)state;
	check_sweep(16, false);
	check_sweep(17, true);
}

/* Adds a case of one series whose samples are all equal. */
static void add_end(struct bb_report *r, const char *variant, const char *drive, const char *param,
		    uint32_t value, uint64_t ns)
{
	add_samples(make_series(r, make_case(r, variant, drive, param, value), 0), ns, 10);
}

static char *export_summarised(struct bb_report *r)
{
	char *text;

	bb_report__summarise(r);
	text = export_ok("details", r);
	bb_report__free(r);
	return text;
}

/* Hot and cold figures side by side, if both were measured. A sweep has one row for all values. */
static void test_ranges(void **state)
{
	struct bb_report *r = make_report("20261121T131700Z-range-00000000");
	char *text;

	(void)state;
	add_end(r, "a", "step", "stack_depth", 8, 100);
	add_end(r, "b", "step", "stack_depth", 8, 300);
	add_end(r, "a", "step", "stack_depth", 32, 200);
	add_end(r, "a", "step-cold", "stack_depth", 8, 1000);
	add_end(r, "a", "step-cold", "stack_depth", 32, 600);
	/* Cold at a value that was not measured hot. */
	add_end(r, "b", "step-cold", "stack_depth", 32, 700);
	add_end(r, "a", "step-colder", "stack_depth", 8, 900);
	add_end(r, "a", "in-situ", NULL, 0, 400);
	text = export_summarised(r);
	assert_has(text, "\nperf_profiler, step, from hot to cold caches (ns per run)\n"
			 "  stack_depth  variant    hot   cold  cold/hot\n"
			 "            8  a        100.0   1000      10.0\n"
			 "           32  a        200.0  600.0      3.00\n"
			 "\n");
	free(text);

	r = make_report("20261121T131700Z-range-00000001");
	for (uint32_t v = 0; v < 17; v++) {
		add_end(r, "a", "step", "input", v, 100 + v);
		add_end(r, "a", "step-cold", "input", v, 1000 + 100 * v);
	}
	text = export_summarised(r);
	assert_has(text, "(medians over the values, ns per run)\n"
			 "  values  variant    hot  cold  cold/hot\n"
			 "      17  a        108.0  1800      16.7\n");
	free(text);

	r = make_report("20261121T131700Z-range-00000002");
	add_end(r, "a", "step", NULL, 0, 100);
	add_end(r, "a", "step-cold", NULL, 0, 150);
	text = export_summarised(r);
	assert_has(text, "  variant    hot   cold  cold/hot\n"
			 "  a        100.0  150.0      1.50\n");
	free(text);
}

static void test_no_ranges(void **state)
{
	struct bb_report *r = make_report("20261121T131700Z-range-00000003");
	char *text;

	(void)state;
	add_end(r, "a", "step", "stack_depth", 8, 100);
	add_end(r, "b", "step-cold", "stack_depth", 8, 100);
	text = export_summarised(r);
	assert_null(strstr(text, "from hot to cold"));
	free(text);
}

static void add_failed_lookup(struct bb_case *c, uint32_t line, uint32_t places)
{
	c->in_vain = bb_calloc(1, sizeof(*c->in_vain));
	c->n_in_vain = 1;
	*c->in_vain = (struct bb_in_vain){.map = bb_strdup("flows"),
					  .type = bb_strdup("hash"),
					  .calls = 9,
					  .in_vain = 9,
					  .index = NAN,
					  .file = bb_strdup("fw.bpf.c"),
					  .line = line,
					  .places = places};
}

/* A comparison has one note for the failed lookups of both programs. It names each place once. */
static void test_failed_lookups_of_both(void **state)
{
	static const struct {
		uint32_t lines[2], places[2];
		const char *note;
	} pairs[] = {
		{{17, 17}, {1, 1}, "(fw.bpf.c:17)"},
		{{17, 17}, {1, 2}, "(fw.bpf.c:17 and 1 more)"},
		{{17, 17}, {3, 1}, "(fw.bpf.c:17 and 2 more)"},
		{{170, 17}, {1, 1}, "(fw.bpf.c:170, fw.bpf.c:17)"},
		{{17, 170}, {1, 1}, "(fw.bpf.c:17, fw.bpf.c:170)"},
	};

	(void)state;
	for (size_t i = 0; i < BB_LEN(pairs); i++) {
		struct bb_report *r = make_report("fw");
		struct bb_doc d = {0};

		for (size_t k = 0; k < 2; k++) {
			size_t nth = make_case(r, k ? "new" : "old", "step", NULL, 0);

			add_failed_lookup(&r->cases[nth], pairs[i].lines[k], pairs[i].places[k]);
		}
		bb_doc_in_vain_of_both(r, &d);
		assert_int_equal(d.n, 2); /* the note, and what to do */
		assert_has(d.blocks[0].text, "both: map 'flows' (hash) is empty, and its lookups ");
		assert_has(d.blocks[0].text, pairs[i].note);
		bb_doc__done(&d);
		bb_report__free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden_bmf),
		cmocka_unit_test(test_golden_table),
		cmocka_unit_test(test_golden_run),
		cmocka_unit_test(test_bmf_is_valid),
		cmocka_unit_test(test_bmf_of_programs),
		cmocka_unit_test(test_failed_lookups_of_both),
		cmocka_unit_test(test_bmf_refuses_nothing),
		cmocka_unit_test(test_bmf_leaves_out_void_case),
		cmocka_unit_test(test_skip_without_sample),
		cmocka_unit_test(test_bmf_refuses_incomplete),
		cmocka_unit_test(test_bmf_names),
		cmocka_unit_test(test_bmf_escapes_names),
		cmocka_unit_test(test_fixed_numbers),
		cmocka_unit_test(test_human_numbers),
		cmocka_unit_test(test_table_width),
		cmocka_unit_test(test_table_aligns_utf8),
		cmocka_unit_test(test_table_is_clean),
		cmocka_unit_test(test_table_retries),
		cmocka_unit_test(test_table_spills),
		cmocka_unit_test(test_table_tells_all),
		cmocka_unit_test(test_table_little_executed),
		cmocka_unit_test(test_below_rate),
		cmocka_unit_test(test_plot_ecdf),
		cmocka_unit_test(test_plot_cost),
		cmocka_unit_test(test_plot_loads),
		cmocka_unit_test(test_plot_comparison),
		cmocka_unit_test(test_json_is_what_is_stored),
		cmocka_unit_test(test_full_device),
		cmocka_unit_test(test_registry),
		cmocka_unit_test(test_sweep),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_no_ranges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
