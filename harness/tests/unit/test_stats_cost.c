/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Costs of the parts of a program from its times: known ones are found, and where there is no
 * telling, none are given. */
#include "unit/stats_testing.h"

#include <stdbool.h>

#include "base/rng.h"
#include "stats/cost_fit.h"
#include "stats/nnls.h"

#define ROWS 120u
#define PARTS 4u

/* y = x b exactly, b >= 0: b comes out, whatever the order of the columns. */
static void test_nnls_exact(void **state)
{
	static const double b[3] = {2, 0.25, 7};
	double x[5 * 3] = {1, 0, 1, 1, 10, 0, 1, 20, 1, 1, 300, 0, 1, 5, 1}, y[5], got[3];

	(void)state;
	for (size_t i = 0; i < 5; i++)
		y[i] = x[3 * i] * b[0] + x[3 * i + 1] * b[1] + x[3 * i + 2] * b[2];
	assert_int_equal(bb_nnls(x, y, NULL, 5, 3, got), 0);
	for (size_t j = 0; j < 3; j++)
		assert_near(got[j], b[j], 1e-9);
}

/* By hand: least squares would want (3, -1); with b >= 0 it is the mean of y over x = 1. */
static void test_nnls_bound(void **state)
{
	double x[] = {1, 0, 1, 1, 1, 1}, y[] = {3, 2, 2}, got[2];
	const bool use[] = {true, true, false};

	(void)state;
	assert_int_equal(bb_nnls(x, y, NULL, 3, 2, got), 0);
	assert_near(got[0], 7.0 / 3, 1e-12);
	assert_same(got[1], 0);
	assert_int_equal(bb_nnls(x, y, use, 3, 2, got), 0);
	assert_near(got[0], 2.5, 1e-12);
}

/* then + else = always: what comes out is one of many, but it predicts, and is not negative. */
static void test_nnls_dependent(void **state)
{
	double x[] = {1, 1, 0, 0, 1, 0, 1, 0, 1, 1, 0, 0, 1, 0, 1, 0}, y[] = {10, 14, 10, 14},
	       got[4];

	(void)state;
	assert_int_equal(bb_nnls(x, y, NULL, 4, 4, got), 0);
	for (size_t i = 0; i < 4; i++)
		assert_near(x[4 * i] * got[0] + x[4 * i + 1] * got[1] + x[4 * i + 2] * got[2], y[i],
			    1e-9);
	for (size_t j = 0; j < 4; j++)
		assert_true(got[j] >= 0);
	assert_same(got[3], 0);
}

/* The conditions of Kuhn & Tucker, which only the solution fulfils: no gradient at b > 0, none that
 * would lower it at 0. */
static void test_nnls_optimal(void **state)
{
	struct bb_rng rng;

	(void)state;
	bb_rng_seed(&rng, 1);
	for (int round = 0; round < 200; round++) {
		double x[30 * 12], y[30], b[12];

		for (size_t i = 0; i < N_OF(x); i++)
			x[i] = bb_rng_normal(&rng);
		for (size_t i = 0; i < 30; i++)
			y[i] = bb_rng_normal(&rng);
		assert_int_equal(bb_nnls(x, y, NULL, 30, 12, b), 0);
		for (size_t j = 0; j < 12; j++) {
			double gradient = 0;

			for (size_t i = 0; i < 30; i++) {
				double rest = y[i];

				for (size_t k = 0; k < 12; k++)
					rest -= x[12 * i + k] * b[k];
				gradient += x[12 * i + j] * rest;
			}
			assert_true(b[j] >= 0);
			if (b[j] > 0)
				assert_near(gradient, 0, 1e-9);
			else
				assert_true(gradient <= 1e-9);
		}
	}
}

/* --- costs --- */

struct made {
	double x[ROWS * PARTS], y[ROWS], work[ROWS];
	struct bb_cost_data data;
};

/*
 * A program with a part that is always executed, a loop, a branch, and its other side. `noise` is
 * the standard deviation.
 */
