/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>

#include "report/report.h"
#include "store/run_json.h"
#include "unit/report_testing.h"

/*
 * The e-process rejects after n pairs on one side when M_n(0) = 2^n G(1/2) G(n + 1/2) / (pi n!) >=
 * 1 / alpha. M_n(0) is C(2n, n) / 2^n, because G(n + 1/2) = (2n)! sqrt(pi) / (4^n n!) (Abramowitz &
 * Stegun 6.1.12). It is 14.4 for n = 6 and 26.8 for n = 7. Only the latter reaches 20, for alpha =
 * 5 %.
 */
static double p_of_all_beyond(size_t n)
{
	double m = 1;

	for (size_t i = 1; i <= n; i++)
		m *= (double)(n + i) / (2 * (double)i);
	return 1 / m;
}

static struct bb_pair *add_pair(struct bb_comparison *c, bool matched, double d)
{
	struct bb_pair *p = BB_ADD(bb_pair_record, c, pairs);

	assert_non_null(p);
	p->matched = matched;
	p->base_mod64 = 16;
	p->head_mod64 = matched ? 16 : 48;
	p->blocks = 8;
	p->d = p->d_net = d;
	p->base_ns = 1000;
	p->head_ns = 1000 * exp(d);
	p->shift_ns = p->head_ns - p->base_ns;
	p->floor_ns = 30;
	return p;
}

/* Makes n matched pairs, 0.0001 apart, the middle one at `d`. */
static struct bb_comparison make_comparison(size_t n, double d)
{
	struct bb_comparison c = {.threshold = 0.01, .alpha = 0.05};

	for (size_t i = 0; i < n; i++)
		add_pair(&c, true, d + 1e-4 * ((double)i - (double)(n - 1) / 2));
	return c;
}

static enum bb_verdict verdict_of(size_t n, double d)
{
	struct bb_comparison c = make_comparison(n, d);
	enum bb_verdict verdict;

	bb_comparison__judge(&c, c.alpha);
	verdict = c.verdict;
	bb_record__done(&bb_comparison_record, &c);
	return verdict;
}

static void test_verdicts(void **state)
{
	(void)state;
	assert_int_equal(verdict_of(9, 0.05), BB_VERDICT_REGRESSED);
	assert_int_equal(verdict_of(9, -0.05), BB_VERDICT_IMPROVED);
	assert_int_equal(verdict_of(9, 0), BB_VERDICT_SAME);
	assert_int_equal(verdict_of(9, 0.009), BB_VERDICT_SAME);
	/* On both sides of the threshold. */
	assert_int_equal(verdict_of(9, log(1.01)), BB_VERDICT_INCONCLUSIVE);
	assert_int_equal(verdict_of(9, log(1.01) + 0.0005), BB_VERDICT_REGRESSED);
	assert_int_equal(verdict_of(9, -log(1.01) - 0.0005), BB_VERDICT_IMPROVED);
	/* 1 % less is not the inverse of 1 % more: 0.9896 is beyond 1 / 1.01, 0.9906 is not. */
	assert_int_equal(verdict_of(9, log(0.9896)), BB_VERDICT_IMPROVED);
	assert_int_equal(verdict_of(9, log(0.9906)), BB_VERDICT_SAME);
}

