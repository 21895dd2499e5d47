/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Times by line: stored and read again, summed up by line, and shown as a table, a sentence and a
 * flame graph. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>

#include "cli/lines_flame.h"
#include "html/html.h"
#include "report/report.h"
#include "store/run_json.h"
#include "unit/report_testing.h"
#include "unit/export/document_testing.h"

#define ID "20261122T131700Z-lines-1a2b3c4d"

static char *print(const struct bb_by_line *b, bool longest_first)
{
	struct bb_doc d = {0};

	bb_doc_by_line(b, true, longest_first, true, &d);
	return rendered(&d, as_text);
}

static void test_stored_and_read(void **state)
{
	static const double rest[8] = {0, NAN, 1.5};
	struct bb_report *r = make_report(ID), *again;

	(void)state;
	make_timed(r, 4849);
	set_numbers(&r->timed[0].rest_ns, rest, 8);
	again = store_and_read(r);
	assert_int_equal(again->n_timed, 1);
	assert_int_equal(again->timed[0].n_rows, 3);
	assert_string_equal(again->timed[0].rows[2].call, "bpf_ringbuf_submit");
	assert_int_equal(again->timed[0].rest_ns.n, 8);
	assert_nan(again->timed[0].rest_ns.x[1]);
	assert_near(again->timed[0].rest_ns.x[2], 1.5);
	bb_report__free(again);
	bb_report__free(r);
}

/* Older runs stored the times of the loads as a text. A word that is no number is an absent
 * time. */
static void test_texts_of_older_runs(void **state)
{
	static const char list[] = "\"rest_ns\": [0, 0, 0, 0, 0, 0, 0, 0]",
			  text[] = "\"rest_ns\": \"1 x - 47.62      \"", *at;
	struct bb_report *r = make_report(ID), *again;
	char *json;
	size_t len;
	FILE *in;
	struct bb_err err;

	(void)state;
	make_timed(r, 4849);
	bb_run_json__compose(r, &json, &len);
	at = strstr(json, list);
	assert_non_null(at);
	assert_true(sizeof(text) <= sizeof(list));
	memset(json + (at - json), ' ', sizeof(list) - 1);
	memcpy(json + (at - json), text, sizeof(text) - 1);
	in = fmemopen(json, len, "r");
	assert_non_null(in);
	assert_int_equal(bb_run_json__read(in, "run.json", &again, &err), 0);
	assert_near(again->timed[0].rest_ns.x[0], 1);
	assert_nan(again->timed[0].rest_ns.x[1]);
	assert_nan(again->timed[0].rest_ns.x[2]);
	assert_near(again->timed[0].rest_ns.x[3], 47.62);
	fclose(in);
	free(json);
	bb_report__free(again);
	bb_report__free(r);
}

/* A part of the program's exit may overlap with its own work. It is subtracted from the time of the
 * call, if the loads show that it is more than 3 ns. */
static void test_hidden(void **state)
{
	static const struct {
		double hidden[8];
		size_t n;
		double calling;
	} cases[] = {{{8, 8, 7.5, 8, 8.5, 8, 8, 8}, 8, 42},
		     {{28, -9, 17, -20, 31, 8, -3, 25}, 8, 50},
		     {{2, 2, 2, 2, 2, 2, 2, 2}, 8, 50},
		     {{0}, 0, 50}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bb_report *r = make_report(ID);
		struct bb_timed *t = make_timed(r, 4849);
		struct bb_by_line b;
		double parts = 0;

		set_numbers(&t->hidden_ns, cases[i].hidden, cases[i].n);
		bb_by_line__make(r, t, &b);
		assert_near(b.calling.value, cases[i].calling);
		for (size_t k = 0; k < b.n_lines; k++)
			parts += b.lines[k].ns.value;
		assert_near(b.sum.value, b.calling.value + parts);
		bb_by_line__done(&b);
		bb_report__free(r);
	}
}

/* The loads of another process are appended, unless its rows differ because its runs took another
 * path. */
