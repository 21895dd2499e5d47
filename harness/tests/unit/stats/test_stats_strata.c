/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit/stats_testing.h"

#include "base/rng.h"
#include "stats/special.h"
#include "stats/loads.h"

/*
 * By hand: strata of 3/4 and 1/4 with the values 10, 12, 14 and 20, 22, 24. The means are 12 and
 * 22, so the estimate is 14.5. s^2 = (8 + 8) / 4 = 4, and the variance is (9/16 / 3 + 1/16 / 3) * 4
 * = 5/6. t(0.975, 4 df) = 2.776445 (any table).
 */
static void test_by_hand(void **state)
{
	const double x[] = {10, 20, NAN, 12, 22, 14, 24};
	const int stratum[] = {8, 40, 8, 8, 40, 8, 40};
	const double share[] = {0.75, 0.25, 0.75, 0.75, 0.25, 0.75, 0.25};
	struct bb_stratified s;

	(void)state;
	assert_true(bb_stratified_mean(x, stratum, share, N_OF(x), 0.05, &s));
	assert_near(s.value, 14.5, 1e-12);
	assert_near(s.interval.hi - s.value, 2.776445 * sqrt(5.0 / 6), 1e-5);
	assert_near(s.value - s.interval.lo, s.interval.hi - s.value, 1e-12);
	assert_near(s.least, 12, 1e-12);
	assert_near(s.most, 22, 1e-12);
	assert_int_equal(s.n, 6);
	assert_int_equal(s.n_strata, 2);
}

static void test_no_estimate(void **state)
{
	const double x[] = {1, 2, 3, 4, 5}, half[] = {0.1, 0.1, 0.1, 0.1, 0.4},
		     all[] = {0.5, 0.5, 0.5, 0.5, 0.5}, unknown[] = {0.5, 0.5, NAN, 0.5, 0.5};
	const int two[] = {0, 0, 4, 4, 0}, none[] = {0, 0, -1, 4, 0}, beyond[] = {0, 0, 64, 4, 0},
		  three[] = {0, 0, 4, 4, 8};
	struct bb_stratified s;

	(void)state;
	assert_true(bb_stratified_mean(x, two, all, 5, 0.05, &s));
	assert_false(bb_stratified_mean(x, two, unknown, 5, 0.05, &s));
	assert_false(bb_stratified_mean(x, none, all, 5, 0.05, &s));
	assert_false(bb_stratified_mean(x, beyond, all, 5, 0.05, &s));
	assert_false(bb_stratified_mean(x, three, half, 5, 0.05, &s)); /* shares: 0.6 in all */
	assert_false(bb_stratified_mean(x, two, all, 4, 0.05, &s));    /* too few values for s^2 */
	assert_false(bb_stratified_mean(x, two, all, 0, 0.05, &s));
}

/* A machine whose JIT gives up to MOST_PLACES places, each with a cost of its own. */
#define LOADS 24
#define MOST_PLACES 14

struct places {
	double ns[MOST_PLACES], mean_ns;
	int n;
};

static struct places make_places(struct bb_rng *rng, int n)
{
	struct places p = {.n = n};

	for (int h = 0; h < n; h++) {
		p.ns[h] = 1000 * (1 + 0.18 * bb_rng_double(rng));
		p.mean_ns += p.ns[h] / n;
	}
	return p;
}

struct loads {
	double x[LOADS], share[LOADS];
	int stratum[LOADS];
};

/* Draws loads as a run does: evenly over the places. A share `slow` of them is disturbed. */
static void draw(const struct places *p, double sigma, double slow, struct bb_rng *rng,
		 struct loads *ret)
{
	for (int i = 0; i < LOADS; i++) {
		int h = i % p->n;

		ret->stratum[i] = 8 + 4 * h;
		ret->share[i] = 1.0 / p->n;
		ret->x[i] = p->ns[h] * (1 + sigma * bb_rng_normal(rng));
		if (bb_rng_double(rng) < slow)
			ret->x[i] *= 1.1 + bb_rng_double(rng);
	}
}

/* The 95 % intervals hold the expected cost in 95 % of 4000 runs, whatever the number of places. */
static void test_coverage(void **state)
{
	const int places[] = {1, 2, 5, 9, 14};
	const unsigned int runs = 4000;
	struct bb_rng rng;

	(void)state;
	bb_rng_seed(&rng, 15);
	for (size_t k = 0; k < N_OF(places); k++) {
		unsigned int held = 0;

		for (unsigned int i = 0; i < runs; i++) {
			struct places p = make_places(&rng, places[k]);
			struct bb_stratified s;
			struct loads l;

			draw(&p, 0.005, 0, &rng, &l);
			assert_true(bb_stratified_mean(l.x, l.stratum, l.share, LOADS, 0.05, &s));
			held += s.interval.lo <= p.mean_ns && p.mean_ns <= s.interval.hi;
			assert_int_equal(s.n_strata, places[k]);
		}
		assert_true(held >= 0.935 * runs && held <= 0.965 * runs);
	}
}

