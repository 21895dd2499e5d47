/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "report/report.h"
#include "judge/diff.h"
#include "unit/report_testing.h"
#include "stats/special.h"
#include "unit/export/document_testing.h"

static const struct bb_diff_opts at_1_percent = {.threshold = 0.01, .alpha = 0.05};

/* Adds a case of `loads` loads. All samples of the first load are centre_ns, those of the second
 * centre_ns + 1, and so on. */
static size_t flat_case(struct bb_report *r, const char *variant, uint32_t loads,
			uint64_t centre_ns)
{
	size_t i = make_case(r, variant, "step", "stack_depth", 8);

	for (uint32_t load = 0; load < loads; load++)
		add_samples(make_series(r, i, load), centre_ns + load, 10);
	r->cases[i].between_runs = 9; /* 9 runs that did not differ */
	return i;
}

static struct bb_report *flat_report(const char *id, uint32_t loads, uint64_t centre_ns)
{
	struct bb_report *r = make_report(id);

	flat_case(r, "ringbuf", loads, centre_ns);
	bb_report__summarise(r);
	return r;
}

static struct bb_diffs diff_with(const struct bb_report *a, const struct bb_report *b,
				 const struct bb_diff_opts *opts)
{
	struct bb_diffs d = {0};
	struct bb_err err = {0};

	if (bb_diff_reports(a, b, opts, &d, &err))
		fail_msg("%s", err.msg);
	return d;
}

/* Compares two flat reports and frees them. */
static struct bb_diffs diff_flat(uint32_t loads_a, uint64_t a_ns, uint32_t loads_b, uint64_t b_ns)
{
	struct bb_report *a = flat_report("a", loads_a, a_ns), *b = flat_report("b", loads_b, b_ns);
	struct bb_diffs d = diff_with(a, b, &at_1_percent);

	bb_report__free(a);
	bb_report__free(b);
	return d;
}

static const struct bb_diff *find_row(const struct bb_diffs *d, const char *variant,
				      const char *metric)
{
	for (size_t i = 0; i < d->n; i++)
		if (strstr(d->rows[i].name, variant) && !strcmp(d->rows[i].metric, metric))
			return &d->rows[i];
	return NULL;
}

static void assert_note(const struct bb_diff *row, const char *part)
{
	assert_non_null(row);
	if (!row->note || !strstr(row->note, part))
		fail_msg("'%s' is not in '%s'", part, row->note ? row->note : "(no note)");
}

static void assert_warns(const struct bb_diffs *d, const char *part)
{
	for (size_t i = 0; i < d->n_warnings; i++)
		if (strstr(d->warnings[i], part))
			return;
	fail_msg("no warning says '%s' (there are %zu)", part, d->n_warnings);
}

/* "Failed in one program only" needs that the other program's lookups were counted, in more than
 * the first run, and that none of them failed. */
static void test_failed_in_one_only(void **state)
{
	struct bb_case fails = {.n_in_vain = 1, .n_insns = 9}, finds = {.n_insns = 9},
		       not_counted = {0}, not_all = {.n_insns = 9, .n_unwatched = 1},
		       first_run = {.n_insns = 9, .first_run_only = true};
	const struct bb_case *const unknown[] = {&not_counted, &not_all, &first_run, &fails, NULL};

	(void)state;
	assert_string_equal(bb_failed_lookups(&fails, &finds), "lookups failed in A only");
	assert_string_equal(bb_failed_lookups(&finds, &fails), "lookups failed in B only");
	assert_null(bb_failed_lookups(&finds, &finds));
	for (size_t i = 0; i < BB_LEN(unknown); i++) {
		assert_null(bb_failed_lookups(&fails, unknown[i]));
		assert_null(bb_failed_lookups(unknown[i], &fails));
	}
}

/* --- two stored runs --- */

/* 12 loads a side: the interval is from ranks 2 and 11 of each at 5 %
 * (test_stats_order_ratio.c). */
static void test_values_interval_and_verdict(void **state)
{
	struct bb_diffs d = diff_flat(12, 1000, 12, 1100);
	const struct bb_diff *row = find_row(&d, "ringbuf", "latency"),
			     *p50 = find_row(&d, "ringbuf", "p50");

	(void)state;
	assert_non_null(row);
	assert_string_equal(row->name, "perf_profiler/ringbuf/step/stack_depth=8");
	assert_string_equal(row->unit, "ns");
	assert_near(row->a, 1005.5);
	assert_near(row->b, 1105.5);
	assert_near(row->shift, 100);
	assert_near(row->ratio, 1105.5 / 1005.5);
	assert_near(row->lo, 1101.0 / 1010.0);
	assert_near(row->hi, 1110.0 / 1001.0);
	assert_true(row->has_verdict);
	assert_int_equal(row->verdict, BB_VERDICT_REGRESSED);
	assert_near(row->p, 4.0 / 4096);
	assert_null(row->note);
	assert_non_null(p50);
	assert_near(p50->shift, 100);
	assert_nan(p50->lo);
	assert_false(p50->has_verdict);
	assert_null(find_row(&d, "ringbuf", "net")); /* there is no floor */
	assert_null(find_row(&d, "ringbuf", "p99")); /* too few samples */
	assert_int_equal(d.n_warnings, 0);
	bb_diffs__done(&d);
}

