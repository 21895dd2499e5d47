/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Placement on machines unlike this one. The loads come from an invented JIT (the linker replaces x
 * by __wrap_x, see the Makefile), which may have one place, none, or be slow.
 */
#include "unit/stats_testing.h"

#include <errno.h>
#include <time.h>

#include "base/deadline.h"
#include "run/round.h"
#include "stats/loads.h"

/* The invented machine, and its loads so far. */
static struct {
	int mod64[BB_PLACES];
	uint32_t n_places, loads;
	long load_ns;
	uint32_t fails_at; /* this load fails; 0 means none */
} jit;

int __wrap_bb_test_prog__load(struct bb_test_prog *s, struct bb_rng *rng, uint64_t where,
			      unsigned int max_tries, struct bb_err *err);
int __wrap_bb_test_prog__load(struct bb_test_prog *s, struct bb_rng *rng, uint64_t where,
			      unsigned int max_tries, struct bb_err *err)
{
	const struct timespec t = {.tv_nsec = jit.load_ns};

	assert_true(where == BB_ANYWHERE && max_tries == 1);
	if (++jit.loads == jit.fails_at)
		return bb_fail(err, -EPERM, "refused");
	if (jit.load_ns)
		nanosleep(&t, NULL);
	s->jit_mod64 = jit.n_places ? jit.mod64[bb_rng_below(rng, jit.n_places)] : -1;
	if (s->jit_mod64 >= 0)
		s->seen_mod64[s->jit_mod64]++;
	return 0;
}

bool __wrap_bb_target__is_live(const struct bb_target *t);
bool __wrap_bb_target__is_live(const struct bb_target *t)
{
	(void)t;
	return false;
}

/* Returns 1000 ns, and 2 % more for each further place. */
static double cost_of(int mod64)
{
	for (uint32_t i = 0; i < jit.n_places; i++)
		if (jit.mod64[i] == mod64)
			return 1000 * (1 + 0.02 * i);
	return 1000;
}

/* Makes a machine with n places: 8, 12, 16, ... */
static void make_machine(uint32_t n_places)
{
	memset(&jit, 0, sizeof(jit));
	jit.n_places = n_places;
	for (uint32_t i = 0; i < n_places; i++)
		jit.mod64[i] = (int)(8 + 4 * i);
}

struct drawn {
	struct bb_test_prog prog;
	struct bb_placement placement;
	double *x, *share;
	int *place;
	struct bb_stratified estimate;
	bool is_estimate;
};

/* Makes a plain run of `loads` rounds. Each is measured with an error of 0.3 %. */
static struct drawn draw(uint32_t loads, double most_s)
{
	struct drawn d = {.prog = {.target = (struct bb_target *)(uintptr_t)&jit}};
	struct bb_err err = {0};
	struct bb_rng rng;

	bb_rng_seed(&rng, 15);
	d.x = calloc(loads, sizeof(*d.x));
	d.share = calloc(loads, sizeof(*d.share));
	d.place = calloc(loads, sizeof(*d.place));
	assert_true(d.x && d.share && d.place);
	assert_int_equal(bb_placement__find(&d.placement, &d.prog, &rng, most_s, &err), 0);
	for (uint32_t i = 0; i < loads; i++) {
		assert_int_equal(bb_placement__load(&d.placement, &d.prog, &rng, &err), 0);
		d.place[i] = d.prog.jit_mod64;
		d.x[i] = cost_of(d.place[i]) * (1 + 0.003 * bb_rng_normal(&rng));
	}
	for (uint32_t i = 0; i < loads; i++)
		d.share[i] = bb_placement_share(&d.prog, d.place[i]);
	d.is_estimate = bb_stratified_mean(d.x, d.place, d.share, loads, 0.05, &d.estimate);
	return d;
}

static void free_drawn(struct drawn *d)
{
	free(d->x);
	free(d->share);
	free(d->place);
}

static double expected(void)
{
	return 1000 * (1 + 0.02 * (jit.n_places - 1) / 2.0);
}

/* Every place gets as many loads as the others, and the estimate is the mean over the places. */
static void test_places(void **state)
{
	const uint32_t places[] = {1, 2, 9, 14};

	(void)state;
	for (size_t k = 0; k < N_OF(places); k++) {
		struct drawn d;

		make_machine(places[k]);
		d = draw(28, 1e9);
		for (uint32_t i = 0; i < places[k]; i++) {
			uint32_t taken = d.placement.taken[jit.mod64[i]];

			assert_true(taken == 28 / places[k] ||
				    taken == (28 + places[k] - 1) / places[k]);
		}
		assert_true(d.is_estimate);
		assert_int_equal(d.estimate.n_strata, places[k]);
		assert_near(d.estimate.value, expected(), 3);
		assert_true(d.estimate.interval.lo < expected() &&
			    d.estimate.interval.hi > expected());
		free_drawn(&d);
	}
}

