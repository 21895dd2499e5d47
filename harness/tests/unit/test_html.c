/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The HTML page and its charts: all that a run has is there, nothing in it can break out of the page, no other file is needed. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "export_testing.h"
#include "report/chart.h"
#include "report/html.h"

/* Balance of the elements that must be closed; 0 is a page that browsers read as it was meant. */
static int balance(const char *text, const char *element)
{
	char open[32], close[32];
	int n = 0;

	snprintf(open, sizeof(open), "<%s", element);
	snprintf(close, sizeof(close), "</%s>", element);
	for (const char *at = text; (at = strstr(at, open)); at++)
		n += strchr(" >\n", at[strlen(open)]) != NULL;
	for (const char *at = text; (at = strstr(at, close)); at++)
		n--;
	return n;
}

static void assert_whole(const char *text)
{
	static const char *const elements[] = {"html", "body", "svg", "figure", "table", "g", "text", "title", "p", "h2", "ul"};

	for (size_t i = 0; i < sizeof(elements) / sizeof(elements[0]); i++)
		if (balance(text, elements[i]))
			fail_msg("%d more <%s> than </%s>", balance(text, elements[i]), elements[i], elements[i]);
	assert_lacks(text, "nan");
	assert_lacks(text, "inf ");
	assert_lacks(text, "<script");
	assert_lacks(text, "src=");
	assert_lacks(text, "@import");
	assert_lacks(text, "url(");
}

static void test_page(void **state)
{
	struct bb_report *r = make_sample_report();
	char *text = export_ok("html", r);

	(void)state;
	assert_whole(text);
	assert_has(text, "<h3>perf_profiler, step, stack_depth = 8</h3>");
	assert_has(text, "<td class=text>ringbuf_nowakeup</td><td>744.1</td>");
	assert_has(text, "void: perf_profiler/ringbuf_nowakeup/step/stack_depth=8: 2 of 8 series (run_cnt is 131");
	assert_has(text, "skipped: perf_profiler/slope: this kernel has no");
	assert_has(text, "verified-instructions, insns");
	assert_has(text, "AMD EPYC 7763 64-Core Processor");
	free(text);
	bb_report__free(r);
}

/* Names are the user's: markup in them stays text. */
static void test_markup_in_names(void **state)
{
	struct bb_report *r = make_report("a<b>\"'&");
	size_t i = make_case(r, "<script>alert(1)</script>", "step", "p'><svg onload=x", 8);
	char *text;

	(void)state;
	make_loads(r, i, 8, 30, 60);
	assert_int_equal(bb_report__summarise(r), 0);
	text = export_ok("html", r);
	assert_whole(text);
	assert_has(text, "&lt;script&gt;alert(1)&lt;/script&gt;");
	assert_lacks(text, "<svg onload");
	free(text);
	bb_report__free(r);
}

static void test_verdicts(void **state)
{
	struct bb_report *r = make_sample_report();
	struct bb_comparison *c = bb_report__add_comparison(r);
	char *text;

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
	text = export_ok("html", r);
	assert_whole(text);
	assert_has(text, "<td>+5.12 %</td><td>+3.00 %</td><td>+7.75 %</td><td class='text verdict regressed'>regressed</td>");
	assert_has(text, "<rect class=band ");
	assert_has(text, "head against base, %");
	free(text);
	bb_report__free(r);
}

/* Nothing measured, one sample, equal figures, no interval: still a page, and no division by nothing. */
static void test_little_to_show(void **state)
{
	struct bb_report *r = make_report("r");
	char *text = export_ok("html", r);
	size_t i;

	(void)state;
	assert_has(text, "Nothing was measured.");
	free(text);
	i = make_case(r, "a", "step", NULL, 0);
	make_series(r, i, 0);
	add_samples(&r->cases[i].series[0], 40, 1);
	make_series(r, make_case(r, "b", "step", NULL, 0), 0);
	set_text(&r->incomplete, "stopped <here>");
	assert_int_equal(bb_report__summarise(r), 0);
	text = export_ok("html", r);
	assert_whole(text);
	assert_has(text, "stopped &lt;here&gt;");
	free(text);
	bb_report__free(r);
}

/* Three values of a parameter are a curve; one figure of each chart is where the axis says. */
static void test_curve(void **state)
{
	struct bb_report *r = make_report("r");
	char *text;

	(void)state;
	for (uint32_t depth = 8; depth <= 32; depth *= 2)
		make_loads(r, make_case(r, "a", "step", "stack_depth", depth), 8, 30, 10 * depth);
	assert_int_equal(bb_report__summarise(r), 0);
	text = export_ok("html", r);
	assert_whole(text);
	assert_has(text, "Cost against the parameter.");
	assert_has(text, " at 16</title>");
	free(text);
	bb_report__free(r);
}

static char *chart_of(const struct bb_chart_axis *x, const struct bb_chart_range *rows, size_t n)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	bb_chart_ranges(out, x, rows, n, NAN);
	assert_int_equal(fclose(out), 0);
	return text;
}

/* A linear axis from 0 to 100 is drawn from 190 to 704. */
static void test_places(void **state)
{
	const struct bb_chart_axis x = {.label = "ns", .lo = 0, .hi = 100};
	const struct bb_chart_range rows[] = {
		{.label = "half", .value = 50, .lo = 25, .hi = 75, .far = NAN},
		{.label = "beyond", .value = 1e6, .lo = NAN, .hi = NAN, .far = NAN},	/* drawn at the edge */
		{.label = "none", .value = NAN, .lo = NAN, .hi = NAN, .far = NAN},
	};
	char *text = chart_of(&x, rows, 3);

	(void)state;
	assert_has(text, "<circle cx=447.0 ");
	assert_has(text, "M318.5 22.0H575.5");
	assert_has(text, "<circle cx=704.0 ");
	assert_has(text, ">none</text></g>");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_page),
		cmocka_unit_test(test_markup_in_names),
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_little_to_show),
		cmocka_unit_test(test_curve),
		cmocka_unit_test(test_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