static void test_other_verdicts(void **state)
{
	static const struct {
		uint64_t a_ns, b_ns;
		enum bb_verdict verdict;
	} cases[] = {
		{1100, 1000, BB_VERDICT_IMPROVED},     {10000, 10010, BB_VERDICT_SAME},
		{1000, 1010, BB_VERDICT_INCONCLUSIVE}, {1000, 1018, BB_VERDICT_INCONCLUSIVE},
		{1000, 1020, BB_VERDICT_REGRESSED}, /* 1021 / 1010 > 1.01 */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bb_diffs d = diff_flat(12, cases[i].a_ns, 12, cases[i].b_ns);

		assert_string_equal(bb_verdict_name(find_row(&d, "ringbuf", "latency")->verdict),
				    bb_verdict_name(cases[i].verdict));
		assert_int_equal(bb_diffs_count(&d, cases[i].verdict), 1);
		assert_true(bb_diffs_count(&d, cases[i].verdict));
		assert_false(bb_diffs_count(&d, (cases[i].verdict + 1) % BB_N_VERDICTS));
		bb_diffs__done(&d);
	}
}

/* In a self-test of 9 runs, 95 % of the runs are within 1 % of their mean. For two runs, that gives
 * Student's t with 8 + 8 degrees of freedom: 2.120 * 0.01 / 2.306 * sqrt(2). */
static void test_what_moves_between_runs_is_in_the_interval(void **state)
{
	struct bb_report *a = flat_report("a", 12, 1000), *b = flat_report("b", 12, 1020);
	struct bb_diffs d = diff_with(a, b, &at_1_percent);
	const struct bb_diff *row = find_row(&d, "ringbuf", "latency");
	double half = 2.1199053 * sqrt(2) * 0.01 / 2.3060041, ln = log(1025.5 / 1005.5), lo;

	(void)state;
	assert_int_equal(row->verdict, BB_VERDICT_REGRESSED);
	assert_nan(row->decides);
	lo = row->lo;
	bb_diffs__done(&d);
	a->cases[0].between = b->cases[0].between = 0.01;
	d = diff_with(a, b, &at_1_percent);
	row = find_row(&d, "ringbuf", "latency");
	if (fabs(log(row->lo) - (ln - hypot(ln - log(lo), half))) > 1e-6)
		fail_msg("%.9f", log(row->lo));
	assert_int_equal(row->verdict, BB_VERDICT_INCONCLUSIVE);
	assert_true(row->decides > 12); /* more loads than the 12 so far */
	assert_note(row, " % so far");
	bb_diffs__done(&d);

	a->cases[0].between_runs = 0;
	d = diff_with(a, b, &at_1_percent);
	assert_warns(&d, "the intervals do not include the variation between runs");
	bb_diffs__done(&d);
	bb_report__free(a);
	bb_report__free(b);
}

/* Makes three loads, 10 ns apart, in each of four places, 100 ns apart. Within a place s = 10. */
static struct bb_report *placed_report(const char *id, uint64_t centre_ns)
{
	struct bb_report *r = make_report(id);
	size_t i = make_case(r, "ringbuf", "step", "stack_depth", 8);

	for (uint32_t load = 0; load < 12; load++) {
		struct bb_series *s = make_series(r, i, load);

		s->jit_mod64 = (int)(load % 4 * 16);
		s->jit_share = 0.25;
		add_samples(s, centre_ns + load % 4 * 100 + load / 4 * 10, 10);
	}
	r->cases[i].between_runs = 9;
	bb_report__summarise(r);
	return r;
}

/* The means are 1160 and 1260, each with a standard error of 10 / sqrt(12) and 8 degrees of
 * freedom. */
static void test_loads_by_place(void **state)
{
	struct bb_report *a = placed_report("a", 1000), *b = placed_report("b", 1100);
	struct bb_diffs d = diff_with(a, b, &at_1_percent);
	const struct bb_diff *row = find_row(&d, "ringbuf", "latency");
	double va = 100.0 / 12 / (1160.0 * 1160), vb = 100.0 / 12 / (1260.0 * 1260),
	       df = (va + vb) * (va + vb) / (va * va / 8 + vb * vb / 8), ln = log(1260.0 / 1160);

	(void)state;
	assert_near(row->ratio, 1260.0 / 1160);
	assert_near(log(row->hi / row->lo) / 2, bb_student_critical(0.05, df) * sqrt(va + vb));
	assert_near(row->p, bb_student_two_sided((ln - log(1.01)) / sqrt(va + vb), df));
	assert_int_equal(row->verdict, BB_VERDICT_REGRESSED);
	bb_diffs__done(&d);
	bb_report__free(a);
	bb_report__free(b);
}

/* Makes a report of twelve loads that also measured the reference of instructions. */
static struct bb_report *report_with_reference(const char *id, uint64_t centre_ns, double piece_ns)
{
	struct bb_report *r = flat_report(id, 12, centre_ns);

	for (size_t i = 0; i < r->cases[0].n_series; i++)
		r->cases[0].series[i].reference_ns[BB_REFERENCE_INSTRUCTIONS] = piece_ns;
	bb_report__summarise(r);
	return r;
}

/* If a program becomes slower, it takes more pieces of the reference. If the machine becomes
 * slower, it does not. */
static void test_the_reference_may_deny_a_change(void **state)
{
	static const struct {
		double piece_ns;
		enum bb_verdict verdict;
	} of[] = {{100, BB_VERDICT_REGRESSED},
		  {110, BB_VERDICT_INCONCLUSIVE},
		  {NAN, BB_VERDICT_REGRESSED}};
	struct bb_report *a = report_with_reference("a", 4000, 100);

	(void)state;
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		struct bb_report *b = report_with_reference("b", 4400, of[i].piece_ns);
		struct bb_diffs d = diff_with(a, b, &at_1_percent);
		const struct bb_diff *row = find_row(&d, "ringbuf", "latency");

		assert_non_null(row);
		assert_int_equal(row->verdict, of[i].verdict);
		if (of[i].verdict == BB_VERDICT_INCONCLUSIVE)
			assert_note(row, "rather the machine than your code");
		bb_diffs__done(&d);
		bb_report__free(b);
	}
	bb_report__free(a);
}

