/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The HTML page and its pictures: they show all that a run has, nothing in a run can break out of
 * the page, and no other file is needed. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "base/std.h"
#include "unit/export_testing.h"
#include "html/html.h"
#include "profile/stacks.h"

/* Returns how many of these elements are opened but not closed; 0 is a well-formed page. */
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

static void assert_whole_but_for_script(const char *text)
{
	static const char *const elements[] = {
		"html",    "body", "article", "nav",        "section", "div", "details",
		"summary", "svg",  "figure",  "figcaption", "table",   "g",   "text",
		"title",   "p",    "h1",      "h2",         "h3",      "ul",  "li",
		"a",       "b",    "span",    "script",     "style",
	};

	for (size_t i = 0; i < sizeof(elements) / sizeof(elements[0]); i++)
		if (balance(text, elements[i]))
			fail_msg("%d more <%s> than </%s>", balance(text, elements[i]), elements[i],
				 elements[i]);
	assert_lacks(text, "nan");
	assert_lacks(text, "inf ");
	assert_lacks(text, "src=");
	assert_lacks(text, "@import");
	assert_lacks(text, "url(");
	assert_lacks(text, "<link");
}

static void assert_whole(const char *text)
{
	assert_whole_but_for_script(text);
	assert_lacks(text, "<script");
}

static char *page_of(const struct bb_html_page *pages, size_t n)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	bb_html__write(pages, n, out);
	assert_int_equal(fclose(out), 0);
	return text;
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

static void test_page(void **state)
{
	struct bb_report *r = make_sample_report();
	char *text = export_ok("html", r);

	(void)state;
	assert_whole(text);
	assert_has(text, "<h3>perf_profiler, step, stack_depth = 8 (ns per run)</h3>");
	assert_has(text, "<td class=text>ringbuf_nowakeup</td><td>614.3</td><td "
			 "class=text>+-15.7</td><td>744.1</td>");
	assert_has(text, "<b>void</b>: perf_profiler/ringbuf_nowakeup/step/stack_depth=8: 2 of 8 "
			 "series (load 3, 6): run_cnt is 131");
	assert_has(text, "<b>skipped</b>: perf_profiler/slope: this kernel has no");
	assert_has(text, "'>verified-instructions");
	assert_has(text, "AMD EPYC 7763 64-Core Processor");
	free(text);
	bb_report__free(r);
}

/* Users choose names, so markup in names must stay text. */
static void test_markup_in_names(void **state)
{
	struct bb_report *r = make_report("a<b>\"'&");
	size_t i = make_case(r, "<script>alert(1)</script>", "step", "p'><svg onload=x", 8);
	char *text;

	(void)state;
	make_loads(r, i, 8, 30, 60);
	bb_report__summarise(r);
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
	struct bb_comparison *c = BB_ADD(bb_comparison_record, r, comparisons);
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
	assert_has(text, "<td>+5.12</td><td>[+3.00, +7.75]</td><td class='text verdict "
			 "regressed'>regressed</td>");
	assert_lacks(text, "<details>");
	assert_has(text, "<h1>perf_profiler: A: old, B: new, by ");
	assert_true(strstr(text, "<h2>Verdicts<") < strstr(text, "<h2>Cost of a run<"));
	free(text);
	/* Comparisons of two different pairs of programs have no common A and B. */
	c = BB_ADD(bb_comparison_record, r, comparisons);
	set_text(&c->name, "perf_profiler/slope");
	set_text(&c->base, "older");
	set_text(&c->head, "new");
	text = export_ok("html", r);
	assert_has(text, "<h1>perf_profiler: ringbuf_nowakeup");
	free(text);
	bb_report__free(r);
}

/* The heading of a run of `inside` names its programs, but not their paths. */
static void test_paths(void **state)
{
	struct bb_report *r = make_report("agent");
	static const char *const names[] = {"first", "first.1", "second"};
	char *text;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		size_t k = make_case(r, names[i], "inside", NULL, 0);

		make_series(r, k, 0);
		add_samples(&r->cases[k].series[0], 40, 10);
		r->cases[k].is_live = true;
		if (i == 1)
			r->cases[k].path_share = 0.5;
	}
	bb_report__summarise(r);
	text = page_of(&(struct bb_html_page){.report = r, .flame = "(the flame graph)"}, 1);
	assert_whole(text);
	assert_has(text, ": first, second, by inside</h1>");
	assert_has(text, "<a href='#flame'>Paths</a>");
	assert_has(text, "<h2>Paths</h2>\n(the flame graph)");
	free(text);
	bb_report__free(r);
}