static void test_estimates(void **state)
{
	struct bb_comparison c = make_comparison(7, log(1.05)),
			     swapped = make_comparison(7, -log(1.05));

	(void)state;
	bb_comparison__judge(&c, 0.05);
	assert_int_equal(c.n_matched, 7);
	assert_int_equal(c.n_unmatched, 0);
	assert_int_equal(c.n_void, 0);
	assert_near(c.ratio.value, 1.05);
	/* The interval of 7 pairs is their whole range. */
	assert_near(log(c.ratio.lo), log(1.05) - 3e-4);
	assert_near(log(c.ratio.hi), log(1.05) + 3e-4);
	assert_near(c.ratio_net.value, 1.05);
	assert_near_by(c.shift_ns.value, 50, 1e-6);
	assert_true(c.shift_ns.lo < 50 && c.shift_ns.hi > 50);
	assert_near(c.base_ns, 1000);
	assert_near(c.head_ns, 1000 + c.shift_ns.value);
	assert_near_by(c.head_ns, 1050, 1e-4);
	assert_near(c.floor_ns, 30);
	assert_near(c.p_regressed, p_of_all_beyond(7));
	assert_near(c.p_improved, 1);
	assert_nan(c.ratio_unmatched.value);

	/* With base and head exchanged, all figures are mirrored. */
	bb_comparison__judge(&swapped, 0.05);
	assert_near(swapped.ratio.value, 1 / c.ratio.value);
	assert_near(swapped.ratio.lo, 1 / c.ratio.hi);
	assert_near(swapped.ratio.hi, 1 / c.ratio.lo);
	assert_near(swapped.p_improved, c.p_regressed);
	bb_record__done(&bb_comparison_record, &c);
	bb_record__done(&bb_comparison_record, &swapped);
}

/* The printed figures add up. A load that is far off does not move them. */
static void test_ends_add_up(void **state)
{
	static const double base[] = {46, 42.03e7, 47}, head[] = {44.5, 44.4, 45};
	struct bb_comparison c = {.threshold = 0.01, .alpha = 0.05};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct bb_pair *p = add_pair(&c, true, log(head[i] / base[i]));

		p->base_ns = base[i];
		p->head_ns = head[i];
		p->shift_ns = head[i] - base[i];
	}
	/* A pair at its own places costs more, and counts for neither program. */
	add_pair(&c, false, 0.1);
	bb_comparisons_judge(&c, 1);
	assert_near(c.base_ns + c.shift_ns.value, c.head_ns);
	assert_true(c.base_ns > 45 && c.base_ns < 48);
	assert_true(c.head_ns > 44 && c.head_ns < 46);
	assert_near(c.shift_ns.value, -2);
	bb_record__done(&bb_comparison_record, &c);
}

static void expect_step(struct bb_comparison *c, const char *step)
{
	char text[BB_WHY_SIZE];

	bb_comparisons_judge(c, 1);
	bb_comparison__why_inconclusive(c, text);
	assert_string_equal(text, step);
	bb_record__done(&bb_comparison_record, c);
}

static void test_next_step(void **state)
{
	struct bb_comparison c = make_comparison(6, 0.5);

	(void)state;
	c.budget_s = 10;
	expect_step(&c, "no interval yet: 6 of the 7 pairs it takes");
	c = make_comparison(6, 0.5);
	expect_step(&c, "--loads 13 should decide (no interval yet: 6 of the 7 pairs it takes)");
	c = make_comparison(9, 0.05);
	expect_step(&c, "");
	c = (struct bb_comparison){.threshold = 0.01, .alpha = 0.05};
	expect_step(&c, "");
	/* From -2 % to +3 %: the interval must have a third of that width to be below 1 %. */
	c = (struct bb_comparison){.threshold = 0.01, .alpha = 0.05, .budget_s = 10};
	for (int i = 0; i < 9; i++)
		add_pair(&c, true, 0.005 + 0.00625 * (i - 4));
	expect_step(&c, "the interval is +-2.5 % so far");
	/* Half of the pairs are on either side of the threshold, so no budget is enough. */
	c = make_comparison(9, log(1.01));
	c.budget_s = 10;
	expect_step(&c, "too close to 1 % to decide (+-0.04 % so far); --threshold 1.1 would be "
			"same");
}