/* If the program becomes slower, its net time grows. If the floor becomes slower by as much, the
 * net time stays, and the machine has changed. */
static void test_the_floor_may_deny_a_change(void **state)
{
	static const struct {
		uint64_t floor_ns;
		enum bb_verdict verdict;
	} of[] = {{3000, BB_VERDICT_REGRESSED}, {3400, BB_VERDICT_INCONCLUSIVE}};

	(void)state;
	for (size_t i = 0; i < BB_LEN(of); i++) {
		const uint64_t floor_ns[] = {3000, of[i].floor_ns}, ns[] = {4000, 4400};
		struct bb_report *r[2];
		struct bb_diffs d;

		for (size_t k = 0; k < 2; k++) {
			r[k] = make_report(k ? "b" : "a");
			flat_case(r[k], "empty", 12, floor_ns[k]);
			flat_case(r[k], "ringbuf", 12, ns[k]);
			r[k]->cases[1].floor = 0;
			bb_report__summarise(r[k]);
		}
		d = diff_with(r[0], r[1], &at_1_percent);
		assert_int_equal(find_row(&d, "ringbuf", "latency")->verdict, of[i].verdict);
		if (of[i].verdict == BB_VERDICT_INCONCLUSIVE)
			assert_note(find_row(&d, "ringbuf", "latency"), "the empty program "
									"changed, too, by +400 ns");
		bb_diffs__done(&d);
		bb_report__free(r[0]);
		bb_report__free(r[1]);
	}
}

static void test_too_few_loads(void **state)
{
	struct bb_diffs d = diff_flat(12, 1000, 6, 2000);
	const struct bb_diff *row = find_row(&d, "ringbuf", "latency");

	(void)state;
	assert_near(row->shift, 2002.5 - 1005.5);
	assert_nan(row->lo);
	assert_int_equal(row->verdict, BB_VERDICT_INCONCLUSIVE);
	assert_note(row, "no interval: A has 12 loads, B 6, each needs 7");
	bb_diffs__done(&d);
}

static void test_void_series_are_noted_and_not_counted(void **state)
{
	struct bb_report *a = make_report("a"), *b = make_report("b");
	struct bb_diffs d;
	const struct bb_diff *row;

	(void)state;
	flat_case(a, "ringbuf", 12, 1000);
	flat_case(b, "ringbuf", 12, 1000);
	add_samples(make_series(b, 0, 12), 900000, 10);
	set_text(&b->cases[0].series[12].void_why, "run_cnt is 11, but 10 events were fired");
	bb_report__summarise(a);
	bb_report__summarise(b);
	d = diff_with(a, b, &at_1_percent);
	row = find_row(&d, "ringbuf", "latency");
	assert_near(row->ratio, 1);
	assert_near(row->hi, 1010.0 / 1001.0);
	assert_note(row, "1 of 13 series of B are void");
	assert_string_equal(row->void_why[1], "run_cnt is 11, but 10 events were fired");
	assert_null(row->void_why[0]);
	bb_diffs__done(&d);

	for (size_t i = 0; i < 12; i++)
		set_text(&b->cases[0].series[i].void_why, "misses");
	bb_report__summarise(b);
	d = diff_with(a, b, &at_1_percent);
	row = find_row(&d, "ringbuf", "latency");
	assert_nan(row->b);
	assert_nan(row->ratio);
	assert_int_equal(row->verdict, BB_VERDICT_INCONCLUSIVE);
	assert_nan(row->p);
	bb_diffs__done(&d);
	bb_report__free(a);
	bb_report__free(b);
}

/* Of a live program, slices without a run are usual and not mentioned. Other void slices are. */
static void test_void_slices(void **state)
{
	struct bb_report *a = make_report("a"), *b = make_report("b");
	const struct bb_diff *row;
	struct bb_diffs d;

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct bb_report *r = i ? b : a;

		flat_case(r, "ringbuf", 12, 1000);
		r->cases[0].is_live = true;
		set_text(&make_series(r, 0, 12)->void_why, "no run in 2 s");
		if (i)
			set_text(&make_series(r, 0, 13)->void_why, "the counters went back");
		bb_report__summarise(r);
	}
	d = diff_with(a, b, &at_1_percent);
	row = find_row(&d, "ringbuf", "latency");
	assert_null(row->void_why[0]);
	assert_string_equal(row->void_why[1], "the counters went back");
	assert_note(row, "1 of 14 series of B are void");
	bb_diffs__done(&d);
	bb_report__free(a);
	bb_report__free(b);
}

static void test_cases_of_one_run_only(void **state)
{
	struct bb_report *a = make_report("a"), *b = make_report("b");
	struct bb_diffs d;

	(void)state;
	flat_case(a, "gone", 8, 1000);
	flat_case(b, "new", 8, 500);
	bb_report__summarise(a);
	bb_report__summarise(b);
	d = diff_with(a, b, &at_1_percent);
	assert_int_equal(d.n, 2);
	assert_note(find_row(&d, "gone", "latency"), "only in A");
	assert_near(find_row(&d, "gone", "latency")->a, 1003.5);
	assert_nan(find_row(&d, "gone", "latency")->b);
	assert_nan(find_row(&d, "gone", "latency")->shift);
	assert_false(find_row(&d, "gone", "latency")->has_verdict);
	assert_note(find_row(&d, "new", "latency"), "only in B");
	assert_near(find_row(&d, "new", "latency")->b, 503.5);
	bb_diffs__done(&d);
	bb_report__free(a);
	bb_report__free(b);
}

