/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts of the exact drive: stored and read again, written as BMF and as a tracefile, compared
 * without tolerance, and annotated. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>

#include "export/documents.h"
#include "cli/output.h"
#include "judge/diff.h"
#include "store/run_json.h"
#include "unit/report_testing.h"
#include "unit/export/document_testing.h"

/* Returns the output of the exporter; the caller frees it. */
static char *export(const char *format, const struct bb_report *r, int expected, struct bb_err *err)
{
	char *text = NULL;
	size_t len;
	FILE *mem = open_memstream(&text, &len);

	assert_non_null(mem);
	assert_int_equal(bb_export(bb_exporter_find(format), r, NULL, mem, err), expected);
	fclose(mem);
	return text;
}

static void test_stored_and_read(void **state)
{
	struct bb_report *r = make_report("20261121T131700Z-exact-1a2b3c4d"), *again;

	(void)state;
	make_counted(r, "ringbuf", 100);
	make_counted(r, "stackid", 50)->tail_calls = 7;
	set_text(&r->counted[1].cases[1].void_why, "returned 1, 2 expected");
	again = store_and_read(r);
	assert_int_equal(again->n_counted, 2);
	assert_int_equal(again->counted[1].tail_calls, 7);
	assert_string_equal(again->counted[0].lines[1].text, "\treturn x;");
	bb_report__free(again);
	bb_report__free(r);
}

static void test_bmf(void **state)
{
	struct bb_report *r = make_report("20261121T131700Z-exact-1a2b3c4d");
	struct bb_counted *c = make_counted(r, "ringbuf", 100);
	struct bb_err err = {0};
	char *text;

	(void)state;
	c->cases[1].most = 110; /* the count varies */
	c->cases[1].instructions += 10;
	text = export("bmf", r, 0, &err);
	assert_has(text, "\"perf_profiler/ringbuf/exact/input=0\": {\n    \"instructions\": "
			 "{\"value\": 100}\n  }");
	assert_has(text, "\"instructions\": {\"value\": 101, \"lower_value\": 100, "
			 "\"upper_value\": 110}");
	free(text);
	set_text(&c->cases[0].void_why, "returned 1, 2 expected");
	text = export("bmf", r, 0, &err);
	assert_null(strstr(text, "input=0"));
	assert_has(text, "input=1");
	free(text);
	assert_int_equal(bb_export_say_left_out(r, &err), -ENODATA);
	assert_string_equal(err.msg, "perf_profiler/ringbuf/exact/input=0: no valid sample "
				     "(returned 1, 2 expected): it is left out");
	bb_report__free(r);
}

static struct bb_exact_diff diff_of(const struct bb_report *a, const struct bb_report *b)
{
	struct bb_exact_diff d;
	struct bb_err err = {0};

	if (bb_exact_diff__make(a, b, NULL, NULL, &d, &err))
		fail_msg("%s", err.msg);
	return d;
}

static void test_one_instruction_more(void **state)
{
	struct bb_report *a = make_report("a"), *b = make_report("b");
	struct bb_exact_diff d;
	struct bb_doc doc = {0};
	char *text;

	(void)state;
	make_counted(a, "ringbuf", 100);
	make_counted(b, "ringbuf", 101);
	for (size_t i = 0; i < 3; i++)
		b->counted[0].lines[i].line += 5; /* lines are matched by their text */
	d = diff_of(a, b);
	assert_int_equal(bb_exact_diff__count(&d, BB_VERDICT_REGRESSED), 2);
	assert_int_equal(d.programs[0].n_lines, 1);
	assert_near(d.programs[0].lines[0].more, 1);
	bb_doc_exact_diff(&d, (struct bb_doc_sides){NULL, "a", "b"}, false, NULL, &doc);
	text = rendered(&doc, as_text);
	assert_has(text, "+1  prog.bpf.c:15  int x = 1;");
	assert_has(text, "2 regressed, 0 improved, 0 same, 0 inconclusive\n\nCase ");
	assert_has(text, "\nA, B, Diff: instructions per run, those of helpers not counted\nA: a\n"
			 "B: b\nnext: the same without `--exact` (");
	free(text);
	bb_exact_diff__done(&d);
	/* Lines that only moved are left out, except in the details. */
	d = diff_of(a, b);
	free(d.programs[0].lines);
	d.programs[0].lines = bb_calloc(3, sizeof(*d.programs[0].lines));
	d.programs[0].n_lines = 3;
	for (int i = 0; i < 3; i++)
		d.programs[0].lines[i] = (struct bb_exact_line){&b->counted[0].lines[i],
								i ? 2 * i - 3 : 9};
	for (int all = 0; all < 2; all++) {
		bb_doc_exact_diff(&d, (struct bb_doc_sides){NULL, "a", "b"}, all, NULL, &doc);
		text = rendered(&doc, as_text);
		assert_has(text, "    +9  ");
		assert_int_equal(strstr(text, "    +1  ") && strstr(text, "    -1  "), all);
		free(text);
	}
	bb_exact_diff__done(&d);
	d = diff_of(b, a);
	assert_int_equal(bb_exact_diff__count(&d, BB_VERDICT_IMPROVED), 2);
	bb_exact_diff__done(&d);
	d = diff_of(a, a);
	assert_int_equal(bb_exact_diff__count(&d, BB_VERDICT_SAME), 2);
	assert_int_equal(d.programs[0].n_lines, 0);
	bb_exact_diff__done(&d);
	bb_report__free(a);
	bb_report__free(b);
}

