/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The formats for other tools: what each writes of one sample run, and names that could break a
 * reader. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <jansson.h>

#include "openmetrics_check.h"
#include "export/document.h"
#include "unit/export_testing.h"

static void test_golden(void **state)
{
	(void)state;
	check_golden("run.csv", "csv");
	check_golden("run.md", "markdown");
	check_golden("benchfmt.txt", "benchfmt");
	check_golden("github.json", "github-action");
	check_golden("github-bigger.json", "github-action-bigger");
	check_golden("veristat.csv", "veristat");
	check_golden("openmetrics.prom", "openmetrics");
}

/* Makes a run whose names contain characters with a meaning in the formats. */
static struct bb_report *with_odd_names(void)
{
	struct bb_report *r = make_report("r");
	size_t i = make_case(r, "a,\"b|*c\nd", "step", "stack_depth", 8);

	make_loads(r, i, 8, 30, 60);
	make_program(r, "a,\"b|*c\nd", "p,q")->metrics = (struct bb_prog_static){1, 2, 3,   4,
										 5, 7, 6000};
	bb_report__summarise(r);
	return r;
}

/* Such names are valid OpenMetrics, too. */
static void test_openmetrics_is_valid(void **state)
{
	struct bb_report *r = with_odd_names();
	char *text = export_ok("openmetrics", r);
	struct bb_err err = {0};

	(void)state;
	if (bb_openmetrics_check(text, &err))
		fail_msg("%s", err.msg);
	free(text);
	bb_report__free(r);
}

static void assert_part(struct bb_report *r, const char *format, const char *part)
{
	char *text = export_ok(format, r);

	assert_has(text, part);
	free(text);
}

static void test_odd_names(void **state)
{
	struct bb_report *r = with_odd_names();
	json_t *root;
	char *text;

	(void)state;
	assert_part(r, "csv",
		    "\n\"perf_profiler/a,\"\"b|*c\nd/step/"
		    "stack_depth=8\",perf_profiler,\"a,\"\"b|*c\nd\",step,stack_depth,8,latency,"
		    "ns,");
	assert_part(r, "markdown", "| a,\"b\\|\\*c?d |");
	assert_part(r, "benchfmt", "\nBenchmarkPerf_profiler/a,\"b|*c_d/step/stack_depth=8 30 ");
	assert_part(r, "veristat", "\nperf_profiler.bpf.o,p_q,success,6,1,7,3\n");
	assert_part(r, "openmetrics",
		    "variant=\"a,\\\"b|*c\\nd\",drive=\"step\",estimate=\"value\"} ");
	text = export_ok("github-action", r);
	root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_true(json_is_array(root) && json_array_size(root) > 0);
	assert_string_equal(json_string_value(json_object_get(json_array_get(root, 0), "name")),
			    "perf_profiler/a,\"b|*c\nd/step/stack_depth=8 latency");
	json_decref(root);
	free(text);
	bb_report__free(r);
}

/* GitHub and GitLab make links and mention users in plain text. The Markdown format prevents
 * both. */