static void test_processes(void **state)
{
	struct bb_report *r = make_sample_report(), *other = make_sample_report();
	const struct bb_case *c = &r->cases[0];
	size_t n = c->n_series;

	(void)state;
	make_timed(r, 4849)->processes = 1;
	make_timed(other, 4851)->processes = 1;
	other->timed[0].check_ns = r->timed[0].check_ns + 1;
	other->timed[0].runs = 5;
	r->timed[0].runs = 6;
	assert_int_equal(bb_report__take_loads(r, other, 8), 0);
	assert_int_equal(r->timed[0].processes, 2);
	assert_int_equal(r->timed[0].runs, 11);
	assert_near(r->timed[0].check_ns, other->timed[0].check_ns - 0.5);
	assert_int_equal(r->timed[0].program_ns.n, 16);
	assert_int_equal(r->timed[0].rows[2].ns.n, 16);
	assert_true(n > 0);
	assert_int_equal(c->n_series, 2 * n);
	for (size_t i = n; i < c->n_series; i++)
		assert_int_equal(c->series[i].load, 8 + c->series[i - n].load);
	bb_report__free(other);
	other = make_report(ID);
	make_timed(other, 4849)->rows[1].turns = 7;
	assert_int_equal(bb_report__take_loads(r, other, 16), -EINVAL);
	assert_int_equal(r->timed[0].processes, 2);
	bb_report__free(other);
	bb_report__free(r);
}

/* Calls are stored as a list. They are read from a list and from the text of older runs. */
static void test_calls_stored(void **state)
{
	static const char *const stored[] = {"\"from\": [{\"line\": 77, \"call\": \"parse()\"}]",
					     "\"from\": \"77 parse()\""};
	struct bb_report *r = make_report(ID), *read;
	char *text, *at, *older;
	size_t len;
	FILE *in;

	(void)state;
	make_timed(r, 4849);
	bb_timed_row__set_from(&r->timed[0].rows[2], "77 parse()");
	bb_run_json__compose(r, &text, &len);
	for (int i = 0; i < 2; i++) {
		at = strstr(text, "\"from\": [");
		assert_non_null(at);
		assert_true(asprintf(&older, "%.*s%s%s", (int)(at - text), text, stored[i],
				     strchr(at, ']') + 1) > 0);
		in = fmemopen(older, strlen(older), "r");
		assert_int_equal(bb_run_json__read(in, "older", &read, NULL), 0);
		fclose(in);
		assert_int_equal(read->timed[0].rows[2].n_from, 1);
		assert_int_equal(read->timed[0].rows[2].from[0].line, 77);
		assert_string_equal(read->timed[0].rows[2].from[0].call, "parse()");
		assert_int_equal(read->timed[0].rows[1].n_from, 0);
		bb_report__free(read);
		free(older);
	}
	free(text);
	bb_report__free(r);
}

/* A row in a function names the calls that lead to it, and the flame graph has a frame for each. */
static void test_calls(void **state)
{
	struct bb_report *r = make_report(ID);
	struct bb_timed_row *row, damaged = {0};
	struct bb_by_line b;
	struct bb_lines_flame flame;
	char *text = NULL;
	size_t size;
	FILE *out;

	(void)state;
	make_timed(r, 4849);
	row = &r->timed[0].rows[2];
	bb_timed_row__set_from(row, "77 parse();45 inner()");
	assert_int_equal(row->n_from, 2);
	assert_string_equal(row->from[0].call, "parse()");
	assert_int_equal(row->from[0].line, 77);
	assert_string_equal(row->from[1].call, "inner()");
	bb_by_line__make(r, &r->timed[0], &b);
	text = print(&b, false);
	assert_has(text, "inner() of line 45, parse() of line 77: bpf_ringbuf_submit: submit();");
	free(text);
	out = open_memstream(&text, &size);
	bb_lines_flame__make(&b, &flame);
	bb_flame__write(&flame.stacks, &flame.opts, out);
	bb_stacks__done(&flame.stacks);
	fclose(out);
	assert_has(text, "77 len = get(); (prog.bpf.c)");
	assert_has(text, "parse()");
	assert_has(text, "line 45"); /* no row is of this line */
	assert_has(text, "inner()");
	free(text);
	bb_by_line__done(&b);
	bb_timed_row__set_from(&damaged, ";;7;x y 9;");
	assert_int_equal(damaged.n_from, 4);
	bb_record__done(&bb_timed_row_record, &damaged);
	bb_report__free(r);
}

