/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit/stats_testing.h"

#include <errno.h>

#include "stats/verdict.h"

static enum bb_verdict verdict(double lo, double hi, double eps)
{
	return bb_verdict_of((struct bb_interval){lo, hi}, eps);
}

static void test_verdict(void **state)
{
	double limit = log1p(0.01), beyond = nextafter(limit, 1);

	(void)state;
	assert_int_equal(verdict(0.02, 0.03, 0.01), BB_VERDICT_REGRESSED);
	assert_int_equal(verdict(-0.03, -0.02, 0.01), BB_VERDICT_IMPROVED);
	assert_int_equal(verdict(-0.005, 0.005, 0.01), BB_VERDICT_SAME);
	assert_int_equal(verdict(0.005, 0.03, 0.01), BB_VERDICT_INCONCLUSIVE);
	assert_int_equal(verdict(-0.03, 0.005, 0.01), BB_VERDICT_INCONCLUSIVE);
	assert_int_equal(verdict(-1, 1, 0.01), BB_VERDICT_INCONCLUSIVE);
	/* The limits are ratios: +1 % is ln 1.01 and not 0.01. An end equal to the limit is not
	 * beyond it. */
	assert_int_equal(verdict(beyond, 0.03, 0.01), BB_VERDICT_REGRESSED);
	assert_int_equal(verdict(limit, 0.03, 0.01), BB_VERDICT_INCONCLUSIVE);
	assert_int_equal(verdict(-0.03, -beyond, 0.01), BB_VERDICT_IMPROVED);
	assert_int_equal(verdict(-0.03, -limit, 0.01), BB_VERDICT_INCONCLUSIVE);
	assert_int_equal(verdict(-limit, limit, 0.01), BB_VERDICT_SAME);
	assert_int_equal(verdict(-limit, beyond, 0.01), BB_VERDICT_INCONCLUSIVE);
}

static void test_verdict_degenerate(void **state)
{
	(void)state;
	assert_int_equal(verdict(NAN, NAN, 0.01), BB_VERDICT_INCONCLUSIVE);
	assert_int_equal(verdict(NAN, -1, 0.01), BB_VERDICT_INCONCLUSIVE);
	assert_int_equal(verdict(1, NAN, 0.01), BB_VERDICT_INCONCLUSIVE);
	assert_int_equal(verdict(1, 0.5, 0.01), BB_VERDICT_INCONCLUSIVE);
	assert_int_equal(verdict(1, 2, NAN), BB_VERDICT_INCONCLUSIVE);
	assert_int_equal(verdict(1, 2, -0.01), BB_VERDICT_INCONCLUSIVE);
	assert_int_equal(verdict(1, 2, INFINITY), BB_VERDICT_INCONCLUSIVE);
	assert_int_equal(verdict(-INFINITY, INFINITY, 0.01), BB_VERDICT_INCONCLUSIVE);
	assert_int_equal(verdict(0, 0, 0), BB_VERDICT_SAME);
	assert_int_equal(verdict(1e-12, 1, 0), BB_VERDICT_REGRESSED);
}

static void test_denied_change(void **state)
{
	(void)state;
	assert_false(bb_change_is_denied(0.03, 0.03, 0.001));
	assert_true(bb_change_is_denied(0.03, 0, 0.01));
	assert_true(bb_change_is_denied(-0.03, 0, 0.01));
	assert_true(bb_change_is_denied(0.03, -0.03, 0.01));
	/* "Only twice as likely without the change" does not deny it. Nor does a figure that varies
	 * by more than the change. */
	assert_false(bb_change_is_denied(0.02, 0.0081, 0.0166));
	assert_false(bb_change_is_denied(0.03, 0, 0.03));
	assert_false(bb_change_is_denied(0.03, 0, (double)NAN));
	assert_false(bb_change_is_denied(0.03, (double)NAN, 0.01));
}