static void test_markdown_calls_nobody(void **state)
{
	static const struct {
		const char *text, *markdown;
	} all[] = {
		{"@torvalds", "@&#8203;torvalds"},
		{"a@b.org", "a@&#8203;b.org"},
		{"see https://x.org/", "see https:&#8203;//x.org/"},
		{"(WWW.x.org)", "(W&#8203;WW.x.org)"},
		{"o/r#12 !3 $4", "o/r\\#&#8203;12 !&#8203;3 \\$&#8203;4"},
		{"GH-1, gh-2", "G&#8203;H-1, g&#8203;h-2"},
		{"0123abc 0123abcd0123abcd0123abcd0123abcd0123abcd", "0&#8203;123abc "
								     "0&#8203;"
								     "123abcd0123abcd0123abcd0123ab"
								     "cd0123abcd"},
		{"&#64;me &commat;me", "\\&\\#&#8203;64;me \\&commat;me"},
		{"on_x, 012345, 16871752, feed_beef, !x && ~y", "on\\_x, 012345, 16871752, "
								"feed\\_beef, !x \\&\\& "
								"\\~y"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		char *text = NULL;
		size_t size;
		FILE *mem = open_memstream(&text, &size);

		assert_non_null(mem);
		bb_md_text(all[i].text, mem);
		assert_int_equal(fclose(mem), 0);
		assert_string_equal(text, all[i].markdown);
		free(text);
	}
}

/* benchstat computes its own intervals, so benchfmt has one line a load. Void loads are left
 * out. */
static void test_a_line_a_load(void **state)
{
	struct bb_report *r = with_odd_names();
	size_t lines = 0;
	char *text;

	(void)state;
	set_text(&r->cases[0].series[2].void_why, "void");
	text = export_ok("benchfmt", r);
	for (const char *at = text; (at = strstr(at, " ns/op\n")); at++)
		lines++;
	assert_int_equal(lines, 7);
	free(text);
	bb_report__free(r);
}

static void refused(const char *format, const struct bb_report *r, const char *says)
{
	struct bb_err err = {.msg = ""};
	int rc;

	assert_null(exported(format, r, &rc, &err));
	assert_int_equal(rc, -ENODATA);
	assert_has(err.msg, says);
}

/* A format that has nothing to write fails, because readers would take empty output for good
 * news. */
static void test_nothing_to_say(void **state)
{
	struct bb_report *r = make_report("r");
	size_t i;

	(void)state;
	refused("veristat", r, "no BPF program");
	refused("github-action", r, "no figure of which less is better");
	i = make_case(r, "a", "step", "stack_depth", 8);
	make_series(r, i, 0);
	bb_report__summarise(r);
	/* The only case has no sample and is left out. */
	refused("github-action", r, "no figure of which less is better");
	refused("github-action-bigger", r, "no figure of which more is better");
	bb_report__free(r);
}

/* veristat cannot express an unknown figure. A column that one program lacks is left out for
 * all. */
static void test_absent_columns(void **state)
{
	struct bb_report *r = with_odd_names();

	(void)state;
	make_program(r, "other", "other")->metrics = (struct bb_prog_static){7,   8,   NAN, NAN,
									     NAN, NAN, NAN};
	assert_part(r, "veristat",
		    "file_name,prog_name,verdict,total_insns\nperf_profiler.bpf.o,p_q,success,1\n");
	bb_report__free(r);
}

/* Verdicts come first; those that need action are bold. */
static void test_markdown_verdicts(void **state)
{
	struct bb_report *r = with_odd_names();
	struct bb_comparison *c = BB_ADD(bb_comparison_record, r, comparisons);

	(void)state;
	assert_non_null(c);
	set_text(&c->name, "perf_profiler/step/stack_depth=8");
	set_text(&c->base, "old");
	set_text(&c->head, "new");
	c->threshold = 0.01;
	c->alpha = 0.05;
	c->ratio = (struct bb_estimate){1.0512, 1.03, 1.0775};
	c->base_ns = 100;
	c->head_ns = 105.12;
	c->verdict = BB_VERDICT_REGRESSED;
	assert_part(r, "markdown",
		    "### Compared in turns, at a significance of 0.05\n\n"
		    "1 regressed, 0 improved, 0 same, 0 inconclusive, at a threshold of 1 %\n\n"
		    "| Case | Metric |");
	assert_part(r, "markdown", " | - |\n\nA: old\n\nB: new\n");
	assert_part(r, "markdown",
		    "\n| perf\\_profiler/step/stack\\_depth=8 | latency, ns | 100.0 | 105.1 | ");
	assert_part(r, "markdown", " | +5.12 | \\[+3.00, +7.75\\] | **regressed** |");
	bb_report__free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden),
		cmocka_unit_test(test_odd_names),
		cmocka_unit_test(test_openmetrics_is_valid),
		cmocka_unit_test(test_a_line_a_load),
		cmocka_unit_test(test_nothing_to_say),
		cmocka_unit_test(test_absent_columns),
		cmocka_unit_test(test_markdown_verdicts),
		cmocka_unit_test(test_markdown_calls_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