static void test_few_pairs(void **state)
{
	struct bb_comparison c = {.threshold = 0.01, .alpha = 0.05};

	(void)state;
	bb_comparisons_judge(&c, 1);
	assert_int_equal(c.verdict, BB_VERDICT_INCONCLUSIVE);
	assert_nan(c.ratio.value);
	assert_nan(c.ratio.lo);
	assert_nan(c.base_ns);
	assert_near(c.p_regressed, 1);
	assert_near(c.p_improved, 1);

	c = make_comparison(6, 0.05);
	bb_comparisons_judge(&c, 1);
	assert_near_by(c.ratio.value, exp(0.05), 1e-9); /* there is an estimate */
	assert_nan(c.ratio.lo);                         /* but no interval yet */
	assert_nan(c.ratio.hi);
	assert_int_equal(c.verdict, BB_VERDICT_INCONCLUSIVE);
	assert_near(c.p_regressed, p_of_all_beyond(6));
	assert_true(c.p_regressed > 0.05);

	add_pair(&c, true, 0.05);
	bb_comparisons_judge(&c, 1);
	assert_true(c.ratio.lo > 1.01);
	assert_int_equal(c.verdict, BB_VERDICT_REGRESSED);
	bb_record__done(&bb_comparison_record, &c);

	bb_comparisons_judge(NULL, 0);
}

static void test_void_pairs(void **state)
{
	struct bb_comparison c = make_comparison(7, 0);

	(void)state;
	for (int i = 0; i < 5; i++) /* far off, and too many for a median */
		set_text(&add_pair(&c, true, 3 + i)->void_why, "head: run_cnt rose by 15, 16 "
							       "events were fired");
	set_text(&add_pair(&c, false, 3)->void_why, "misses were counted");
	bb_comparisons_judge(&c, 1);
	assert_int_equal(c.n_void, 6);
	assert_int_equal(c.n_matched, 7);
	assert_int_equal(c.n_unmatched, 0);
	assert_int_equal(c.n_pairs, 13); /* void pairs are kept */
	assert_near(c.ratio.value, 1);
	assert_near_by(c.head_ns, 1000, 1e-4);
	assert_int_equal(c.verdict, BB_VERDICT_SAME);
	assert_nan(c.ratio_unmatched.value);

	/* With one valid pair less, there are too few. */
	set_text(&c.pairs[3].void_why, "misses were counted");
	bb_comparisons_judge(&c, 1);
	assert_int_equal(c.n_void, 7);
	assert_int_equal(c.verdict, BB_VERDICT_INCONCLUSIVE);
	bb_record__done(&bb_comparison_record, &c);
}

static void test_unmatched_never_decide(void **state)
{
	struct bb_comparison c = {.threshold = 0.01, .alpha = 0.05}, mixed = make_comparison(7, 0);

	(void)state;
	for (int i = 0; i < 40; i++) {
		add_pair(&c, false, 0.2 + 0.001 * i);
		add_pair(&mixed, false, 0.2 + 0.001 * i);
	}
	bb_comparisons_judge(&c, 1);
	assert_int_equal(c.n_unmatched, 40);
	assert_int_equal(c.verdict, BB_VERDICT_INCONCLUSIVE);
	assert_near(c.p_regressed, 1);
	assert_nan(c.ratio.value);
	assert_true(c.ratio_unmatched.lo > exp(0.2) && c.ratio_unmatched.hi < exp(0.24));

	bb_comparisons_judge(&mixed, 1);
	assert_int_equal(mixed.verdict, BB_VERDICT_SAME);
	assert_near(mixed.ratio.value, 1);
	assert_near(mixed.ratio_unmatched.value, c.ratio_unmatched.value);
	bb_record__done(&bb_comparison_record, &c);
	bb_record__done(&bb_comparison_record, &mixed);
}