/* With n = 8, the smallest p is 4 / 256. By Holm at 5 %, three cases with that p regress; with four
 * cases, none can. */
static void test_holm_over_the_cases(void **state)
{
	static const char *const names[] = {"one", "two", "three", "four"};

	(void)state;
	for (size_t n = 3; n <= 4; n++) {
		struct bb_report *a = make_report("a"), *b = make_report("b");
		struct bb_diffs d;

		for (size_t i = 0; i < n; i++) {
			flat_case(a, names[i], 8, 1000);
			flat_case(b, names[i], 8, i ? 1000 : 2000);
		}
		bb_report__summarise(a);
		bb_report__summarise(b);
		d = diff_with(a, b, &at_1_percent);
		assert_near(find_row(&d, "one", "latency")->p, (double)n * 4 / 256);
		if (n == 3) {
			assert_int_equal(bb_diffs_count(&d, BB_VERDICT_REGRESSED), 1);
		} else {
			assert_false(bb_diffs_count(&d, BB_VERDICT_REGRESSED));
			assert_note(find_row(&d, "one", "latency"), "among so many cases chance");
		}
		bb_diffs__done(&d);
		bb_report__free(a);
		bb_report__free(b);
	}
}

static void test_different_machines(void **state)
{
	struct bb_report *a = flat_report("a", 12, 1000), *b = flat_report("b", 12, 2000);
	struct bb_diff_opts forced = at_1_percent;
	struct bb_diffs d;

	(void)state;
	assert_int_equal(bb_fingerprint_set(&b->fingerprint, "kernel_release", "6.12.1"), 0);
	/* The hostname is no identity field. */
	assert_int_equal(bb_fingerprint_set(&b->fingerprint, "hostname", "another"), 0);
	d = diff_with(a, b, &at_1_percent);
	assert_warns(&d, "kernel_release: '6.1.0-27-amd64' in A, '6.12.1' in B");
	assert_warns(&d, "--force");
	assert_int_equal(d.n_warnings, 2);
	assert_int_equal(find_row(&d, "ringbuf", "latency")->verdict, BB_VERDICT_INCONCLUSIVE);
	assert_note(find_row(&d, "ringbuf", "latency"), "the machines differ");
	/* The figures are still shown. */
	assert_near(find_row(&d, "ringbuf", "latency")->lo, 2001.0 / 1010.0);
	bb_diffs__done(&d);

	forced.force = true;
	d = diff_with(a, b, &forced);
	assert_warns(&d, "kernel_release");
	assert_int_equal(d.n_warnings, 1);
	assert_int_equal(find_row(&d, "ringbuf", "latency")->verdict, BB_VERDICT_REGRESSED);
	bb_diffs__done(&d);
	bb_report__free(a);
	bb_report__free(b);
}

/* The value of `mitigations` is long, so the warning begins with the entry that differs. */
static void test_long_fingerprint_values_are_cut(void **state)
{
	struct bb_report *a = flat_report("a", 12, 1000), *b = flat_report("b", 12, 1000);
	char text[600] = "";
	struct bb_diffs d;

	(void)state;
	for (int i = 0; i < 20; i++)
		strcat(text, "entry: Mitigation; ");
	assert_int_equal(bb_fingerprint_set(&a->fingerprint, "mitigations", text), 0);
	strcat(text, "retbleed: Vulnerable");
	assert_int_equal(bb_fingerprint_set(&b->fingerprint, "mitigations", text), 0);
	d = diff_with(a, b, &at_1_percent);
	assert_warns(&d, "retbleed: Vulnerable' in B");
	assert_true(strlen(d.warnings[0]) < 300);
	bb_diffs__done(&d);
	bb_report__free(a);
	bb_report__free(b);
}

static void test_incomplete_and_same_run(void **state)
{
	struct bb_report *a = flat_report("a", 12, 1000), *b = flat_report("b", 12, 2000);
	struct bb_diffs d;

	(void)state;
	set_text(&b->incomplete, "SIGINT");
	d = diff_with(a, b, &at_1_percent);
	assert_warns(&d, "run B is incomplete: SIGINT");
	assert_int_equal(find_row(&d, "ringbuf", "latency")->verdict, BB_VERDICT_INCONCLUSIVE);
	assert_note(find_row(&d, "ringbuf", "latency"), "a run is incomplete");
	bb_diffs__done(&d);
	d = diff_with(a, a, &at_1_percent);
	assert_warns(&d, "A and B are the same run");
	assert_int_equal(find_row(&d, "ringbuf", "latency")->verdict, BB_VERDICT_SAME);
	bb_diffs__done(&d);
	bb_report__free(a);
	bb_report__free(b);
}

static void test_bad_opts(void **state)
{
	struct bb_diff_opts bad[] = {{NAN, 0.05, false},
				     {-1, 0.05, false},
				     {0.01, 0, false},
				     {0.01, 1, false}};
	struct bb_report *a = flat_report("a", 7, 1000);
	struct bb_diffs d;
	struct bb_err err;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(bb_diff_reports(a, a, &bad[i], &d, &err), -EINVAL);
	bb_report__free(a);
}

