/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two programs line by line: which lines match, which of them differ, and how that is reported. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>

#include "judge/diff.h"
#include "unit/report_testing.h"
#include "unit/export/document_testing.h"

#define N_LOADS 16

static struct bb_timed *add_timed(struct bb_report *r, const char *variant)
{
	struct bb_timed *t = BB_ADD(bb_timed_record, r, timed);
	char name[100];

	assert_non_null(t);
	snprintf(name, sizeof(name), "compare/%s/lines", variant);
	set_text(&t->name, name);
	set_text(&t->scenario, "compare");
	set_text(&t->variant, variant);
	set_text(&t->drive, "lines");
	return t;
}

/* Adds a row of about `ns`, with noise of 1 ns from load to load. */
static void add_row(struct bb_timed *t, struct bb_rng *rng, const char *text, const char *call,
		    uint32_t line, double ns)
{
	struct bb_timed_row *row = BB_ADD(bb_timed_row_record, t, rows);
	double x[N_LOADS];

	assert_non_null(row);
	set_text(&row->file, "/somewhere/prog.bpf.c");
	set_text(&row->text, text);
	set_text(&row->call, call);
	row->line = row->last_line = line;
	row->turns = 1;
	for (int l = 0; l < N_LOADS; l++)
		x[l] = ns + bb_rng_normal(rng);
	set_numbers(&row->ns, x, N_LOADS);
	set_numbers(&row->first_ns, x, N_LOADS);
}

static void finish(struct bb_timed *t, double ns)
{
	double x[N_LOADS];

	for (int l = 0; l < N_LOADS; l++)
		x[l] = ns + l % 3;
	set_numbers(&t->program_ns, x, N_LOADS);
	set_numbers(&t->empty_ns, x, N_LOADS);
	set_numbers(&t->rest_ns, x, N_LOADS);
}

static const struct bb_time_diff_opts opts = {.base = "base",
					      .head = "head",
					      .threshold = 0.01,
					      .alpha = 0.05};

static struct bb_time_diff diff_of(const struct bb_report *r)
{
	struct bb_time_diff d;
	struct bb_err err = {0};