static void test_nan(void **state)
{
	struct bb_comparison c = make_comparison(7, 0.05);

	(void)state;
	for (size_t i = 0; i < 7; i++)
		c.pairs[i].d_net = c.pairs[i].floor_ns = NAN; /* there is no floor */
	add_pair(&c, true, NAN);                              /* no valid block */
	bb_comparisons_judge(&c, 1);
	assert_int_equal(c.n_matched, 7);
	assert_near_by(c.ratio.value, exp(0.05), 1e-9);
	assert_int_equal(c.verdict, BB_VERDICT_REGRESSED);
	assert_nan(c.ratio_net.value);
	assert_nan(c.ratio_net.lo);
	bb_record__done(&bb_comparison_record, &c);

	/* If only some pairs have a net cost, all count for the gross ratio. The net interval needs
	 * 7 of them. */
	c = make_comparison(9, 0.05);
	for (size_t i = 0; i < 3; i++)
		c.pairs[i].d_net = NAN;
	bb_comparisons_judge(&c, 1);
	assert_int_equal(c.n_matched, 9);
	assert_true(isfinite(c.ratio.lo) && isfinite(c.ratio_net.value));
	assert_nan(c.ratio_net.lo);
	bb_record__done(&bb_comparison_record, &c);
}

#define MANY 20

static void judge_many(struct bb_comparison *c, size_t n_pairs_of_first)
{
	c[0] = make_comparison(n_pairs_of_first, 0.05);
	for (size_t i = 1; i < MANY; i++)
		c[i] = make_comparison(7, 0);
	bb_comparisons_judge(c, MANY);
}

static void done_many(struct bb_comparison *c)
{
	for (size_t i = 0; i < MANY; i++)
		bb_record__done(&bb_comparison_record, &c[i]);
}

static void test_holm(void **state)
{
	struct bb_comparison c[MANY];
	size_t enough = 7;

	(void)state;
	judge_many(c, 7);
	/* 1 in 20 is what chance gives. */
	assert_int_equal(c[0].verdict, BB_VERDICT_INCONCLUSIVE);
	assert_near(c[0].p_regressed, fmin(1, MANY * p_of_all_beyond(7)));
	assert_true(c[0].ratio.lo > 1.01);               /* the interval is not corrected */
	assert_int_equal(c[1].verdict, BB_VERDICT_SAME); /* `same` needs no correction */
	/* Judged alone or again, the correction is not applied to a corrected p. */
	bb_comparisons_judge(c, 1);
	assert_int_equal(c[0].verdict, BB_VERDICT_REGRESSED);
	assert_near(c[0].p_regressed, p_of_all_beyond(7));
	done_many(c);

	while (MANY * p_of_all_beyond(enough) > 0.05)
		enough++;
	judge_many(c, enough - 1);
	assert_int_equal(c[0].verdict, BB_VERDICT_INCONCLUSIVE);
	done_many(c);
	judge_many(c, enough);
	assert_int_equal(c[0].verdict, BB_VERDICT_REGRESSED);
	done_many(c);

	/* Step down: the strongest must beat alpha / 20, the next ones less. */
	for (size_t i = 0; i < MANY; i++)
		c[i] = make_comparison(i ? 7 : enough, i % 2 ? -0.05 : 0.05);
	bb_comparisons_judge(c, MANY);
	assert_int_equal(c[0].verdict, BB_VERDICT_REGRESSED);
	for (size_t i = 1; i < MANY; i++)
		assert_int_equal(c[i].verdict, BB_VERDICT_INCONCLUSIVE);
	assert_near(c[1].p_improved, fmin(1, (MANY - 1) * p_of_all_beyond(7)));
	done_many(c);
}

/* --- as stored --- */

static struct bb_report *make_compared(void)
{
	struct bb_report *r = make_sample_report();
	struct bb_comparison *c;

	for (int k = 0; k < 2; k++) {
		c = BB_ADD(bb_comparison_record, r, comparisons);
		assert_non_null(c);
		*c = make_comparison(8, k ? 0 : 0.05);
		set_text(&c->name, k ? "perf_profiler/in-situ/freq_hz=100"
				     : "perf_profiler/step/stack_depth=8");
		set_text(&c->base, "ringbuf \"old\"");
		set_text(&c->head, "ringbuf");
		c->injected = k ? -0.001 : 0;
	}
	add_pair(&r->comparisons[0], false, 0.123456789012345678);
	set_text(&add_pair(&r->comparisons[0], true, NAN)->void_why, "head: 2 runs were missed");
	r->comparisons[0].pairs[2].d_net = r->comparisons[0].pairs[2].floor_ns = NAN;
	bb_comparisons_judge(r->comparisons, 2);
	return r;
}