static void test_whole_report(void **state)
{
	struct bb_report *r = make_sample_report();
	struct bb_diffs d = diff_with(r, r, &at_1_percent);

	(void)state;
	assert_non_null(find_row(&d, "ringbuf_nowakeup", "net"));
	assert_non_null(find_row(&d, "ringbuf_nowakeup", "p90"));
	assert_false(bb_diffs_count(&d, BB_VERDICT_REGRESSED));
	assert_false(bb_diffs_count(&d, BB_VERDICT_IMPROVED));
	bb_diffs__done(&d);
	bb_report__free(r);
}

/* --- comparisons that are measured now --- */

static void make_pairs(struct bb_comparison *c, size_t n, bool matched, double base_ns,
		       double head_ns)
{
	for (size_t i = 0; i < n; i++) {
		struct bb_pair *p = BB_ADD(bb_pair_record, c, pairs);

		assert_non_null(p);
		p->matched = matched;
		p->base_ns = base_ns;
		p->head_ns = head_ns;
		p->floor_ns = 100;
		p->d = log(head_ns / base_ns) + 1e-4 * (double)i;
		p->d_net = log((head_ns - 100) / (base_ns - 100)) + 1e-4 * (double)i;
		p->shift_ns = head_ns - base_ns;
	}
}

/* Judges a report of one comparison, which the report borrows. */
static struct bb_diffs diff_live(struct bb_comparison *c)
{
	const struct bb_report r = {.comparisons = c, .n_comparisons = 1};
	struct bb_diffs d;

	bb_diff_comparisons(&r, 0, 1, &d);
	return d;
}

static void test_measured_comparison(void **state)
{
	struct bb_comparison c = {.threshold = 0.01, .alpha = 0.05, .injected = 0.02};
	const struct bb_diff *row;
	struct bb_diffs d;

	(void)state;
	set_text(&c.name, "perf_profiler/step/stack_depth=8");
	make_pairs(&c, 21, true, 1000, 1100);
	make_pairs(&c, 3, false, 1000, 1300);
	set_text(&BB_ADD(bb_pair_record, &c, pairs)->void_why, "misses were counted");
	bb_comparisons_judge(&c, 1);
	d = diff_live(&c);
	assert_int_equal(d.n, 2);

	row = find_row(&d, "stack_depth=8", "latency");
	assert_near(row->a, 1000);
	assert_near(row->b, 1000 * c.ratio.value);
	assert_near(row->shift, row->b - row->a);
	assert_near(row->ratio, c.ratio.value);
	assert_near(row->lo, c.ratio.lo);
	assert_near(row->hi, c.ratio.hi);
	assert_true(row->has_verdict);
	assert_int_equal(row->verdict, BB_VERDICT_REGRESSED);
	assert_near(row->p, c.p_regressed);
	assert_note(row, "1 of 25 pairs are void");
	assert_string_equal(row->void_why[0], "misses were counted");
	assert_note(row, "+2 % were injected into B");

	/* The same difference, relative to the net cost. */
	row = find_row(&d, "stack_depth=8", "net");
	assert_near(row->a, 900);
	assert_near(row->shift, 1000 * (c.ratio.value - 1));
	assert_near(row->ratio, (900 + row->shift) / 900);
	assert_near(900 * (row->lo - 1), 1000 * (c.ratio.lo - 1));
	assert_near(900 * (row->hi - 1), 1000 * (c.ratio.hi - 1));
	assert_false(row->has_verdict);
	bb_diffs__done(&d);
	bb_record__done(&bb_comparison_record, &c);
}

static void test_measured_comparison_without_pairs(void **state)
{
	struct bb_comparison c = {.threshold = 0.01, .alpha = 0.05};
	struct bb_diffs d;

	(void)state;
	set_text(&c.name, "empty");
	bb_comparisons_judge(&c, 1);
	d = diff_live(&c);
	assert_int_equal(d.n, 1);
	assert_nan(d.rows[0].ratio);
	assert_int_equal(d.rows[0].verdict, BB_VERDICT_INCONCLUSIVE);
	bb_diffs__done(&d);
	bb_record__done(&bb_comparison_record, &c);
}

/* --- exact metrics --- */

static void assert_exact(const struct bb_diff *row, double a, double b)
{
	assert_non_null(row);
	assert_near(row->a, a);
	assert_near(row->b, b);
	assert_near(row->shift, b - a);
	assert_true(row->exact);
	assert_false(row->has_verdict); /* exact metrics alone have no verdict */
	assert_nan(row->lo);
	assert_nan(row->p);
}

static char *print(const struct bb_diffs *diffs, const char *a, const char *b)
{
	struct bb_doc d = {0};

	bb_doc_diff((struct bb_diffs *)(uintptr_t)diffs, (struct bb_doc_sides){NULL, a, b}, 0, &d);
	return rendered(&d, as_text);
}

/* Every difference is a row; equal values have no row. A figure that one side lacks is no
 * difference. */