/* The same program with cold caches: a further column, and a sentence about the lines that miss. */
static void test_cold(void **state)
{
	struct bb_report *r = make_report(ID);
	struct bb_by_line b;
	struct bb_timed *cold;
	char sentence[300], *text = NULL;

	(void)state;
	make_timed(r, 4849);
	bb_by_line__make(r, &r->timed[0], &b);
	bb_by_line__cold_sentence(&b, sentence, sizeof(sentence));
	assert_string_equal(sentence, "");
	assert_nan(b.cold.value);
	bb_by_line__done(&b);
	cold = make_timed(r, 11849.2);
	set_text(&cold->name, "perf_profiler/ringbuf/lines-cold/stack_depth=32");
	set_text(&cold->drive, "lines-cold");
	set_numbers(&cold->rest_ns, (double[]){45, 45, 45, 45, 45, 45, 45, 45}, 8);
	bb_by_line__make(r, &r->timed[0], &b);
	bb_by_line__cold_sentence(&b, sentence, sizeof(sentence));
	assert_has(sentence, "with cold caches 144");
	assert_has(sentence, ": bpf_ringbuf_submit of line 83 +7000");
	assert_null(strstr(sentence, "bpf_get_stack")); /* takes as long as with hot caches */
	text = print(&b, false);
	assert_has(text, "cold ns");
	assert_has(text, "11853");
	free(text);
	bb_by_line__done(&b);
	bb_by_line__make(r, &r->timed[1], &b);
	assert_nan(b.cold.value); /* timed[1] is the cold case itself */
	text = print(&b, false);
	assert_has(text, "(not attributed to a line)");
	free(text);
	bb_by_line__done(&b);
	bb_report__free(r);
}

static void test_lines(void **state)
{
	struct bb_report *r = make_report(ID);
	struct bb_by_line b;

	(void)state;
	make_timed(r, 4849);
	bb_by_line__make(r, &r->timed[0], &b);
	assert_int_equal(b.n_loads, 8);
	assert_int_equal(b.n_lines, 2);
	assert_near(b.lines[0].ns.value, 2501);
	assert_int_equal(b.lines[0].n_parts, 2);
	assert_near(b.lines[1].ns.value, 4852.5); /* the median of 4849 to 4856 */
	assert_true(b.lines[1].ns.lo < 4852.5 && b.lines[1].ns.lo >= 4849);
	assert_near(b.program.value, 7403.5);
	assert_near(b.sum.value, b.program.value);
	assert_false(bb_by_line__differs(&b));
	assert_string_equal(b.top[0]->row->call, "bpf_ringbuf_submit");
	assert_nan(b.lines[0].insns); /* no instructions were counted */
	bb_by_line__done(&b);
	/* A load without the time of one row does not count. */
	set_numbers(&r->timed[0].rows[0].ns,
		    (double[]){2500, 2500, 2500, 2500, 2500, 2500, 2500, NAN}, 8);
	bb_by_line__make(r, &r->timed[0], &b);
	assert_int_equal(b.n_loads, 7);
	assert_near(b.program.value, 7403);
	bb_by_line__done(&b);
	/* The parts are 10 % too short. */
	set_numbers(&r->timed[0].rows[0].ns,
		    (double[]){1700, 1700, 1700, 1700, 1700, 1700, 1700, 1700}, 8);
	bb_by_line__make(r, &r->timed[0], &b);
	assert_true(bb_by_line__differs(&b));
	bb_by_line__done(&b);
	bb_report__free(r);
}