static int read_text(const char *text, struct bb_report **ret_report, struct bb_err *err)
{
	FILE *in = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	int rc;

	assert_non_null(in);
	rc = bb_run_json__read(in, "run.json", ret_report, err);
	fclose(in);
	return rc;
}

static void test_round_trip(void **state)
{
	struct bb_report *r = make_compared(), *back;
	const struct bb_comparison *a, *b;
	char *text, *again;
	size_t len, len_again;

	(void)state;
	bb_run_json__compose(r, &text, &len);
	assert_int_equal(read_text(text, &back, NULL), 0);
	bb_run_json__compose(back, &again, &len_again);
	assert_string_equal(text, again);
	assert_int_equal(back->n_comparisons, 2);
	for (size_t k = 0; k < 2; k++) {
		a = &r->comparisons[k];
		b = &back->comparisons[k];
		assert_string_equal(a->name, b->name);
		assert_string_equal(a->base, b->base);
		assert_string_equal(a->head, b->head);
		assert_int_equal(a->n_pairs, b->n_pairs);
		assert_int_equal(a->verdict, b->verdict);
		assert_int_equal(a->n_matched, b->n_matched);
		assert_int_equal(a->n_void, b->n_void);
		/* Equal to the last bit. */
		assert_memory_equal(&a->ratio, &b->ratio, sizeof(a->ratio));
		assert_memory_equal(&a->p_regressed, &b->p_regressed, sizeof(a->p_regressed));
	}
	a = &back->comparisons[0];
	assert_int_equal(a->verdict, BB_VERDICT_REGRESSED);
	assert_false(a->pairs[8].matched);
	assert_int_equal(a->pairs[8].head_mod64, 48);
	assert_string_equal(a->pairs[9].void_why, "head: 2 runs were missed");
	assert_nan(a->pairs[9].d);
	assert_nan(a->pairs[2].d_net);
	free(text);
	free(again);
	bb_report__free(r);
	bb_report__free(back);
}

static void test_plain_run_has_no_key(void **state)
{
	struct bb_report *r = make_sample_report();
	char *text;
	size_t len;

	(void)state;
	bb_run_json__compose(r, &text, &len);
	assert_null(strstr(text, "comparisons"));
	free(text);
	bb_report__free(r);
}

/* Replaces the first `from` in the text. The caller frees the result. */
static char *replaced(const char *text, const char *from, const char *to)
{
	const char *at = strstr(text, from);
	char *out = NULL;

	if (!at)
		fail_msg("'%s' is not in the stored run", from);
	if (asprintf(&out, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from)) < 0)
		fail();
	return out;
}