/* A comparison of 256 inputs: regressions are visible, all other rows are folded. */
static void test_many_verdicts(void **state)
{
	struct bb_report *r = make_sample_report();
	char *text, name[32];

	(void)state;
	for (unsigned int i = 0; i < 256; i++) {
		struct bb_comparison *c = BB_ADD(bb_comparison_record, r, comparisons);

		assert_non_null(c);
		snprintf(name, sizeof(name), "s/step/input=%u", i);
		set_text(&c->name, name);
		set_text(&c->base, "old");
		set_text(&c->head, "new");
		c->ratio = (struct bb_estimate){1, 0.99, 1.01};
		c->floor_ns = NAN;
		c->verdict = i == 200  ? BB_VERDICT_REGRESSED
			     : i == 30 ? BB_VERDICT_IMPROVED
				       : BB_VERDICT_SAME;
	}
	text = export_ok("html", r);
	assert_whole(text);
	assert_has(text, "1 regressed, 1 improved, 254 same, 0 inconclusive");
	assert_has(text, "<details><summary>240 more</summary>");
	assert_true(strstr(text, "input=200</td>") < strstr(text, "input=30</td>"));
	assert_true(strstr(text, "input=30</td>") < strstr(text, "input=0</td>"));
	assert_true(strstr(text, "input=13</td>") < strstr(text, "<details>"));
	assert_true(strstr(text, "<details>") < strstr(text, "input=14</td>"));
	assert_int_equal(count(text, "<td class=text>s/step/input="), 256);
	free(text);
	bb_report__free(r);
}

/* Nothing measured, one sample, equal figures, no interval: the page is still valid, and nothing
 * divides by 0. */
static void test_little_to_show(void **state)
{
	struct bb_report *r = make_report("r");
	char *text = export_ok("html", r);
	size_t i;

	(void)state;
	assert_has(text, "Nothing was timed.");
	free(text);
	i = make_case(r, "a", "step", NULL, 0);
	make_series(r, i, 0);
	add_samples(&r->cases[i].series[0], 40, 1);
	make_series(r, make_case(r, "b", "step", NULL, 0), 0);
	set_text(&r->incomplete, "stopped <here>");
	bb_report__summarise(r);
	text = export_ok("html", r);
	assert_whole(text);
	assert_has(text, "stopped &lt;here&gt;");
	free(text);
	bb_report__free(r);
}

/* Source lines with their shares. A line that never ran is marked, and hostile text stays text. */
static void test_source(void **state)
{
	struct bb_report *r = make_sample_report();
	struct bb_counted *c = make_counted(r, "ringbuf_nowakeup", 28);
	char *text;

	(void)state;
	set_text(&c->lines[1].text, "\treturn a < b ? \"</pre><script>alert(1)</script>\" : '&';");
	set_text(&c->lines[2].file, "/<i>/'x' onclick=y.h");
	set_text(&c->calls[0].name, "<b>helper");
	set_text(&c->cases[0].void_why, "returned <2>");
	text = export_ok("html", r);
	assert_whole(text);
	assert_has(text, "<a href='#source'>Instructions and source</a>");
	assert_has(text, "28 instructions per run over 20 runs; 12 in the program, 3 blocks, 1 "
			 "path");
	assert_has(text, "<p>Calls per run: 1 <code>&lt;b&gt;helper</code>.</p>");
	assert_has(text, "<a href='#l0-0-0'>prog.bpf.c:10</a> 96.4 %, <a "
			 "href='#l0-0-1'>prog.bpf.c:12</a> 3.6 %.");
	assert_has(text, "<tr id=l0-0-0 class=hot><td>27.00<td class=share "
			 "style='--share:96%'>96.4<td>1.00<td>10<td class=src>"
			 "\tint x = 1;</tr>");
	assert_has(text, "<td class=src>\treturn a &lt; b ? "
			 "&quot;&lt;/pre&gt;&lt;script&gt;alert(1)&lt;/script&gt;&quot; : "
			 "&#39;&amp;&#39;;</tr>");
	assert_has(text, "<b>/&lt;i&gt;/&#39;x&#39; onclick=y.h</b> (not in this tree");
	assert_has(text, "<tr id=l0-0-2 class=never><td>0<td class=share>0<td>#####<td>14<td "
			 "class=src>\treturn -1;</tr>");
	assert_has(text, "exact/input=0 is void: returned &lt;2&gt;");
	free(text);
	bb_report__free(r);
}