/* Left out: two loads on a slower machine, and a quarter of the runs in the other loads. */
static void test_disturbed(void **state)
{
	struct bb_report *r = make_report(ID);
	struct bb_by_line b;
	char *text;

	(void)state;
	make_timed(r, 4849);
	bb_by_line__make(r, &r->timed[0], &b);
	text = print(&b, false);
	assert_null(strstr(text, "left out"));
	free(text);
	bb_by_line__done(&b);
	set_numbers(&r->timed[0].program_ns,
		    (double[]){7400, 7401, 9400, 7403, 7404, 7405, 7406, 8000}, 8);
	set_numbers(&r->timed[0].rows[0].ns,
		    (double[]){2500, 2500, 3900, 2500, 2500, 2500, 2500, 2800}, 8);
	r->timed[0].sweeps = 400;
	r->timed[0].disturbed = 100;
	bb_by_line__make(r, &r->timed[0], &b);
	assert_int_equal(b.n_loads, 6);
	assert_near(b.parts[0].ns.value, 2500);
	text = print(&b, false);
	assert_has(text, ", over 6 of 8 program loads\n");
	assert_has(text, "  44 % of the runs were disturbed by something else on the machine and "
			 "are "
			 "left out");
	free(text);
	bb_by_line__done(&b);
	bb_report__free(r);
}

static void test_table(void **state)
{
	struct bb_report *r = make_report(ID);
	struct bb_counted *c = make_counted(r, "ringbuf", 100);
	struct bb_by_line b;
	char *text, sentence[200];

	(void)state;
	c->lines[0].line = 77;
	make_timed(r, 4849)->other_ways = 250;
	r->timed[0].rows[2].turns = 3;
	r->timed[0].refused = 2;
	set_text(&r->timed[0].refused_why, "Unreleased reference id=2");
	r->timed[0].points = 48;
	set_text(&r->timed[0].thinned_why, "too long for jumps out of all its cuts");
	r->timed[0].measured = 5;
	bb_by_line__make(r, &r->timed[0], &b);
	bb_by_line__sentence(&b, sentence, sizeof(sentence));
	assert_string_equal(sentence, "of the program's own 7354 ns: 66 % line 83 "
				      "(bpf_ringbuf_submit), 34 % line 77 (bpf_get_stack)");
	text = print(&b, false);
	assert_has(text, "7404 ns per run [7401, 7406] with the call and its timing, over 8 "
			 "program loads\n");
	assert_has(text, "2501   [2501, 2501]      34.0     99    77  bpf_get_stack: len = "
			 "get();\n");
	assert_has(text, "bpf_ringbuf_submit, 3 times, the first 4852 ns: submit();\n");
	assert_has(text, "  20 % of the runs took another path than the rows show; ");
	assert_has(text, "  2 of 12 cuts are not allowed, so some parts are not divided: "
			 "Unreleased "
			 "reference id=2\n");
	assert_has(text, "  cuts at 12 of 48 points, so some rows are several lines: too long for "
			 "jumps out of all its cuts\n");
	assert_has(text, "  5 of the 6 cuts that a run passes were measured; ");
	assert_null(strstr(text, "its own code")); /* only 1 ns */
	assert_true(strstr(text, "len = get()") < strstr(text, "submit();"));
	free(text);
	text = print(&b, true);
	assert_true(strstr(text, "len = get()") > strstr(text, "submit();"));
	free(text);
	bb_by_line__done(&b);
	bb_report__free(r);
}

/* One variant at two stack depths is shown side by side, also lines that only one of them has, in
 * whatever order the cases stand. */