	if (bb_time_diff__make(r, &opts, &d, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(d.n_cases, 1);
	return d;
}

static char *print(const struct bb_time_diff *diff, bool markdown)
{
	struct bb_doc d = {0};

	bb_doc_time_diff(diff, (struct bb_doc_sides){0}, false, &d);
	return rendered(&d, markdown ? bb_doc__markdown : as_text);
}

/* Two runs share no loads, so each has its own interval. Every program is compared with the one of
 * the same name. */
static void test_two_runs(void **state)
{
	struct bb_report *a = make_report("20261122T131700Z-old-1a2b3c4d"),
			 *b = make_report("20261122T141700Z-new-1a2b3c4d");
	const struct bb_time_diff_opts apart = {.base_run = a, .threshold = 0.01, .alpha = 0.05};
	struct bb_time_diff d;
	struct bb_err err = {0};
	struct bb_rng rng;

	(void)state;
	bb_rng_seed(&rng, 7);
	for (int i = 0; i < 2; i++) {
		struct bb_timed *t = add_timed(i ? b : a, "prog");

		add_row(t, &rng, "x = f();", "f()", 3, 100);
		add_row(t, &rng, "y = g();", "g()", 4, i ? 240 : 200);
		if (i)
			add_row(t, &rng, "z = h();", "h()", 5, 50);
		finish(t, i ? 390 : 300);
	}
	assert_int_equal(bb_time_diff__make(b, &apart, &d, &err), 0);
	assert_int_equal(d.n_cases, 1);
	assert_int_equal(d.cases[0].n_rows, 3);
	assert_int_equal(bb_time_diff__count(&d, BB_VERDICT_REGRESSED), 2);
	assert_int_equal(bb_time_diff__count(&d, BB_VERDICT_SAME), 1);
	assert_in_range(d.cases[0].rows[0].more.value, 48, 52); /* the new line */
	assert_in_range(d.cases[0].rows[1].more.value, 38, 42);
	assert_true(d.cases[0].rows[1].more.lo < 40 && d.cases[0].rows[1].more.hi > 40);
	bb_time_diff__done(&d);
	bb_report__free(a);
	bb_report__free(b);
}

/* b's machine has a clock 5 % slower, as the reference shows. One line is slower than that
 * explains. */
static void test_slower_machine(void **state)
{
	struct bb_report *r[2] = {make_report("20261122T131700Z-old-1a2b3c4d"),
				  make_report("20261122T141700Z-new-1a2b3c4d")};
	const struct bb_time_diff_opts apart = {.base_run = r[0], .threshold = 0.01, .alpha = 0.05};
	struct bb_time_diff d;
	struct bb_err err = {0};
	struct bb_rng rng;
	char *text;

	(void)state;
	bb_rng_seed(&rng, 7);
	for (int i = 0; i < 2; i++) {
		size_t k = make_case(r[i], "prog", "lines", NULL, 0);
		struct bb_case *c = &r[i]->cases[k];
		struct bb_timed *t = add_timed(r[i], "prog");

		add_row(t, &rng, "x = f();", "f()", 3, i ? 2100 : 2000);
		add_row(t, &rng, "y = g();", "g()", 4, i ? 1200 : 1000);
		finish(t, i ? 3300 : 3000);
		set_text(&c->name, t->name);
		c->wakeups = 0;
		for (int n = 0; n < BB_N_REFERENCES; n++)
			c->summary.reference[n].value = NAN;
		c->summary.reference[BB_REFERENCE_INSTRUCTIONS].value = i ? 189 : 180;
	}
	assert_int_equal(bb_time_diff__make(r[1], &apart, &d, &err), 0);
	assert_int_equal(bb_time_diff__count(&d, BB_VERDICT_REGRESSED), 1);
	assert_int_equal(bb_time_diff__count(&d, BB_VERDICT_INCONCLUSIVE), 1);
	assert_string_equal(d.cases[0].rows[0].b->text, "y = g();");
	text = print(&d, false);
	assert_has(text, "the machine itself, B against A: instructions +5.0 %; ");
	free(text);
	bb_time_diff__done(&d);
	bb_report__free(r[0]);
	bb_report__free(r[1]);
}

/* Lines move; one is changed, one new, one gone, one slower. Two lines with the same text stay
 * two. */
static void test_lines(void **state)
{
	struct bb_report *r = make_report("20261122T131700Z-compare-1a2b3c4d");
	struct bb_timed *t;
	struct bb_time_diff d;
	struct bb_rng rng;
	char *text;

	(void)state;
	bb_rng_seed(&rng, 1);
	t = add_timed(r, "base");
	add_row(t, &rng, "x++;", "", 10, 20);
	add_row(t, &rng, "a = time();", "bpf_ktime_get_ns", 11, 40);
	add_row(t, &rng, "x++;", "", 12, 20);
	add_row(t, &rng, "old(|*|);", "bpf_get_prandom_u32", 13, 60);
	add_row(t, &rng, "return x;", "", 14, 1);
	finish(t, 141);
	t = add_timed(r, "head");
	add_row(t, &rng, "x++;", "", 20, 20);
	add_row(t, &rng, "a = time() + time();", "bpf_ktime_get_ns", 21, 80);
	add_row(t, &rng, "x++;", "", 22, 50);
	add_row(t, &rng, "new(|*|);", "bpf_jiffies64", 23, 15);
	add_row(t, &rng, "return x;", "", 24, 1);
	finish(t, 166);
	d = diff_of(r);
	assert_int_equal(d.cases[0].n_rows, 6);
	assert_int_equal(bb_time_diff__count(&d, BB_VERDICT_SAME), 2);
	assert_int_equal(bb_time_diff__count(&d, BB_VERDICT_REGRESSED), 3);
	assert_int_equal(bb_time_diff__count(&d, BB_VERDICT_IMPROVED), 1);
	assert_near_by(d.cases[0].rows[0].more.value, -60, 0.05);
	assert_null(d.cases[0].rows[0].b);
	assert_int_equal(d.cases[0].rows[1].a->line, 11); /* changed, not gone and new */
	assert_int_equal(d.cases[0].rows[1].b->line, 21);
	assert_int_equal(d.cases[0].rows[2].a->line, 12);
	text = print(&d, false);
	assert_null(strstr(text, "in the other lines")); /* the counts say it */
	assert_has(text, "6 lines of prog.bpf.c: 2 same, 2 regressed, 1 new, 1 gone\n");
	free(text);
	text = print(&d, true);
	assert_has(text, "**compare, time by line**: regressed, A ");
	assert_has(text, " | **regressed** | 22 | x++; |\n");
	assert_null(strstr(text, "|*|")); /* Markdown would read it as a column */
	free(text);
	/* Of several cases of one program, each is named. */
	set_text(&t->name, "compare/head/lines/depth=2");
	text = print(&d, true);
	assert_has(text, "**compare/depth=2, time by line**: regressed, A ");
	free(text);
	bb_time_diff__done(&d);
	bb_report__free(r);
}

/* A line near 0 ns in one program and below 0 in the other has not changed. */
static void test_below_zero(void **state)
{
	struct bb_report *r = make_report("20261122T131700Z-compare-1a2b3c4d");
	struct bb_time_diff d;
	struct bb_rng rng;

	(void)state;
	bb_rng_seed(&rng, 7);
	for (int v = 0; v < 2; v++) {
		struct bb_timed *t = add_timed(r, v ? "head" : "base");

		add_row(t, &rng, "a = 1;", "", 3, v ? 1 : -15);
		add_row(t, &rng, "b = 2;", "", 4, v ? -15 : 1);
		add_row(t, &rng, "c = f();", "f()", 5, v ? 40 : -15);
		finish(t, 1000);
	}
	d = diff_of(r);
	assert_int_equal(bb_time_diff__count(&d, BB_VERDICT_REGRESSED), 1);
	assert_int_equal(bb_time_diff__count(&d, BB_VERDICT_IMPROVED), 0);
	assert_int_equal(bb_time_diff__count(&d, BB_VERDICT_INCONCLUSIVE), 2);
	bb_time_diff__done(&d);
	bb_report__free(r);
}

/* The same distribution of times in both: of many lines, none differs. */
static void test_same(void **state)
{
	size_t n = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 50; seed++) {
		struct bb_report *r = make_report("20261122T131700Z-compare-1a2b3c4d");
		struct bb_time_diff d;
		struct bb_rng rng;
		char text[20];

		bb_rng_seed(&rng, seed);
		for (int v = 0; v < 2; v++) {
			struct bb_timed *t = add_timed(r, v ? "head" : "base");

			for (uint32_t i = 0; i < 20; i++) {
				snprintf(text, sizeof(text), "line %u", i);
				add_row(t, &rng, text, "", i, 40 * i);
			}
			finish(t, 8000);
		}
		d = diff_of(r);
		n += d.cases[0].n_rows;
		assert_int_equal(bb_time_diff__count(&d, BB_VERDICT_REGRESSED), 0);
		assert_int_equal(bb_time_diff__count(&d, BB_VERDICT_IMPROVED), 0);
		bb_time_diff__done(&d);
		bb_report__free(r);
	}
	assert_int_equal(n, 1000);
}

/* In a row that takes less than BB_BY_LINE_LEAST_NS in both programs, no digits of noise are
 * shown. */
static void test_tiny_row(void **state)
{
	struct bb_report *r = make_report("20261122T131700Z-compare-1a2b3c4d");
	struct bb_time_diff d;
	struct bb_doc doc = {0};
	struct bb_rng rng;
	char *text;

	(void)state;
	bb_rng_seed(&rng, 1);
	for (int v = 0; v < 2; v++) {
		struct bb_timed *t = add_timed(r, v ? "head" : "base");

		add_row(t, &rng, "tiny", "", 7, 0.4);
		add_row(t, &rng, "more", "", 8, 40);
		finish(t, 50);
	}
	d = diff_of(r);
	bb_doc_time_diff(&d, (struct bb_doc_sides){0}, true, &doc);
	text = rendered(&doc, as_text);
	assert_has(text, " < 3   < 3     -               -  same        7  tiny\n");
	free(text);
	bb_time_diff__done(&d);
	bb_report__free(r);
}

/* One case needs more loads for a verdict. The advice still names the line that regressed in
 * another case. */
static void test_next(void **state)
{
	struct bb_timed_row row = {.line = 12};
	struct bb_time_diff_row rows[] = {{.b = &row, .verdict = BB_VERDICT_REGRESSED}};
	struct bb_time_diff_case cases[] = {{.rows = rows, .n_rows = 1},
					    {.n_loads = 3, .needs_loads = 9}};
	struct bb_time_diff d = {.cases = cases, .n_cases = 2, .option = "--loads", .amount = 3};
	struct bb_doc doc = {0};
	char *text;

	(void)state;
	bb_doc_time_diff_next(&d, NULL, &doc);
	text = rendered(&doc, as_text);
	assert_string_equal(text, "next: look at line 12; after a change the same again\n"
				  "also: the same with `--loads 11` (enough loads for a verdict on "
				  "each line)\n");
	free(text);
	d.n_cases = 1;
	bb_doc_time_diff_next(&d, NULL, &doc);
	text = rendered(&doc, as_text);
	assert_string_equal(text, "next: look at line 12; after a change the same again\n");
	free(text);
}

/* A load of base with an absurd time counts for neither program, and A plus the difference is still
 * B. The loads of one run are pairs; two runs share none. */
static void check_one_wild(bool apart)
{
	static const double base[] = {46, 42.03e7, 47}, head[] = {44.5, 44.4, 45};
	struct bb_report *a = make_report("20261122T131700Z-old-1a2b3c4d"),
			 *b = apart ? make_report("20261122T141700Z-new-1a2b3c4d") : a;
	struct bb_time_diff_opts o = opts;
	struct bb_time_diff d;
	struct bb_err err = {0};

	o.base_run = apart ? a : NULL;
	for (int i = 0; i < 2; i++) {
		struct bb_timed *t = add_timed(i ? b : a, i ? "head" : "base");
		struct bb_rng rng;

		bb_rng_seed(&rng, 7);
		add_row(t, &rng, "x = f();", "f()", 3, 100);
		set_numbers(&t->rows[0].ns, i ? head : base, 3);
		set_numbers(&t->program_ns, i ? head : base, 3);
	}
	assert_int_equal(bb_time_diff__make(b, &o, &d, &err), 0);
	assert_near(d.cases[0].whole.a_ns + d.cases[0].whole.more.value, d.cases[0].whole.b_ns);
	assert_true(d.cases[0].whole.a_ns >= 46 && d.cases[0].whole.a_ns <= 47);
	assert_true(d.cases[0].whole.b_ns >= 44 && d.cases[0].whole.b_ns <= 46);
	assert_near(d.cases[0].rows[0].a_ns + d.cases[0].rows[0].more.value,
		    d.cases[0].rows[0].b_ns);
	assert_true(d.cases[0].rows[0].a_ns >= 46 && d.cases[0].rows[0].a_ns <= 47);
	bb_time_diff__done(&d);
	bb_report__free(a);
	if (apart)
		bb_report__free(b);
}

static void test_one_wild(void **state)
{
	(void)state;
	check_one_wild(false);
	check_one_wild(true);
}

static void test_nothing(void **state)
{
	struct bb_report *r = make_report("20261122T131700Z-compare-1a2b3c4d");
	struct bb_time_diff d;
	struct bb_err err = {0};

	(void)state;
	finish(add_timed(r, "head"), 100);
	assert_int_equal(bb_time_diff__make(r, &opts, &d, &err), -ENODATA);
	assert_has(err.msg, "line by line");
	bb_report__free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),          cmocka_unit_test(test_two_runs),
		cmocka_unit_test(test_slower_machine), cmocka_unit_test(test_below_zero),
		cmocka_unit_test(test_tiny_row),       cmocka_unit_test(test_next),
		cmocka_unit_test(test_same),           cmocka_unit_test(test_one_wild),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
