/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit/stats_testing.h"

#include <errno.h>

#include "base/rng.h"
#include "stats/history.h"
#include "stats/special.h"

/* Judges by one figure only. */
static int judge(const double *r, const double *se, size_t n, const struct bb_history_rule *by,
		 struct bb_history_point *points)
{
	return bb_history_judge(&(struct bb_history_figure){r, se}, 1, n, by, points);
}

static const struct bb_history_rule rule = {.eps = 0.01,
					    .alpha = 0.01,
					    .window_min = 20,
					    .window_max = 30};

/* Fills r[n] with normal noise: 0 +- sigma. */
static void noise(struct bb_rng *rng, double sigma, double *r, size_t n)
{
	for (size_t i = 0; i < n; i++)
		r[i] = sigma * bb_rng_normal(rng);
}

static size_t count(const struct bb_history_point *points, size_t n, enum bb_history_mark mark)
{
	size_t found = 0;

	for (size_t i = 0; i < n; i++)
		found += points[i].mark == mark;
	return found;
}

/* The limit by hand: 1..20 in thousandths have the median 10.5 and deviations 0.5, 0.5, 1.5, ...
 * 9.5, so MAD 5. */
static void test_limit_by_hand(void **state)
{
	struct bb_history_point points[21];
	double r[21], se[21], s = 1.4826 * 5e-3, t = bb_student_critical(0.01, 19);

	(void)state;
	for (size_t i = 0; i < 20; i++) {
		r[i] = (double)((7 * i) % 20 + 1) * 1e-3;
		se[i] = NAN;
	}
	r[20] = 0.2;
	se[20] = 0.003;
	assert_int_equal(judge(r, se, 21, &rule, points), 0);
	assert_int_equal(count(points, 21, BB_HISTORY_LEARNING), 20);
	assert_near(points[20].baseline, 0.0105, 1e-15);
	assert_near(points[20].limit, t * sqrt(s * s * (1 + 1.0 / 20) + 9e-6), 1e-14);
	assert_nan(points[19].limit);
	assert_int_equal(points[20].mark, BB_HISTORY_SUSPECT);
	/* A history without spread: the limit is the practical threshold, as a ratio. */
	memset(r, 0, sizeof(r));
	assert_int_equal(judge(r, NULL, 21, &rule, points), 0);
	assert_same(points[20].limit, log1p(0.01));
}

/* As in test_limit_by_hand, but the last run has three times the standard error of the others, so
 * its spread counts three times as much. */
static void test_disturbed_run(void **state)
{
	struct bb_history_point points[21];
	double r[21], se[21], s = 1.4826 * 5e-3, t = bb_student_critical(0.01, 19);

	(void)state;
	for (size_t i = 0; i < 21; i++) {
		r[i] = (double)((7 * i) % 20 + 1) * 1e-3;
		se[i] = i < 20 ? 0.002 : 0.006;
	}
	assert_int_equal(judge(r, se, 21, &rule, points), 0);
	assert_near(points[20].limit, t * sqrt(9 * s * s * (1 + 1.0 / 20) + 36e-6), 1e-14);
	se[20] = 0.001; /* a calm run has the spread of the others */
	assert_int_equal(judge(r, se, 21, &rule, points), 0);
	assert_near(points[20].limit, t * sqrt(s * s * (1 + 1.0 / 20) + 1e-6), 1e-14);
}

/* A run too disturbed to show the change neither proves nor disproves it, and is in no window. */
static void test_cannot_tell(void **state)
{
	struct bb_history_point points[60];
	struct bb_rng rng;
	double r[60], se[60];

	(void)state;
	bb_rng_seed(&rng, 58);
	noise(&rng, 0.001, r, 60);
	for (size_t i = 0; i < 60; i++) {
		r[i] += i >= 30 ? 0.03 : 0;
		se[i] = 0.001;
	}
	for (size_t i = 31; i < 41; i += 9) { /* at the suspect run, and while the change is new */
		r[i] = 0;
		se[i] = 0.02;
	}
	assert_int_equal(judge(r, se, 60, &rule, points), 0);
	for (size_t i = 20; i < 52; i++) {
		assert_int_equal(points[i].mark, i < 30               ? BB_HISTORY_STEADY
						 : i == 31 || i == 40 ? BB_HISTORY_SUSPECT
								      : BB_HISTORY_REGRESSED);
		assert_int_equal(points[i].change, i == 30);
	}
	se[31] = 0.001; /* a calm run shows that the run before was chance */
	assert_int_equal(judge(r, se, 60, &rule, points), 0);
	assert_int_equal(points[30].change, 0);
	assert_int_equal(points[32].change, 1);
}