static void test_exact_of_stored_runs(void **state)
{
	struct bb_report *a = flat_report("a", 12, 700), *b = flat_report("b", 12, 700);
	struct bb_prog_static *in_a = &make_program(a, "ringbuf", "ringbuf")->metrics;
	struct bb_prog_static *in_b = &make_program(b, "ringbuf", "ringbuf")->metrics;
	struct bb_diffs d;
	char *text;

	(void)state;
	*in_a = (struct bb_prog_static){38, 304, 1234567, 0, NAN, 3, 5000};
	*in_b = (struct bb_prog_static){38, 296, 1234568, 16, 4096, 3, 9000};
	make_program(b, "only_in_b", "only_in_b")->metrics.xlated_bytes = 8;
	d = diff_with(a, b, &at_1_percent);
	assert_null(find_row(&d, "ringbuf", "verified-instructions"));
	assert_null(find_row(&d, "ringbuf", "map-memory-bytes"));
	assert_null(find_row(&d, "ringbuf", "verification-time")); /* a time is not exact */
	assert_null(find_row(&d, "only_in_b", "xlated-bytes"));
	assert_exact(find_row(&d, "perf_profiler/ringbuf", "xlated-bytes"), 304, 296);
	assert_near(find_row(&d, "ringbuf", "xlated-bytes")->ratio, 296.0 / 304);
	assert_exact(find_row(&d, "ringbuf", "jited-bytes"), 1234567, 1234568);
	assert_exact(find_row(&d, "ringbuf", "stack-depth-bytes"), 0, 16);
	assert_nan(find_row(&d, "ringbuf", "stack-depth-bytes")->ratio);
	assert_int_equal(bb_diffs_count(&d, BB_VERDICT_REGRESSED), 0);
	text = print(&d, "a", "b");
	assert_non_null(strstr(text, "xlated-bytes"));
	assert_null(strstr(text, "xlated-bytes,"));
	assert_non_null(strstr(text, " 304 "));
	assert_non_null(strstr(text, " -8 "));
	assert_non_null(strstr(text, "-2.63"));
	assert_non_null(strstr(text, " 1234568 "));
	free(text);
	bb_diffs__done(&d);
	bb_report__free(a);
	bb_report__free(b);
}

static void test_exact_of_measured_comparison(void **state)
{
	struct bb_report *r = make_report("x");
	struct bb_comparison *c = BB_ADD(bb_comparison_record, r, comparisons);
	struct bb_diffs d;

	(void)state;
	assert_non_null(c);
	c->threshold = 0.01;
	c->alpha = 0.05;
	set_text(&c->name, "perf_profiler/step");
	set_text(&c->base, "old");
	set_text(&c->head, "new");
	make_program(r, "empty", "empty")->metrics.xlated_bytes = 16;
	make_program(r, "new", "ringbuf")->metrics.xlated_bytes = 312;
	bb_comparisons_judge(c, 1);
	bb_diff_comparisons(r, 0, 1, &d);
	assert_int_equal(d.n, 1); /* the old program's figures are unknown */
	bb_diffs__done(&d);
	make_program(r, "old", "ringbuf")->metrics.xlated_bytes = 304;
	bb_diff_comparisons(r, 0, 1, &d);
	assert_int_equal(d.n, 2);
	assert_string_equal(d.rows[1].name, "perf_profiler");
	assert_exact(&d.rows[1], 304, 312);
	bb_diffs__done(&d);
	set_text(&c->head, "old");
	bb_diff_comparisons(r, 0, 1, &d);
	assert_int_equal(d.n, 1); /* a program compared with itself has no difference */
	bb_diffs__done(&d);
	bb_diff_comparisons(r, 0, 0, &d);
	assert_int_equal(d.n, 0);
	bb_diffs__done(&d);
	bb_report__free(r);
}

/* --- sorting and filtering --- */

static struct bb_diffs make_rows(void)
{
	static const struct bb_diff rows[] = {
		{.metric = "latency",
		 .a = 10,
		 .b = 11,
		 .shift = 1,
		 .ratio = 1.1,
		 .p = 0.5,
		 .has_verdict = true,
		 .verdict = BB_VERDICT_REGRESSED},
		{.metric = "p50", .a = NAN, .b = 20, .shift = NAN, .ratio = NAN, .p = NAN},
		{.metric = "latency",
		 .a = 30,
		 .b = 15,
		 .shift = -15,
		 .ratio = 0.5,
		 .p = 0.1,
		 .has_verdict = true,
		 .verdict = BB_VERDICT_IMPROVED},
		{.metric = "latency",
		 .a = 20,
		 .b = 20,
		 .shift = 0,
		 .ratio = 1,
		 .p = 1,
		 .has_verdict = true,
		 .verdict = BB_VERDICT_SAME},
		{.metric = "latency",
		 .a = 20,
		 .b = 22,
		 .shift = 2,
		 .ratio = 1.1,
		 .p = 1,
		 .has_verdict = true,
		 .verdict = BB_VERDICT_INCONCLUSIVE},
	};
	static const char *const names[] = {"c/ringbuf", "c/ringbuf", "a/perfbuf", "b/stackid",
					    "d/empty"};
	struct bb_diffs d = {.n = 5, .rows = calloc(5, sizeof(*d.rows))};

	assert_non_null(d.rows);
	memcpy(d.rows, rows, sizeof(rows));
	for (size_t i = 0; i < 5; i++)
		set_text(&d.rows[i].name, names[i]);
	return d;
}

/* The expected order, as the first letters of the names. 'C' is the p50 of c. */
static void assert_order(const struct bb_diffs *d, const char *want)
{
	char got[8] = "";

	for (size_t i = 0; i < d->n; i++)
		got[i] = !strcmp(d->rows[i].metric, "p50") ? 'C' : d->rows[i].name[0];
	assert_string_equal(got, want);
}