static void test_refused(void **state)
{
	static const struct {
		const char *from, *to, *says;
	} cases[] = {
		{"\"comparisons\": [\n", "\"comparisons\": 5, \"was\": [\n",
		 "comparisons: expected a list"},
		{"\"comparisons\": [\n", "\"comparisons\": [7,\n",
		 "comparisons[0]: expected an object"},
		{"\"comparisons\": [\n", "\"comparisons\": [{},\n",
		 "comparisons[0].name: is missing"},
		{"\"threshold\": 0.01", "\"threshold\": -0.01",
		 "comparisons[0].threshold: -0.01 is negative"},
		{"\"threshold\": 0.01", "\"threshold\": null",
		 "comparisons[0].threshold: expected a number"},
		{"\"threshold\": 0.01", "\"treshold\": 0.01",
		 "comparisons[0].threshold: is missing"},
		{"\"alpha\": 0.05", "\"alpha\": 0",
		 "comparisons[0].alpha: expected a number between 0 and 1"},
		{"\"alpha\": 0.05", "\"alpha\": 1.5", "comparisons[0].alpha: 1.5 is not in 0..1"},
		{"\"injected\": 0", "\"injected\": -1",
		 "comparisons[0].injected: expected a number above -1"},
		{"\"base\": \"ringbuf", "\"base\": null, \"x\": \"ringbuf",
		 "comparisons[0].base: expected a text"},
		{"\"pairs\": [", "\"pears\": [", "comparisons[0].pairs: is missing"},
		{"\"pairs\": [", "\"pairs\": [[],", "comparisons[0].pairs[0]: expected an object"},
		{"\"matched\": true", "\"matched\": 1",
		 "comparisons[0].pairs[0].matched: expected true or false"},
		{"\"head_mod64\": 16", "\"head_mod64\": 17",
		 "comparisons[0].pairs[0].matched: true, but the addresses are 16 and 17 mod 64"},
		{"\"head_mod64\": 16", "\"head_mod64\": 64",
		 "comparisons[0].pairs[0].head_mod64: expected a whole"},
		{"\"blocks\": 8", "\"blocks\": -8",
		 "comparisons[0].pairs[0].blocks: expected a whole"},
		{"\"d\": ", "\"d\": \"x\", \"was\": ",
		 "comparisons[0].pairs[0].d: expected a number or null"},
		{"\"base_ns\": 1000", "\"base_ns\": -1000",
		 "comparisons[0].pairs[0].base_ns: -1000 is negative"},
		{"perf_profiler/in-situ/freq_hz=100\", \"base\"",
		 "perf_profiler/step/stack_depth=8\", \"base\"",
		 "comparisons[1].name: 'perf_profiler/step/stack_depth=8' is there twice"},
	};
	struct bb_report *r = make_compared(), *back = NULL;
	char *text;
	size_t len;

	(void)state;
	bb_run_json__compose(r, &text, &len);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *bad = replaced(text, cases[i].from, cases[i].to);
		struct bb_err err = {0};

		assert_int_equal(read_text(bad, &back, &err), -EINVAL);
		if (!strstr(err.msg, cases[i].says) ||
		    strncmp(err.msg, "run.json: not a bpfbench run: ", 30))
			fail_msg("'%s' is not in '%s'", cases[i].says, err.msg);
		assert_null(back);
		free(bad);
	}
	/* Derived figures are stored for other readers, and are ignored here. */
	{
		char *odd = replaced(text, "\"verdict\": \"regressed\"",
				     "\"verdict\": \"improved\"");

		assert_int_equal(read_text(odd, &back, NULL), 0);
		assert_int_equal(back->comparisons[0].verdict, BB_VERDICT_REGRESSED);
		bb_report__free(back);
		free(odd);
	}
	free(text);
	bb_report__free(r);
}

static void test_unmatched_decide_without_addresses(void **state)
{
	struct bb_comparison c = {.threshold = 0.01, .alpha = 0.05};

	(void)state;
	for (size_t i = 0; i < 9; i++) {
		struct bb_pair *p = add_pair(&c, false, 0.05 + 1e-4 * (double)i);

		p->base_mod64 = p->head_mod64 = -1;
	}
	bb_comparison__judge(&c, c.alpha);
	assert_int_equal(c.verdict, BB_VERDICT_REGRESSED);
	assert_int_equal(c.n_matched, 0);
	bb_record__done(&bb_comparison_record, &c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_estimates),
		cmocka_unit_test(test_ends_add_up),
		cmocka_unit_test(test_next_step),
		cmocka_unit_test(test_few_pairs),
		cmocka_unit_test(test_void_pairs),
		cmocka_unit_test(test_unmatched_never_decide),
		cmocka_unit_test(test_unmatched_decide_without_addresses),
		cmocka_unit_test(test_nan),
		cmocka_unit_test(test_holm),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_plain_run_has_no_key),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