/* A step of +5 %: two runs agree, so the first of them is the change point. After 20 runs it is the
 * baseline. */
static void test_step(void **state)
{
	for (int sign = -1; sign <= 1; sign += 2) {
		struct bb_history_point points[100];
		enum bb_history_mark want = sign > 0 ? BB_HISTORY_REGRESSED : BB_HISTORY_IMPROVED;
		struct bb_rng rng;
		double r[100];

		(void)state;
		bb_rng_seed(&rng, 51);
		noise(&rng, 0.001, r, 100);
		for (size_t i = 50; i < 100; i++)
			r[i] += sign * 0.05;
		assert_int_equal(judge(r, NULL, 100, &rule, points), 0);
		for (size_t i = 20; i < 100; i++) {
			assert_int_equal(points[i].mark,
					 i >= 50 && i < 70 ? want : BB_HISTORY_STEADY);
			assert_int_equal(points[i].change, i == 50 ? sign : 0);
		}
		assert_near(points[69].baseline, 0, 0.001);
		assert_near(points[70].baseline, sign * 0.05, 0.001);
	}
}

/* Up, up again once the first step is the baseline, then down below the start: three changes, each
 * new for 20 runs. */
static void test_steps(void **state)
{
	struct bb_history_point points[200];
	struct bb_rng rng;
	double r[200];

	(void)state;
	bb_rng_seed(&rng, 57);
	noise(&rng, 0.001, r, 200);
	for (size_t i = 0; i < 200; i++)
		r[i] += i < 50 ? 0 : i < 100 ? 0.05 : i < 150 ? 0.10 : -0.05;
	assert_int_equal(judge(r, NULL, 200, &rule, points), 0);
	for (size_t i = 20; i < 200; i++) {
		enum bb_history_mark news = i < 150 ? BB_HISTORY_REGRESSED : BB_HISTORY_IMPROVED;

		assert_int_equal(points[i].mark, i >= 50 && i % 50 < 20 ? news : BB_HISTORY_STEADY);
		assert_int_equal(points[i].change, i < 50 || i % 50 ? 0 : i < 150 ? 1 : -1);
	}
}

/* A single run beyond the limits is suspect, but is not reported as a change. The same holds for
 * two such runs in opposite directions. */
static void test_lone_outlier(void **state)
{
	struct bb_history_point points[60];
	struct bb_rng rng;
	double r[60];

	(void)state;
	bb_rng_seed(&rng, 52);
	noise(&rng, 0.001, r, 60);
	r[30] += 0.5;
	r[40] += 0.5;
	r[41] -= 0.5;
	r[59] += 0.5; /* the last run, which no second run confirms yet */
	assert_int_equal(judge(r, NULL, 60, &rule, points), 0);
	for (size_t i = 20; i < 60; i++) {
		int odd = i == 30 || i == 40 || i == 41 || i == 59;

		assert_int_equal(points[i].mark, odd ? BB_HISTORY_SUSPECT : BB_HISTORY_STEADY);
		assert_int_equal(points[i].change, 0);
	}
}

/* Regressed for six runs, of which one is back by chance, then fixed: one change up and one down,
 * and no others. */
static void test_regression_and_fix(void **state)
{
	struct bb_history_point points[60];
	struct bb_rng rng;
	double r[60];

	(void)state;
	bb_rng_seed(&rng, 53);
	noise(&rng, 0.001, r, 60);
	for (size_t i = 30; i < 36; i++)
		r[i] += i == 33 ? 0 : 0.05;
	assert_int_equal(judge(r, NULL, 60, &rule, points), 0);
	for (size_t i = 20; i < 60; i++) {
		int regressed = i >= 30 && i < 36 && i != 33;

		assert_int_equal(points[i].mark,
				 regressed ? BB_HISTORY_REGRESSED : BB_HISTORY_STEADY);
		assert_int_equal(points[i].change, i == 30 ? 1 : i == 36 ? -1 : 0);
	}
	assert_near(points[59].baseline, 0, 0.001);
}