static void test_sort(void **state)
{
	static const struct {
		const char *by, *order;
	} cases[] = {
		{"name", "abcCd"},    {"name:desc", "dcCba"},  {"metric", "cabdC"},
		{"a", "cbdaC"},       {"a:desc", "abdcC"},     {"b:asc", "caCbd"},
		{"shift", "abcdC"},   {"shift:desc", "dcbaC"}, {"percent:desc", "cdbaC"},
		{"percent", "abcdC"}, {"verdict", "cdabC"},    {"verdict:desc", "badcC"},
		{"p", "acbdC"},       {"note", "cCabd"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bb_diffs d = make_rows();

		assert_int_equal(bb_diff_sort(&d, cases[i].by, NULL), 0);
		assert_order(&d, cases[i].order);
		bb_diffs__done(&d);
	}
}

static void test_filter(void **state)
{
	static const struct {
		const char *condition, *left;
	} cases[] = {
		{"name = c/ringbuf", "cC"},
		{"name=c/ringbuf", "cC"},
		{"name == c/ringbuf", "cC"},
		{"name != c/ringbuf", "abd"},
		{"name ~ *buf", "cCa"},
		{"name !~ *buf", "bd"},
		{"name~[ab]/*", "ab"},
		{"metric = latency", "cabd"},
		{"a < 20", "c"},
		{"a<=20", "cbd"},
		{" a >= 20 ", "abd"},
		{"a > 20", "a"},
		{"a = 20", "bd"},
		{"a != 20", "ca"},
		{"percent > 5%", "cd"},
		{"percent > 5", "cd"},
		{"shift < 0", "a"},
		{"verdict = regressed", "c"},
		{"verdict != same", "cCad"},
		{"verdict ~ *", "cCabd"},
		{"verdict =", "C"},
		{"p <= 0.1", "a"},
		{"note =", "cCabd"},
		{"name = nothing", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bb_diffs d = make_rows();

		assert_int_equal(bb_diff_filter(&d, cases[i].condition, NULL), 0);
		assert_order(&d, cases[i].left);
		bb_diffs__done(&d);
	}
}

static void test_filters_are_anded(void **state)
{
	struct bb_diffs d = make_rows();

	(void)state;
	assert_int_equal(bb_diff_filter(&d, "percent > 5", NULL), 0);
	assert_int_equal(bb_diff_filter(&d, "verdict = regressed", NULL), 0);
	assert_order(&d, "c");
	assert_int_equal(bb_diff_sort(&d, "name", NULL), 0);
	bb_diffs__done(&d);
	assert_int_equal(bb_diff_sort(&d, "name", NULL), 0); /* nothing left to sort */
	assert_int_equal(bb_diff_filter(&d, "a > 1", NULL), 0);
	bb_diffs__done(&d);
}

static void test_bad_sorts_and_filters(void **state)
{
	static const struct {
		const char *text, *says;
	} sorts[] =
		{
			{"", "there are: name"},
			{"percnt", "did you mean 'percent'"},
			{"name:up", ":asc or :desc"},
			{"name:", ":asc or :desc"},
			{"zzzzzzz", "there are: name, metric"},
		},
	  filters[] = {
		  {"", "there are: name"},
		  {"verdit = same", "did you mean 'verdict'"},
		  {"verdict = samme", "no verdict"},
		  {"name", "takes one of = != ~ !~"},
		  {"name < x", "takes one of = != ~ !~"},
		  {"a ~ 1", "takes one of <"},
		  {"a > many", "no number"},
		  {"a > 5%", "no number"},
		  {"a >", "no number"},
		  {"a > nan", "no number"},
	  };
	struct bb_diffs d = make_rows();
	struct bb_err err;

	(void)state;
	for (size_t i = 0; i < sizeof(sorts) / sizeof(sorts[0]); i++) {
		assert_int_equal(bb_diff_sort(&d, sorts[i].text, &err), -EINVAL);
		if (!strstr(err.msg, sorts[i].says))
			fail_msg("'%s' is not in '%s'", sorts[i].says, err.msg);
	}
	for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
		assert_int_equal(bb_diff_filter(&d, filters[i].text, &err), -EINVAL);
		if (!strstr(err.msg, filters[i].says))
			fail_msg("'%s' is not in '%s'", filters[i].says, err.msg);
	}
	assert_order(&d, "cCabd");
	bb_diffs__done(&d);
}

/* --- printing --- */

static void test_print(void **state)
{
	struct bb_diffs d = diff_flat(12, 1000, 12, 1100);
	char *text = print(&d, "main (20261121T131700Z)", "latest");

	(void)state;
	assert_string_equal(text, "1 regressed, 0 improved, 0 same, 0 inconclusive, at a threshold "
				  "of 1 %\n"
				  "\n"
				  "Case                                      Metric          A     "
				  "B  Diff  Diff %       Interval %  Verdict\n"
				  "perf_profiler/ringbuf/step/stack_depth=8  latency, ns  1006  "
				  "1106  +100   +9.95  [+9.01, +10.89]  regressed\n"
				  "perf_profiler/ringbuf/step/stack_depth=8  p50, ns      1006  "
				  "1106  +100   +9.95                -  -\n"
				  "perf_profiler/ringbuf/step/stack_depth=8  p90, ns      1010  "
				  "1110  +100   +9.90                -  -\n"
				  "\n"
				  "A: main (20261121T131700Z)\n"
				  "B: latest\n");
	free(text);
	bb_diffs__done(&d);
}

/* The printed figures obey A + Diff = B. */
static void test_print_adds_up(void **state)
{
	static const struct {
		double a, b, shift;
	} of[] = {{70.44, 90.84, 20.45},
		  {0.994, 1.006, 0.0051},
		  {7550.4, 2771.6, -4778.4},
		  {9.994, 1005.5, 995.56},
		  {420315569, 321044400, -99271169},
		  {98.96, 99.04, 0.08},
		  {2000.5, 2010.5, 10},
		  {100.25, 110.25, 10}};

	(void)state;
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		struct bb_diff row = {.name = "x", .metric = "net", .unit = "ns"};
		struct bb_diffs d = {.rows = &row, .n = 1};
		double a, b, diff;
		char *text;

		row.a = of[i].a;
		row.b = of[i].b;
		row.shift = of[i].shift;
		row.ratio = row.lo = row.hi = row.p = NAN;
		text = print(&d, "a", "b");
		assert_int_equal(sscanf(strstr(text, "net, ns"),
					of[i].a > 1e6 ? "net, ns %lf ms %lf ms %lf"
						      : "net, ns %lf %lf %lf",
					&a, &b, &diff),
				 3);
		assert_near_by(a + diff, b, 1e-6);
		free(text);
	}
}