static void test_by_param(void **state)
{
	struct bb_report *r = make_report(ID);
	struct bb_by_line b[3];
	char *text;
	struct bb_doc d = {0};

	(void)state;
	make_timed(r, 4849);
	make_timed(r, 100);
	make_timed(r, 6000);
	set_text(&r->timed[1].variant, "another");
	set_text(&r->timed[2].name, "perf_profiler/ringbuf/lines/stack_depth=127");
	r->timed[2].param_value = 127;
	for (size_t i = 0; i < 2; i++) /* on another line */
		r->timed[2].rows[i].line = r->timed[2].rows[i].last_line = 78;
	for (size_t i = 0; i < 3; i++)
		bb_by_line__make(r, &r->timed[i], &b[i]);
	bb_doc_by_param(b, 1, &d); /* a single value of the parameter */
	assert_int_equal(d.n, 0);
	bb_doc_by_param(b, 3, &d);
	text = rendered(&d, as_text);
	assert_string_equal(text, "perf_profiler/ringbuf/lines, ns by stack_depth\n"
				  "    32   127  line  source\n"
				  "  7404  8554        (the program)\n"
				  "  50.0  50.0        (the call and its timing)\n"
				  "  2501     -    77  len = get();\n"
				  "     -  2501    78  len = get();\n"
				  "  4852  6004    83  submit();\n");
	free(text);
	for (size_t i = 0; i < 3; i++)
		bb_by_line__done(&b[i]);
	bb_report__free(r);
}

static void test_pictures(void **state)
{
	struct bb_report *r = make_report(ID);
	struct bb_html_page page = {.report = r};
	struct bb_by_line b;
	struct bb_lines_flame flame;
	char *text, *figure = (char[]){"<figure>here</figure>"};
	size_t len;
	FILE *mem;

	(void)state;
	make_timed(r, 4849);
	set_text(&r->timed[0].thinned_why, "a > b");
	set_text(&r->timed[0].rows[2].text, "a < b;");
	bb_by_line__make(r, &r->timed[0], &b);
	bb_lines_flame__make(&b, &flame);
	assert_int_equal(flame.stacks.total, 50 + 2500 + 1 + 4853);
	mem = open_memstream(&text, &len);
	bb_flame__write(&flame.stacks, &flame.opts, mem);
	fclose(mem);
	bb_stacks__done(&flame.stacks);
	assert_has(text, "83 a &lt; b; (prog.bpf.c)");
	assert_has(text, "bpf_get_stack");
	assert_has(text, ">helper</text>"); /* the flame graph has its own legend */
	assert_null(strstr(text, "off-CPU"));
	assert_has(text, " ns");
	free(text);
	bb_by_line__done(&b);
	mem = open_memstream(&text, &len);
	page.line_flames = &figure;
	bb_html__write(&page, 1, mem);
	fclose(mem);
	assert_has(text, "66 % line 83 (bpf_ringbuf_submit)");
	assert_has(text, figure);
	assert_has(text, "so some rows are several lines: a &gt; b</p>");
	assert_has(text, "a &lt; b;");
	free(text);
	bb_report__free(r);
}

/* In a guest's run, a row of 2 instructions is shown; otherwise a row of 2 ns is not. */
static void test_least_shown(void **state)
{
	static const double one[] = {1, 1, 1, 1, 1, 1, 1, 1}; /* and 1 of the same line */
	struct bb_report *r = make_report(ID);
	struct bb_timed *t = make_timed(r, 4849);

	(void)state;
	set_numbers(&t->rows[0].ns, one, BB_LEN(one));
	for (int guest = 0; guest < 2; guest++) {
		struct bb_by_line b;
		char *text;

		t->counts_instructions = guest;
		bb_by_line__make(r, t, &b);
		text = print(&b, false);
		assert_int_equal(strstr(text, "< 3") != NULL, !guest);
		assert_int_equal(strstr(text, "2.00 ") != NULL, guest);
		free(text);
		bb_by_line__done(&b);
	}
	bb_report__free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stored_and_read), cmocka_unit_test(test_texts_of_older_runs),
		cmocka_unit_test(test_hidden),          cmocka_unit_test(test_processes),
		cmocka_unit_test(test_lines),           cmocka_unit_test(test_calls),
		cmocka_unit_test(test_calls_stored),    cmocka_unit_test(test_cold),
		cmocka_unit_test(test_disturbed),       cmocka_unit_test(test_table),
		cmocka_unit_test(test_by_param),        cmocka_unit_test(test_pictures),
		cmocka_unit_test(test_least_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
