/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit/stats_testing.h"

#include "base/rng.h"
#include "stats/paired.h"
#include "stats/verdict.h"

/*
 * The whole comparison of docs/methods/two-programs.md on simulated machines: load pairs, blocks
 * ABBA or BAAB at random, block statistic, median of a pair, Hodges-Lehmann interval, verdict. All
 * depends on the seed only.
 */
#define N_PAIRS 24
#define N_BLOCKS 6
#define RUN 16 /* calls in a turn; a block has two turns of each label */

/* A machine: everything that lies between a program's cost and a reading of the clock. */
struct machine {
	const char *name;
	double cost_ns;
	double sigma; /* of ln cost, per call */
	double ar1;   /* correlation of that noise from call to call */
	double tick_ns;
	/* share of calls that a preemption hits: 1 us to 100 ms more, log-uniform */
	double outliers;
	double drift;  /* slow drift of ln cost over one experiment */
	double layout; /* sigma of ln cost, per load; both loads of a pair have the same */
};

static const struct machine machines[] = {
	{"plain, 1 ns", 700, 0.05, 0, 1, 0.02, 0, 0},
	{"40 ns clock", 700, 0.05, 0, 40, 0.02, 0, 0.08},
	{"40 ns clock, cost of two ticks", 90, 0.1, 0, 40, 0.02, 0, 0},
	{"drift of 30 %", 700, 0.05, 0, 1, 0.02, 0.3, 0},
	{"autocorrelation 0.9", 700, 0.02, 0.9, 1, 0.02, 0, 0.08},
	{"heavy tails", 700, 0.15, 0.3, 1, 0.10, 0.1, 0.08},
};

struct clock {
	const struct machine *machine;
	struct bb_rng rng;
	double noise; /* state of the AR(1) process */
	size_t calls, calls_total;
};

static uint64_t call_ns(struct clock *c, double log_cost)
{
	const struct machine *m = c->machine;
	double at = (double)c->calls++ / (double)c->calls_total, start, cost;

	c->noise = m->ar1 * c->noise + m->sigma * bb_rng_normal(&c->rng);
	cost = exp(log_cost + c->noise + m->drift * (at + 0.5 * sin(6 * at)));
	if (bb_rng_double(&c->rng) < m->outliers)
		cost += 1e3 * exp(log(1e5) * bb_rng_double(&c->rng));
	start = bb_rng_double(&c->rng) * m->tick_ns;
	return (uint64_t)(floor((start + cost) / m->tick_ns) * m->tick_ns);
}

static double one_block(struct clock *c, double log_a, double log_b)
{
	uint64_t a[2 * RUN], b[2 * RUN];
	size_t na = 0, nb = 0;
	double scratch[4 * RUN];
	struct bb_ab_block block;
	int coin = (int)bb_rng_below(&c->rng, 2);

	for (int run = 0; run < 4; run++) {
		int is_b = (run == 1 || run == 2) ^ coin;

		for (int i = 0; i < RUN; i++) {
			if (is_b)
				b[nb++] = call_ns(c, log_b);
			else
				a[na++] = call_ns(c, log_a);
		}
	}
	block = bb_ab_block_difference(a, na, b, nb, c->machine->tick_ns, scratch);
	return block.d;
}

/* Computes the pair differences D[N_PAIRS] of one comparison. In ln, head is slower by `shift`. */
static void compare(const struct machine *m, double shift, uint64_t seed, double *ret_d)
{
	struct clock c = {.machine = m, .calls_total = N_PAIRS * N_BLOCKS * 4 * RUN};

	bb_rng_seed(&c.rng, seed);
	for (size_t pair = 0; pair < N_PAIRS; pair++) {
		double cost = log(m->cost_ns) + m->layout * bb_rng_normal(&c.rng), d[N_BLOCKS];

		for (size_t i = 0; i < N_BLOCKS; i++)
			d[i] = one_block(&c, cost, cost + shift);
		ret_d[pair] = bb_ab_pair_difference(d, N_BLOCKS, NULL);
	}
}

struct tally {
	int n, excluded_truth, verdicts[BB_N_VERDICTS];
};

static struct tally experiments(const struct machine *m, double shift, int n)
{
	struct tally t = {.n = n};