/* Each figure has as many digits as it needs. A and B have two units only if they are far apart. */
static void test_print_digits(void **state)
{
	static const struct {
		double a, b;
		const char *text;
	} of[] = {{5.234, 12000.4, "net, ns  5.23  12000  +11995\n"},
		  {12000.4, 44.44, "net, ns  12000  44.4  -11956\n"},
		  {999900, 1000100, "net, ns  999900  1000100  +200\n"},
		  {44.44, 420315569, "net, ns  44.4  420.32 ms  +420.32 ms\n"},
		  {2e6, 3.5e6, "net, ns  2.00 ms  3.50 ms  +1.50 ms\n"}};

	(void)state;
	for (size_t i = 0; i < BB_LEN(of); i++) {
		struct bb_diff row = {.name = "x",
				      .metric = "net",
				      .unit = "ns",
				      .a = of[i].a,
				      .b = of[i].b,
				      .shift = of[i].b - of[i].a,
				      .ratio = NAN,
				      .lo = NAN,
				      .hi = NAN,
				      .p = NAN};
		struct bb_diffs d = {.rows = &row, .n = 1};
		char *text = print(&d, "a", "b");

		assert_has(text, of[i].text);
		free(text);
	}
}

/* The floor shows what the machine did, so it gets no verdict. */
static void test_floor_has_no_verdict(void **state)
{
	struct bb_report *of[2];
	struct bb_diffs d;

	(void)state;
	for (int i = 0; i < 2; i++) {
		of[i] = make_report(i ? "b" : "a");
		flat_case(of[i], "empty", 12, i ? 2000 : 1000);
		flat_case(of[i], "work", 12, 3000);
		of[i]->cases[1].floor = 0;
		bb_report__summarise(of[i]);
	}
	d = diff_with(of[0], of[1], &at_1_percent);
	assert_false(find_row(&d, "empty", "latency")->has_verdict);
	assert_note(find_row(&d, "empty", "latency"), "empty program");
	assert_true(find_row(&d, "work", "latency")->has_verdict);
	assert_int_equal(bb_diffs_count(&d, BB_VERDICT_REGRESSED), 0);
	bb_diffs__done(&d);
	bb_report__free(of[0]);
	bb_report__free(of[1]);
}

/* Names and notes come from files. No escape sequence reaches the terminal, and columns stay
 * aligned. */
static void test_print_is_clean(void **state)
{
	struct bb_diffs d = make_rows();
	char *text, *first, *second;

	(void)state;
	set_text(&d.rows[0].name, "r\xc3\xa9seau");
	set_text(&d.rows[1].name, "x\x1b[31m\x80\n");
	set_text(&d.rows[1].note, "bad\rnote");
	text = print(&d, "\x1b]0;title\x07", "b");
	assert_null(strpbrk(text, "\x1b\x07\r"));
	first = strstr(text, "latency");
	second = strstr(text, "p50");
	assert_non_null(first);
	assert_non_null(second);
	/* "réseau" has a byte more than characters. Both columns must still begin at the same
	 * place. */
	for (int i = 0; i < 2; i++) {
		char *at = i ? second : first, *line = at;

		while (line[-1] != '\n')
			line--;
		assert_int_equal(at - line - !i, strlen("a/perfbuf") + 2);
	}
	for (char *line = text; (line = strchr(line, '\n')); line++)
		assert_true(line == text || line[-1] != ' ');
	free(text);
	bb_diffs__done(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_failed_in_one_only),
		cmocka_unit_test(test_values_interval_and_verdict),
		cmocka_unit_test(test_other_verdicts),
		cmocka_unit_test(test_what_moves_between_runs_is_in_the_interval),
		cmocka_unit_test(test_loads_by_place),
		cmocka_unit_test(test_the_reference_may_deny_a_change),
		cmocka_unit_test(test_the_floor_may_deny_a_change),
		cmocka_unit_test(test_too_few_loads),
		cmocka_unit_test(test_floor_has_no_verdict),
		cmocka_unit_test(test_print_adds_up),
		cmocka_unit_test(test_print_digits),
		cmocka_unit_test(test_void_series_are_noted_and_not_counted),
		cmocka_unit_test(test_void_slices),
		cmocka_unit_test(test_cases_of_one_run_only),
		cmocka_unit_test(test_holm_over_the_cases),
		cmocka_unit_test(test_different_machines),
		cmocka_unit_test(test_long_fingerprint_values_are_cut),
		cmocka_unit_test(test_incomplete_and_same_run),
		cmocka_unit_test(test_bad_opts),
		cmocka_unit_test(test_whole_report),
		cmocka_unit_test(test_measured_comparison),
		cmocka_unit_test(test_measured_comparison_without_pairs),
		cmocka_unit_test(test_exact_of_stored_runs),
		cmocka_unit_test(test_exact_of_measured_comparison),
		cmocka_unit_test(test_sort),
		cmocka_unit_test(test_filter),
		cmocka_unit_test(test_filters_are_anded),
		cmocka_unit_test(test_bad_sorts_and_filters),
		cmocka_unit_test(test_print),
		cmocka_unit_test(test_print_is_clean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