/*
 * The purpose of stratifying: over 2000 runs of 24 loads at random places, the median moves by
 * several percent. The stratified mean moves only by the noise within a place.
 */
static void test_repeats(void **state)
{
	double sum = 0, squares = 0, random_sum = 0, random_squares = 0;
	const unsigned int runs = 2000;
	struct bb_rng rng;
	struct places p;

	(void)state;
	bb_rng_seed(&rng, 16);
	p = make_places(&rng, 9);
	for (unsigned int i = 0; i < runs; i++) {
		struct bb_stratified s;
		struct loads l;
		double random[LOADS];

		draw(&p, 0.005, 0, &rng, &l);
		for (int k = 0; k < LOADS; k++)
			random[k] = l.x[bb_rng_below(&rng, LOADS)];
		assert_true(bb_stratified_mean(l.x, l.stratum, l.share, LOADS, 0.05, &s));
		s.value /= p.mean_ns;
		random[0] = bb_location_over_loads(random, LOADS, 0.05).value / p.mean_ns;
		sum += s.value;
		squares += s.value * s.value;
		random_sum += random[0];
		random_squares += random[0] * random[0];
	}
	assert_near(sum / runs, 1, 1e-4);
	squares = sqrt(squares / runs - sum / runs * sum / runs);
	random_squares = sqrt(random_squares / runs - random_sum / runs * random_sum / runs);
	assert_true(squares < 0.0015);
	assert_true(random_squares > 5 * squares);
}

/* One load in ten takes 10 to 110 % more time. Nearly all of them are left out of the mean, and
 * nearly none of the others. */
static void test_set_aside(void **state)
{
	const unsigned int runs = 1000;
	unsigned int aside = 0, held = 0, clean = 0;
	struct bb_rng rng;

	(void)state;
	bb_rng_seed(&rng, 17);
	for (unsigned int i = 0; i < runs; i++) {
		struct places p = make_places(&rng, 9);
		struct bb_stratified s;
		struct loads l;

		draw(&p, 0.003, 0, &rng, &l);
		clean += (unsigned int)bb_strata_set_aside(l.x, l.stratum, LOADS);
		draw(&p, 0.003, 0.1, &rng, &l);
		aside += (unsigned int)bb_strata_set_aside(l.x, l.stratum, LOADS);
		if (bb_stratified_mean(l.x, l.stratum, l.share, LOADS, 0.05, &s))
			held += fabs(s.value / p.mean_ns - 1) < 0.005;
	}
	assert_true(clean < 0.01 * runs * LOADS);
	assert_true(aside > 0.08 * runs * LOADS && aside < 0.12 * runs * LOADS);
	assert_true(held > 0.9 * runs);
}

static void test_set_aside_nothing(void **state)
{
	double x[] = {NAN, 0, -1, 100, 200}, same[] = {5, 5, 5, 5};
	const int stratum[] = {0, 0, 0, 0, -1}, one[] = {3, 3, 3, 3};

	(void)state;
	assert_int_equal(bb_strata_set_aside(x, stratum, N_OF(x)), 0);
	assert_int_equal(bb_strata_set_aside(same, one, N_OF(same)), 0);
	assert_int_equal(bb_strata_set_aside(same, one, 0), 0);
}

/* A kernel with one place for a program: the mean with Student's interval. 3, 5, 7, 9 have the mean
 * 6 and s^2 = 20 / 3. */
static void test_one_stratum(void **state)
{
	static const double x[] = {3, 5, 7, 9}, share[] = {1, 1, 1, 1};
	static const int stratum[] = {16, 16, 16, 16};
	struct bb_stratified e;
	double half = bb_student_critical(0.05, 3) * sqrt(20.0 / 3 / 4);

	(void)state;
	assert_true(bb_stratified_mean(x, stratum, share, 4, 0.05, &e));
	assert_near(e.value, 6, 1e-12);
	assert_near(e.interval.lo, 6 - half, 1e-9);
	assert_near(e.interval.hi, 6 + half, 1e-9);
	assert_int_equal(e.n_strata, 1);
	assert_same(e.least, e.most);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_stratum),       cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_no_estimate),       cmocka_unit_test(test_coverage),
		cmocka_unit_test(test_repeats),           cmocka_unit_test(test_set_aside),
		cmocka_unit_test(test_set_aside_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