/* Makes a history of `n` runs with all cases of the report. Case number `moved` regressed at the
 * run before last. */
static struct bb_timeline make_history(const struct bb_report *r, size_t n, size_t moved)
{
	struct bb_timeline t = {.n_runs = n, .n_cases = r->n_cases};

	t.runs = calloc(n, sizeof(*t.runs));
	t.cases = calloc(t.n_cases, sizeof(*t.cases));
	t.index.points = calloc(n * t.n_cases, sizeof(*t.index.points));
	t.index.runs = calloc(n, sizeof(*t.index.runs));
	t.index.cases = calloc(t.n_cases, sizeof(*t.index.cases));
	assert_true(t.runs && t.cases && t.index.points && t.index.runs && t.index.cases);
	t.index.n_points = n * t.n_cases;
	t.index.n_runs = n;
	t.index.n_cases = t.n_cases;
	for (size_t k = 0; k < n; k++) {
		t.runs[k].of = &t.index.runs[k];
		t.index.runs[k] = (struct bb_index_run){
			.id = k == n - 2 ? bb_strdup(r->id) : bb_asprintf("run-%zu", k),
			.started = bb_strdup("2026-11-21T13:17:00Z"),
			.commit = bb_asprintf("%016zx", k),
		};
	}
	for (size_t i = 0; i < t.n_cases; i++) {
		struct bb_timeline_case *c = &t.cases[i];

		c->of = &t.index.cases[i];
		set_text(&t.index.cases[i].name, r->cases[i].name);
		c->by = BB_BY_RATIO;
		c->n_points = n;
		c->points = calloc(n, sizeof(*c->points));
		assert_non_null(c->points);
		for (size_t k = 0; k < n; k++) {
			bool is_moved = i == moved && k >= n - 2;
			double ratio = is_moved ? 1.05 : 1 + 0.001 * (double)(k % 3);

			t.index.points[i * n + k] = (struct bb_run_point){
				.figure = {{1000 * ratio, 990 * ratio, 1010 * ratio},
					   {ratio, 0.99 * ratio, 1.01 * ratio},
					   {NAN, NAN, NAN}},
			};
			c->points[k] = (struct bb_timeline_point){
				.run = k,
				.of = &t.index.points[i * n + k],
				.judged = {is_moved ? BB_HISTORY_REGRESSED : BB_HISTORY_STEADY,
					   i == moved && k == n - 2, 0, 0.01},
			};
		}
	}
	return t;
}

static void test_history(void **state)
{
	struct bb_report *r = make_sample_report();
	struct bb_timeline t = make_history(r, 30, 1);
	char *text;

	(void)state;
	t.cases[0].points[3].differs = "kernel_release";
	set_text(&t.index.runs[5].incomplete, "<SIGINT>");
	text = page_of(&(struct bb_html_page){.report = r, .history = &t}, 1);
	assert_whole(text);
	assert_has(text, "<a href='#history'>History</a>");
	assert_has(text, "5 cases over 30 runs: 1 regressed, 0 improved, 4 steady");
	assert_has(text, "<b>regressed</b>: perf_profiler/ringbuf_nowakeup/step/stack_depth=8, "
			 "+5.00 "
			 "% in the newest run, first seen in the run of 2026-11-21T13:17:00Z "
			 "(commit "
			 "0000000000)");
	/* Cases that changed come first. */
	assert_true(strstr(text, "</td><td>+5.00</td>") < strstr(text, "<td "
								       "class=text>perf_profiler/"
								       "empty/step"));
	assert_has(text, "of the ratio to the empty program"); /* in the column's head */
	assert_has(text, "No pictures: bpfbench report draws them, with gnuplot.");
	free(text);

	/* One run is no history. Runs of other scenarios do not count. */
	for (size_t i = 0; i < t.n_cases; i++)
		t.cases[i].n_points = 1;
	text = page_of(&(struct bb_html_page){.report = r, .history = &t}, 1);
	assert_has(text, "One run is stored: history begins with the second.");
	assert_lacks(text, "Verdicts");
	free(text);
	for (size_t i = 0; i < t.n_cases; i++)
		set_text(&t.index.cases[i].name, "another");
	text = page_of(&(struct bb_html_page){.report = r, .history = &t}, 1);
	assert_lacks(text, "History");
	assert_lacks(text, "Verdicts");
	free(text);
	bb_timeline__done(&t);
	bb_report__free(r);
}