/* Separate ranges get a verdict; ranges that touch do not. Void and missing cases are neither good
 * nor bad news. */
static void test_ranges_and_gaps(void **state)
{
	static const struct {
		uint64_t a_most, b_least, b_most;
		enum bb_verdict verdict;
	} ranges[] = {
		{110, 111, 120, BB_VERDICT_REGRESSED},    {110, 110, 120, BB_VERDICT_INCONCLUSIVE},
		{110, 100, 110, BB_VERDICT_INCONCLUSIVE}, {110, 90, 99, BB_VERDICT_IMPROVED},
		{100, 100, 101, BB_VERDICT_INCONCLUSIVE}, {100, 101, 102, BB_VERDICT_REGRESSED},
	};
	struct bb_report *a = make_report("a"), *b = make_report("b");
	struct bb_err err = {0};
	struct bb_exact_diff d;

	(void)state;
	make_counted(a, "ringbuf", 100);
	make_counted(b, "ringbuf", 100);
	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		a->counted[0].cases[0].most = ranges[i].a_most;
		b->counted[0].cases[0].least = ranges[i].b_least;
		b->counted[0].cases[0].most = ranges[i].b_most;
		d = diff_of(a, b);
		assert_int_equal(d.rows[0].verdict, ranges[i].verdict);
		bb_exact_diff__done(&d);
	}
	set_text(&b->counted[0].cases[0].void_why, "dropped");
	set_text(&b->counted[0].cases[1].name, "perf_profiler/ringbuf/exact/input=9");
	d = diff_of(a, b);
	assert_int_equal(d.n_rows, 1);
	assert_int_equal(d.rows[0].verdict, BB_VERDICT_INCONCLUSIVE);
	assert_int_equal(d.n_only_a, 1);
	assert_int_equal(d.n_only_b, 1);
	bb_exact_diff__done(&d);
	set_text(&b->counted[0].name, "perf_profiler/other/exact");
	assert_int_equal(bb_exact_diff__make(a, b, NULL, NULL, &d, &err), -ENODATA);
	bb_report__free(a);
	bb_report__free(b);
}

static void test_annotate(void **state)
{
	struct bb_report *r = make_report("a");
	struct bb_annotate_opts opts = {.n_hottest = 0};
	struct bb_counted *c = make_counted(r, "ringbuf", 100);

	(void)state;
	for (int colour = 0; colour < 2; colour++) {
		char *text = NULL;
		size_t len;
		FILE *mem = open_memstream(&text, &len);

		opts.colour = colour;
		opts.width = SIZE_MAX;
		bb_annotate(c, &opts, mem);
		fclose(mem);
		assert_has(text, "perf_profiler/ringbuf: 100 instructions per run, over 20 runs; "
				 "12 in the program, 3 blocks");
		assert_has(text, "calls per run: 1 map_lookup_elem");
		assert_has(text, "/nowhere/prog.bpf.c\n  (not in this tree");
		assert_has(text, "         99  99.0           1     10          int x = 1;");
		assert_has(text, "          0     0       #####     14          return -1;");
		assert_int_equal(strchr(text, '\033') != NULL, colour);
		free(text);
	}
	bb_report__free(r);
}

static void test_lcov(void **state)
{
	struct bb_report *r = make_report("a");
	struct bb_err err = {0};
	char *text;

	(void)state;
	free(export("lcov", r, -ENODATA, &err));
	assert_has(err.msg, "{with: exact}");
	make_counted(r, "ring-buf", 100);
	text = export("lcov", r, 0, &err);
	assert_string_equal(text, "TN:perf_profiler_ring_buf_exact\nSF:/nowhere/"
				  "prog.bpf.c\nDA:10,20\nDA:12,20\nDA:14,0\n"
				  "LF:3\nLH:2\nend_of_record\n");
	free(text);
	bb_report__free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stored_and_read),
		cmocka_unit_test(test_bmf),
		cmocka_unit_test(test_one_instruction_more),
		cmocka_unit_test(test_ranges_and_gaps),
		cmocka_unit_test(test_annotate),
		cmocka_unit_test(test_lcov),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