	for (int i = 0; i < n; i++) {
		struct bb_signed_rank result;
		double d[N_PAIRS];

		compare(m, shift, 1000 + (uint64_t)i, d);
		result = bb_signed_rank(d, N_PAIRS, 0.05);
		t.excluded_truth += result.interval.lo > shift || result.interval.hi < shift;
		t.verdicts[bb_verdict_of(result.interval, 0.01)]++;
	}
	return t;
}

/* A/A: on every machine, the random order alone makes 5 % of the intervals miss 0. None says 1 % in
 * either direction. */
static void test_a_a(void **state)
{
	int missed = 0, n = 0;

	(void)state;
	for (size_t i = 0; i < N_OF(machines); i++) {
		struct tally t = experiments(&machines[i], 0, 60);

		if (t.excluded_truth > binomial_allowance(t.n, 0.05))
			fail_msg("%s: %d of %d intervals miss 0", machines[i].name,
				 t.excluded_truth, t.n);
		if (t.verdicts[BB_VERDICT_REGRESSED] + t.verdicts[BB_VERDICT_IMPROVED])
			fail_msg("%s: a false verdict", machines[i].name);
		missed += t.excluded_truth;
		n += t.n;
	}
	assert_true(missed <= binomial_allowance(n, 0.05));
	assert_true(missed > 0);
}

/* +4 % is found on every machine but the coarse one with a cost of two ticks. It is never called an
 * improvement, and its size is right. */
static void test_power(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_OF(machines); i++) {
		struct tally t = experiments(&machines[i], log(1.04), 40);
		int found = t.verdicts[BB_VERDICT_REGRESSED];

		if (machines[i].cost_ns > 100 && found < 0.9 * t.n)
			fail_msg("%s: +4 %% found in %d of %d", machines[i].name, found, t.n);
		if (t.excluded_truth > binomial_allowance(t.n, 0.05))
			fail_msg("%s: %d of %d intervals miss +4 %%", machines[i].name,
				 t.excluded_truth, t.n);
		assert_int_equal(t.verdicts[BB_VERDICT_IMPROVED], 0);
	}
}

/* The same seed gives the same bits, another seed others. */
static void test_seed(void **state)
{
	double one[N_PAIRS], two[N_PAIRS];

	(void)state;
	compare(&machines[1], 0.02, 9, one);
	compare(&machines[1], 0.02, 9, two);
	assert_memory_equal(one, two, sizeof(one));
	compare(&machines[1], 0.02, 10, two);
	assert_memory_not_equal(one, two, sizeof(one));
}

/* A program with a constant time on an exact clock: the verdict is `same`, and not
 * `inconclusive`. */
static void test_constant(void **state)
{
	static const struct machine still = {"constant", 700.5, 0, 0, 1, 0, 0, 0};
	static const struct machine stepped =
		{"constant, 700 ns tick", 700 * 4, 0, 0, 700, 0, 0, 0};
	struct tally t = experiments(&still, 0, 3);

	(void)state;
	assert_int_equal(t.verdicts[BB_VERDICT_SAME], 3);
	assert_int_equal(t.excluded_truth, 0);
	t = experiments(&stepped, 0, 3);
	assert_int_equal(t.verdicts[BB_VERDICT_SAME], 3);
	t = experiments(&still, log(1.5), 3);
	assert_int_equal(t.verdicts[BB_VERDICT_REGRESSED], 3);
}

/* Looking after every pair: it stops for a difference before the 24 pairs are done, and rarely for
 * none. */
static void test_sequential(void **state)
{
	int false_stops = 0, stops = 0;

	(void)state;
	for (int i = 0; i < 100; i++) {
		for (int shifted = 0; shifted < 2; shifted++) {
			struct bb_interval interval;
			double d[N_PAIRS];

			compare(&machines[3], shifted ? log(1.04) : 0, 5000 + (uint64_t)i, d);
			for (size_t n = 1; n <= N_PAIRS; n++) {
				interval = bb_eprocess_interval(d, n, 0.05);
				if (bb_verdict_of(interval, 0.01) == BB_VERDICT_REGRESSED) {
					stops += shifted;
					false_stops += !shifted;
					break;
				}
			}
		}
	}
	assert_true(stops >= 90);
	assert_int_equal(false_stops, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_a),        cmocka_unit_test(test_power),
		cmocka_unit_test(test_seed),       cmocka_unit_test(test_constant),
		cmocka_unit_test(test_sequential),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