/* Makes a flame graph of `stacks` stacks of 20 frames each. */
static char *make_flame(size_t stacks, const char *name)
{
	const struct bb_flame_opts opts = {.title = "<b>", .unit = "samples", .max_bytes = 1200000};
	struct bb_stacks s = {0};
	char *text = NULL, frame_name[256];
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	for (size_t i = 0; i < stacks; i++) {
		uint32_t path[20];

		for (uint32_t depth = 0; depth < 20; depth++) {
			struct bb_frame frame = {.kind = BB_FRAME_USER, .file = BB_NO_ID};

			snprintf(frame_name, sizeof(frame_name), "%s_%u_%zu", name, depth, i);
			frame.name = bb_names__add(&s.names, frame_name, strlen(frame_name));
			path[depth] = (uint32_t)s.n_frames;
			BB_PUSH(s.frames, s.n_frames, frame);
		}
		bb_stacks__add(&s, path, 20, (double)(1 + i % 200));
	}
	bb_stacks__sort(&s);
	bb_flame__write_html(&s, &opts, out);
	assert_int_equal(fclose(out), 0);
	bb_stacks__done(&s);
	return text;
}

/* Several runs on one page: every id belongs to one element only. */
static void test_several(void **state)
{
	struct bb_report *a = make_sample_report(), *b = make_sample_report();
	char *flame = make_flame(2, "</script><script>alert(1)"), *text;
	const struct bb_html_page pages[] = {{.report = a, .flame = flame},
					     {.report = b, .flame = flame}};

	(void)state;
	make_counted(a, "ringbuf_nowakeup", 28);
	make_counted(b, "ringbuf_nowakeup", 28);
	text = page_of(pages, 2);
	assert_whole_but_for_script(text);
	assert_int_equal(count(text, "<script>"), 2);
	assert_has(text, "<section id=flame>");
	assert_has(text, "<section id=flame-2>");
	assert_has(text, "<a href='#machine-2'>");
	assert_int_equal(count(text, " id=l0-0-0 "), 1);
	assert_int_equal(count(text, " id=l1-0-0 "), 1);
	assert_has(text, "&lt;/script&gt;&lt;script&gt;alert(1)_0_0");
	free(text);
	free(flame);
	bb_report__free(a);
	bb_report__free(b);
}

/* The size of a large page: 256 inputs of six programs, ten tables, 64 runs of history, the source,
 * and a flame graph of 100 000 frames. */
static void test_bound(void **state)
{
	struct bb_report *r = make_report("r");
	struct bb_timeline t;
	char *flame = make_flame(5000, "some_function_of_a_usual_length"), *text, variant[8];

	(void)state;
	for (unsigned int v = 0; v < 6; v++) {
		struct bb_counted *c;

		snprintf(variant, sizeof(variant), "v%u", v);
		for (uint32_t input = 0; input < 256; input++)
			make_loads(r, make_case(r, variant, "step", "input", input), 6, 20,
				   30 + input);
		for (uint32_t rate = 0; rate < 10; rate++)
			make_loads(r, make_case(r, variant, "in-situ", "rate_hz", rate), 12, 200,
				   300 + 500 * rate);
		c = make_counted(r, variant, 100);
		for (uint32_t line = 0; line < 500; line++) {
			struct bb_counted_line *l = BB_ADD(bb_counted_line_record, c, lines);

			assert_non_null(l);
			set_text(&l->file, "/nowhere/prog.bpf.c");
			set_text(&l->text, "\tif (bpf_map_update_elem(&some_map, &key, &value, "
					   "BPF_ANY) && bb_count_drop())");
			l->line = 20 + line;
			l->executions = l->instructions = line;
		}
	}
	bb_report__summarise(r);
	t = make_history(r, 64, 3);
	text = page_of(&(struct bb_html_page){.report = r, .history = &t, .flame = flame}, 1);
	assert_whole_but_for_script(text);
	assert_has(text, "<h3>perf_profiler, step, over input (latency");
	assert_has(text, "<details><summary>More</summary>");
	assert_has(text, "more cases without a change");
	assert_in_range(strlen(flame), 800000, 1300000);
	print_message("# %zu bytes\n", strlen(text));
	assert_in_range(strlen(text), 1, 3000000);
	free(text);
	free(flame);
	bb_timeline__done(&t);
	bb_report__free(r);
}