/* Void runs are not judged and do not disturb: the same runs with voids between them get the same
 * marks. */
static void test_void_runs(void **state)
{
	struct bb_history_point plain[100], holed[200];
	double r[100], with_voids[200];
	struct bb_rng rng;

	(void)state;
	bb_rng_seed(&rng, 54);
	noise(&rng, 0.004, r, 100);
	for (size_t i = 0; i < 100; i++) {
		r[i] += i >= 50 ? 0.05 : 0;
		with_voids[2 * i] = NAN;
		with_voids[2 * i + 1] = r[i];
	}
	assert_int_equal(judge(r, NULL, 100, &rule, plain), 0);
	assert_int_equal(judge(with_voids, NULL, 200, &rule, holed), 0);
	for (size_t i = 0; i < 100; i++) {
		assert_int_equal(holed[2 * i].mark, BB_HISTORY_VOID);
		assert_nan(holed[2 * i].limit);
		assert_int_equal(holed[2 * i + 1].mark, plain[i].mark);
		assert_int_equal(holed[2 * i + 1].change, plain[i].change);
	}
	assert_int_equal(plain[50].change, 1);
}

/* A run's mark depends on one later run, and on no more. */
static void test_no_hindsight(void **state)
{
	struct bb_history_point all[150], prefix[150];
	struct bb_rng rng;
	double r[150];

	(void)state;
	bb_rng_seed(&rng, 55);
	noise(&rng, 0.005, r, 150);
	for (size_t i = 0; i < 150; i++)
		r[i] += i / 35 % 2 ? 0.05 : 0;
	assert_int_equal(judge(r, NULL, 150, &rule, all), 0);
	for (size_t n = 1; n <= 150; n++) {
		assert_int_equal(judge(r, NULL, n, &rule, prefix), 0);
		for (size_t i = 0; i + 1 < n; i++) {
			assert_int_equal(prefix[i].mark, all[i].mark);
			assert_int_equal(prefix[i].change, all[i].change);
		}
	}
}

/* Returns the share of judged runs that are marked as changed, in 100 histories of 200 runs
 * each. */
static double share_called(double sigma, double tails, double ar1)
{
	static double r[200];
	struct bb_history_point points[200];
	size_t called = 0;
	struct bb_rng rng;

	bb_rng_seed(&rng, 56);
	for (int i = 0; i < 100; i++) {
		double last = 0;

		noise(&rng, sigma, r, 200);
		for (size_t j = 0; j < 200; j++) {
			last = r[j] = ar1 * last + r[j];
			if (bb_rng_double(&rng) < tails)
				r[j] += 0.3;
		}
		assert_int_equal(judge(r, NULL, 200, &rule, points), 0);
		called += count(points, 200, BB_HISTORY_REGRESSED) +
			  count(points, 200, BB_HISTORY_IMPROVED);
	}
	return (double)called / (100 * 180);
}

/* Noise wider than eps, so that t decides. False calls are rare because two runs must agree. */
static void test_false_calls(void **state)
{
	(void)state;
	assert_true(share_called(0.02, 0, 0) < 0.004);
	assert_true(share_called(0.02, 0.02, 0) < 0.02); /* one run in fifty is 30 % slower */
	assert_true(share_called(0.002, 0, 0) == 0);     /* within eps: none is beyond the limit */
	assert_true(share_called(0.002, 0, 0.3) == 0);
}