static void make(struct made *m, uint64_t seed, const double *costs, double noise)
{
	static const double insns[PARTS] = {20, 6, 9, 3};
	struct bb_rng rng;

	bb_rng_seed(&rng, seed);
	for (size_t i = 0; i < ROWS; i++) {
		double *row = &m->x[i * PARTS];

		row[0] = 1;
		row[1] = (double)bb_rng_below(&rng, 40);
		row[2] = (double)bb_rng_below(&rng, 2);
		row[3] = 1 - row[2];
		m->y[i] = noise * bb_rng_normal(&rng);
		m->work[i] = 0;
		for (size_t j = 0; j < PARTS; j++) {
			m->y[i] += row[j] * costs[j];
			m->work[i] += row[j] * insns[j];
		}
	}
	m->data = (struct bb_cost_data){m->x, m->y, m->work, ROWS, PARTS};
}

static void test_known_costs(void **state)
{
	static const double costs[PARTS] = {25, 0.4, 12, 0};
	unsigned int covered = 0, fitted = 0;
	double got[PARTS];
	struct bb_interval in[PARTS];
	struct bb_cost_fit fit;
	struct made m;

	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		make(&m, seed, costs, 0.5);
		assert_int_equal(bb_cost_fit(&m.data, got, in, &fit), 0);
		fitted += fit.verdict == BB_COST_FITS;
		covered += in[1].lo <= costs[1] && costs[1] <= in[1].hi;
		assert_near(got[1], costs[1], 0.05);
		assert_near(got[0], costs[0], 1);
		assert_near(got[2] - got[3], costs[2] - costs[3], 1);
		assert_true(fit.r2 > 0.98 && fit.r2 < 1);
		assert_true(fit.error < 1 && fit.error > 0.1);
		assert_true(fit.error_work > fit.error && fit.error_constant > fit.error);
	}
	assert_int_equal(fitted, 100);
	assert_true(covered >= 83); /* of 95 expected: five standard deviations and a bit */
}

/* Times that have nothing to do with what was executed; and such as one cost for every instruction
 * explains. */
static void test_refused(void **state)
{
	static const double nothing[PARTS] = {25, 0, 0, 0}, work[PARTS] = {20, 6, 9, 3};
	unsigned int as_constant = 0, as_work = 0;
	double got[PARTS];
	struct bb_interval in[PARTS];
	struct bb_cost_fit fit;
	struct made m;

	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		make(&m, seed, nothing, 2);
		assert_int_equal(bb_cost_fit(&m.data, got, in, &fit), 0);
		as_constant += fit.verdict != BB_COST_FITS;
		assert_true(fit.r2 < 0.2);
		make(&m, seed, work, 4);
		assert_int_equal(bb_cost_fit(&m.data, got, in, &fit), 0);
		as_work += fit.verdict == BB_COST_AS_WORK;
		assert_near(fit.per_work, 1, 0.1);
	}
	assert_true(200 - as_constant <= binomial_allowance(200, 0.01));
	assert_true(200 - as_work <= binomial_allowance(200, 0.01));
}

static void test_few_ways(void **state)
{
	static const double costs[PARTS] = {25, 0.4, 12, 0};
	double got[PARTS];
	struct bb_interval in[PARTS];
	struct bb_cost_fit fit;
	struct made m;

	(void)state;
	make(&m, 1, costs, 0);
	for (size_t i = 0; i < ROWS; i++) /* seven: 0 to 3 rounds each way, but one */
		memcpy(&m.x[i * PARTS],
		       (double[]){1, (double)(i % 7 / 2), (double)(i % 7 % 2),
				  1 - (double)(i % 7 % 2)},
		       PARTS * sizeof(double));
	assert_int_equal(bb_cost_fit(&m.data, got, in, &fit), 0);
	assert_int_equal(fit.verdict, BB_COST_FEW_WAYS);
	assert_int_equal(fit.n_ways, 7);
	assert_nan(got[0]);
	assert_nan(in[0].lo);
	assert_nan(fit.r2);
	m.data.n = 0;
	assert_int_equal(bb_cost_fit(&m.data, got, in, &fit), 0);
	assert_int_equal(fit.verdict, BB_COST_FEW_WAYS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nnls_exact),     cmocka_unit_test(test_nnls_bound),
		cmocka_unit_test(test_nnls_dependent), cmocka_unit_test(test_nnls_optimal),
		cmocka_unit_test(test_known_costs),    cmocka_unit_test(test_refused),
		cmocka_unit_test(test_few_ways),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