static char *embedded(const char *svg, int expected)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(bb_svg__embed(out, svg, "p0-1-"), expected);
	assert_int_equal(fclose(out), 0);
	return text;
}

/* A picture of gnuplot: its colours become those of the page, and its ids are made unique. */
static void test_svg(void **state)
{
	char *text = embedded("<?xml version='1.0'?>\n<svg \n viewBox='0 0 440 330'\n "
			      "xmlns='x'\n>\n"
			      "<title>ecdf</title>\n<desc>Produced by GNUPLOT</desc>\n"
			      "<defs><circle id='gpDot' r='0.5' stroke='currentColor'/>\n"
			      "<filter id='textbox'><feFlood "
			      "flood-color='#FFFFFF'/></filter></defs>\n"
			      "<g fill=\"none\" stroke=\"rgb(  0, 114, 178)\">\n"
			      "<use xlink:href='#gpDot' color='rgb(213,94,0)'/>"
			      "<polygon fill = 'rgb(1, 2, 3)' points = '1,2 3,4 '/>"
			      "<text>a &amp; b</text></g></svg>\n",
			      0);

	(void)state;
	assert_has(text, "<svg viewBox='0 0 440 330'>");
	assert_has(text, "<circle id='p0-1-gpDot' r='0.5' stroke='currentColor'/>");
	assert_has(text, "<g fill='none' stroke='var(--c0)'>");
	assert_has(text, "<use href='#p0-1-gpDot' color='var(--c1)'/>");
	assert_has(text, "<polygon fill='#010203' points='1,2 3,4 '/>");
	assert_has(text, "<text>a &amp; b</text>");
	assert_lacks(text, "GNUPLOT");
	assert_lacks(text, "filter");
	assert_lacks(text, "feFlood");
	free(text);
}

/* A hostile picture: scripts, event handlers and links are removed. */
static void test_hostile_svg(void **state)
{
	static const char *const broken[] = {
		"",
		"no picture",
		"<svg",
		"<svg><g",
		"<svg><g fill",
		"<svg><g fill='",
		"<svg><script>",
		"<svg><!--<g/>--></svg>",
		"<svg><![CDATA[<script>]]></svg>",
		"<svg><g //></svg>",
	};
	char *text = embedded("<svg onload='a()' style='b'><script>alert(1)<g>2</g></script>"
			      "<SCRIPT>3</SCRIPT><a href='http://x'>4</a><image href='y'/>"
			      "<use xlink:href='http://z#q'/><g fill='url(http://u)' "
			      "id='&quot;<b>' stroke='\"><script>'>5</g>"
			      "<foreignObject><g>6</g></foreignObject></svg>",
			      0);

	(void)state;
	assert_string_equal(text, "<svg><use/><g fill='none' id='p0-1-&quot;b' "
				  "stroke='none'>5</g></svg>");
	free(text);
	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		text = embedded(broken[i], -EINVAL);
		assert_string_equal(text, "");
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_page),     cmocka_unit_test(test_markup_in_names),
		cmocka_unit_test(test_verdicts), cmocka_unit_test(test_many_verdicts),
		cmocka_unit_test(test_paths),    cmocka_unit_test(test_little_to_show),
		cmocka_unit_test(test_source),   cmocka_unit_test(test_history),
		cmocka_unit_test(test_several),  cmocka_unit_test(test_bound),
		cmocka_unit_test(test_svg),      cmocka_unit_test(test_hostile_svg),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