/* A kernel with one place: no more loads than are needed to find that out. */
static void test_one_place(void **state)
{
	struct drawn d;

	(void)state;
	make_machine(1);
	d = draw(28, 1e9);
	assert_int_equal(jit.loads, 100 + 28);
	assert_true(d.is_estimate);
	assert_same(d.estimate.least, d.estimate.most);
	assert_same(d.share[0], 1);
	free_drawn(&d);
}

/* 10 000 loads: the places differ by at most one load, and the interval is as narrow as expected: 2
 * * 0.3 % / sqrt(10 000). */
static void test_ten_thousand_loads(void **state)
{
	struct drawn d;

	(void)state;
	make_machine(9);
	d = draw(10000, 1e9);
	for (uint32_t i = 0; i < 9; i++)
		assert_true(d.placement.taken[jit.mod64[i]] - 10000 / 9 <= 1);
	assert_true(d.is_estimate);
	assert_near(d.estimate.value, expected(), 0.2);
	assert_true(d.estimate.interval.hi - d.estimate.interval.lo < 0.15);
	free_drawn(&d);
}

/*
 * A program that is slow to load, in small: as 5 s a load where 2 s are allowed. It stays where
 * chance puts it, and no estimate claims to know the places.
 */
static void test_slow_load(void **state)
{
	struct drawn d;

	(void)state;
	make_machine(9);
	jit.load_ns = 5000000;
	d = draw(6, 2e-3);
	assert_int_equal(jit.loads, 1 + 6); /* the first shows how long a load takes */
	assert_false(d.is_estimate);
	assert_nan(d.share[0]);
	free_drawn(&d);
	/* There is time for some further loads. Never more time is spent than allowed. */
	make_machine(9);
	jit.load_ns = 5000000;
	d = draw(6, 50e-3);
	assert_true(jit.loads <= 6 + 10);
	free_drawn(&d);
}

/* Without a JIT, or if the kernel hides addresses. */
static void test_no_place(void **state)
{
	struct drawn d;

	(void)state;
	make_machine(0);
	d = draw(28, 1e9);
	assert_int_equal(jit.loads, 1 + 28);
	assert_int_equal(d.place[0], -1);
	assert_nan(d.share[0]);
	assert_false(d.is_estimate);
	free_drawn(&d);
}

/* A machine that no longer gives one of the places, as with another kernel's allocator. The loads
 * go on while there is time. */
static void test_place_that_is_gone(void **state)
{
	struct bb_test_prog prog = {.target = (struct bb_target *)(uintptr_t)&jit};
	struct bb_placement p;
	struct bb_err err = {0};
	struct bb_rng rng;

	(void)state;
	bb_rng_seed(&rng, 16);
	make_machine(4);
	assert_int_equal(bb_placement__find(&p, &prog, &rng, 50e-3, &err), 0);
	jit.n_places = 3;
	jit.load_ns = 1000000;
	for (int i = 0; i < 12; i++)
		assert_int_equal(bb_placement__load(&p, &prog, &rng, &err), 0);
	assert_true(p.spent_s <= p.most_s + p.load_s);
	assert_int_equal(p.taken[jit.mod64[0]] + p.taken[jit.mod64[1]] + p.taken[jit.mod64[2]], 12);
}

static void test_failures(void **state)
{
	struct bb_test_prog prog = {.target = (struct bb_target *)(uintptr_t)&jit};
	struct bb_placement p;
	struct bb_err err = {0};
	struct bb_rng rng;

	(void)state;
	bb_rng_seed(&rng, 17);
	make_machine(4);
	jit.fails_at = 3;
	assert_int_equal(bb_placement__find(&p, &prog, &rng, 1e9, &err), -EPERM);
	assert_string_equal(err.msg, "refused");
	/* A signal ends the search but not the run. */
	make_machine(4);
	bb_stop_signal = 15;
	assert_int_equal(bb_placement__find(&p, &prog, &rng, 1e9, &err), 0);
	assert_int_equal(jit.loads, 0);
	assert_int_equal(bb_placement__load(&p, &prog, &rng, &err), 0);
	assert_int_equal(jit.loads, 1);
	bb_stop_signal = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_one_place),
		cmocka_unit_test(test_ten_thousand_loads),
		cmocka_unit_test(test_slow_load),
		cmocka_unit_test(test_no_place),
		cmocka_unit_test(test_place_that_is_gone),
		cmocka_unit_test(test_failures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