static void test_names(void **state)
{
	enum bb_verdict v;

	(void)state;
	for (int i = 0; i < BB_N_VERDICTS; i++) {
		assert_int_equal(bb_verdict_from_name(bb_verdict_name((enum bb_verdict)i), &v), 0);
		assert_int_equal(v, i);
	}
	assert_string_equal(bb_verdict_name(BB_VERDICT_REGRESSED), "regressed");
	assert_string_equal(bb_verdict_name(BB_N_VERDICTS), "?");
	assert_int_equal(bb_verdict_from_name("?", &v), -EINVAL);
	assert_int_equal(bb_verdict_from_name("Regressed", &v), -EINVAL);
}

/* The steps of Holm 1979: p(i) * (n + 1 - i), never falling, at most 1. R: p.adjust(c(.01, .02,
 * .03, .04)). */
static void test_holm(void **state)
{
	static const double p[] = {0.04, 0.01, 0.03, 0.02}, want[] = {0.06, 0.04, 0.06, 0.06};
	static const double tied[] = {0.5, 0.5, 0.001}, want_tied[] = {1, 1, 0.003};
	double adjusted[4];

	(void)state;
	bb_holm(p, 4, adjusted);
	for (size_t i = 0; i < 4; i++)
		assert_near(adjusted[i], want[i], 1e-15);
	bb_holm(tied, 3, adjusted);
	for (size_t i = 0; i < 3; i++)
		assert_near(adjusted[i], want_tied[i], 1e-15);
}

/*
 * Against the procedure itself: in ascending order, reject while p(i) <= alpha / (n + 1 - i), and
 * stop at the first that is larger. Every p <= alpha / n (Bonferroni) is rejected.
 */
static void test_holm_is_the_step_down_test(void **state)
{
	static const double p[] = {0.0011, 0.0101, 0.0129, 0.02, 0.026, 0.3, 1, 0};

	(void)state;
	for (double alpha = 0.001; alpha < 1; alpha *= 1.3) {
		double sorted[] = {0, 0.0011, 0.0101, 0.0129, 0.02, 0.026, 0.3, 1}, adjusted[8];
		size_t rejected = 0, n = 0;

		while (rejected < 8 && sorted[rejected] <= alpha / (double)(8 - rejected))
			rejected++;
		bb_holm(p, 8, adjusted);
		for (size_t i = 0; i < 8; i++) {
			n += adjusted[i] <= alpha;
			assert_true(p[i] > alpha / 8 || adjusted[i] <= alpha);
		}
		assert_int_equal(n, rejected);
	}
}

static void test_holm_degenerate(void **state)
{
	double p[] = {0.02, NAN, 0.01}, one[] = {0.7}, adjusted[1];

	(void)state;
	bb_holm(p, 3, p); /* in place; a NAN does not count */
	assert_near(p[0], 0.02, 1e-15);
	assert_nan(p[1]);
	assert_near(p[2], 0.02, 1e-15);
	bb_holm(one, 1, adjusted);
	assert_same(adjusted[0], 0.7);
	bb_holm(NULL, 0, NULL);
}

/* If a program is compared with itself, the estimate moves by a standard error, a third of half the
 * interval's width. The advice may follow it by a factor of 4 at most. */
static void test_times_to_decide(void **state)
{
	(void)state;
	for (double half = 0.2; half < 20; half *= 1.3) {
		double least = INFINITY, most = 0;

		for (double estimate = -half / 3; estimate <= half / 3; estimate += half / 60) {
			double times = bb_times_to_decide(estimate, estimate - half,
							  estimate + half, 1);

			least = fmin(least, times);
			most = fmax(most, times);
		}
		assert_true(least >= 1.5 && most <= 4.01 * least);
		assert_true(most <= fmax(9, half * half * 1.01));
	}
	assert_near(bb_times_to_decide(0, -3, 3, 1), 9, 1e-9);
	assert_true(isinf(bb_times_to_decide(1, 0.95, 1.05, 1))); /* narrow, and at the limit */
	assert_nan(bb_times_to_decide(NAN, -1, 1, 1));
	assert_nan(bb_times_to_decide(0, NAN, 1, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verdict),
		cmocka_unit_test(test_verdict_degenerate),
		cmocka_unit_test(test_denied_change),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_holm),
		cmocka_unit_test(test_holm_is_the_step_down_test),
		cmocka_unit_test(test_holm_degenerate),
		cmocka_unit_test(test_times_to_decide),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