static void test_degenerate(void **state)
{
	struct bb_history_rule bad = rule;
	struct bb_history_point points[3] = {{.change = 42}};
	double r[] = {0, NAN, 1}, infinite[] = {INFINITY}, se[] = {-1};

	(void)state;
	assert_int_equal(judge(NULL, NULL, 0, &rule, NULL), 0);
	assert_int_equal(judge(infinite, NULL, 1, &rule, points), -EINVAL);
	assert_int_equal(judge(r, se, 1, &rule, points), -EINVAL);
	bad.window_max = BB_HISTORY_WINDOW_MAX + 1;
	assert_int_equal(judge(r, NULL, 3, &bad, points), -EINVAL);
	bad.window_max = 19;
	assert_int_equal(judge(r, NULL, 3, &bad, points), -EINVAL);
	bad = rule;
	bad.window_min = 1;
	assert_int_equal(judge(r, NULL, 3, &bad, points), -EINVAL);
	bad = rule;
	bad.eps = NAN;
	assert_int_equal(judge(r, NULL, 3, &bad, points), -EINVAL);
	bad = rule;
	bad.alpha = 1;
	assert_int_equal(judge(r, NULL, 3, &bad, points), -EINVAL);
	assert_int_equal(points[0].change, 42);
	assert_int_equal(judge(r, NULL, 3, &rule, points), 0);
	assert_int_equal(points[0].mark, BB_HISTORY_LEARNING);
	assert_int_equal(points[1].mark, BB_HISTORY_VOID);
	assert_int_equal(points[2].mark, BB_HISTORY_LEARNING);
	assert_string_equal(bb_history_mark_name(BB_HISTORY_SUSPECT), "suspect");
	assert_string_equal(bb_history_mark_name((enum bb_history_mark)99), "?");
	assert_int_equal(judge(r, NULL, 3, &bb_history_default_rule, points), 0);
}

static double error_of(const double *r, size_t n)
{
	double error;

	bb_history_error(r, n, &rule, &error);
	return error;
}

/* By hand: five runs at 0, then +1 % and -1 % in turns. The medians stay 0. */
static void test_error(void **state)
{
	double r[20] = {0};

	(void)state;
	for (size_t i = 5; i < 20; i++)
		r[i] = i % 2 ? 0.01 : -0.01;
	r[7] = NAN; /* a missing run */
	assert_near(error_of(r, 20), 1.4826 * 0.01, 1e-12);
	assert_nan(error_of(r, 15)); /* nine differences are too few */
	for (size_t i = 17; i < 20; i++)
		r[i] = 0.5; /* a step at the end does not hide which figure predicts best */
	assert_near(error_of(r, 20), 1.4826 * 0.01, 1e-12);
	assert_nan(error_of(NULL, 0));
}

/* A step of 3 % in the first figure from run 30 on is a change, unless another figure that could
 * show it does not. */
static void test_figures_may_deny(void **state)
{
	enum { N = 40, STEP = 30 };
	double with[N], without[N], absent[N], wide[N];
	const struct bb_history_figure figures[][2] = {
		{{with, NULL}, {with, NULL}},    {{with, NULL}, {without, NULL}},
		{{without, NULL}, {with, NULL}}, {{with, NULL}, {absent, NULL}},
		{{with, NULL}, {wide, NULL}},
	};
	const int want[] = {1, 0, 0, 1, 1};
	struct bb_history_point points[N];

	(void)state;
	for (size_t i = 0; i < N; i++) {
		without[i] = i % 2 ? 0.001 : -0.001;
		with[i] = without[i] + (i < STEP ? 0 : 0.03);
		absent[i] = NAN;
		wide[i] = 40 * without[i];
	}
	for (size_t k = 0; k < sizeof(want) / sizeof(want[0]); k++) {
		assert_int_equal(bb_history_judge(figures[k], 2, N, &bb_history_default_rule,
						  points),
				 0);
		assert_int_equal(points[STEP].change, want[k]);
		assert_int_equal(points[N - 1].mark,
				 want[k] ? BB_HISTORY_REGRESSED : BB_HISTORY_STEADY);
	}
	assert_int_equal(bb_history_judge(figures[0], 0, N, &bb_history_default_rule, points),
			 -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_figures_may_deny),
		cmocka_unit_test(test_limit_by_hand),
		cmocka_unit_test(test_disturbed_run),
		cmocka_unit_test(test_cannot_tell),
		cmocka_unit_test(test_step),
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_lone_outlier),
		cmocka_unit_test(test_regression_and_fix),
		cmocka_unit_test(test_void_runs),
		cmocka_unit_test(test_no_hindsight),
		cmocka_unit_test(test_false_calls),
		cmocka_unit_test(test_degenerate),
		cmocka_unit_test(test_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
