/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The figures of `bpfbench overhead` from turns that are made up. */
#include "unit/stats_testing.h"

#include <string.h>

#include "base/rng.h"
#include "run/overhead.h"

#define BLOCKS 14

/* Turns of n blocks: the agent costs `cost`, and each turn varies by `noise` (1 sd). */
static void make(struct bb_overhead *o, struct bb_overhead_turn *turns, size_t n, double cost,
		 double noise)
{
	struct bb_rng rng;

	bb_rng_seed(&rng, 1);
	*o = (struct bb_overhead){.turns = turns, .n_turns = 4 * n, .n_blocks = n};
	o->elapsed_s = 4 * (double)n;
	for (size_t i = 0; i < 4 * n; i++) {
		bool is_head = (i % 4 == 1 || i % 4 == 2) != (i / 4 % 2);
		double s = (1 + (is_head ? cost : 0)) * (1 + noise * bb_rng_normal(&rng));

		turns[i] = (struct bb_overhead_turn){.block = (uint32_t)(i / 4),
						     .is_head = is_head,
						     .s = {s, NAN, s, NAN}};
		turns[i].agent_s = is_head ? 0.01 : 0;
	}
}

static void test_verdicts(void **state)
{
	struct bb_overhead_turn turns[4 * BLOCKS];
	struct bb_overhead_opts opts = {.max = 0.01};
	struct bb_overhead o;

	(void)state;
	make(&o, turns, BLOCKS, 0.03, 0.005);
	bb_overhead__judge(&o, &opts);
	assert_near(o.figures[BB_OVERHEAD_CPU].ratio.value, 1.03, 0.005);
	assert_int_equal(o.figures[BB_OVERHEAD_CPU].verdict, BB_VERDICT_REGRESSED);
	assert_true(bb_overhead__is_above(&o));
	assert_string_equal(o.why, "");
	assert_nan(o.figures[BB_OVERHEAD_MACHINE].ratio.value);
	assert_int_equal(o.figures[BB_OVERHEAD_MACHINE].verdict, BB_VERDICT_INCONCLUSIVE);
	/* wall time has no verdict */
	assert_int_equal(o.figures[BB_OVERHEAD_WALL].verdict, BB_VERDICT_INCONCLUSIVE);
	assert_near(o.agent_s, 0.01, 1e-12);
	assert_near(bb_overhead__unexplained_s(&o), 0.02, 0.006);

	opts.max = 0.05;
	bb_overhead__judge(&o, &opts);
	assert_int_equal(o.figures[BB_OVERHEAD_CPU].verdict, BB_VERDICT_SAME);
	assert_false(bb_overhead__is_above(&o));
}

static void test_reasons(void **state)
{
	struct bb_overhead_turn turns[4 * BLOCKS];
	struct bb_overhead_opts opts = {.max = 0.03};
	struct bb_overhead o;

	(void)state;
	make(&o, turns, BB_OVERHEAD_LEAST_BLOCKS - 1, 0.5, 0.001);
	bb_overhead__judge(&o, &opts);
	assert_false(bb_overhead__is_above(&o)); /* too few, whatever they say */
	assert_string_equal(o.why, "7 blocks of four turns fitted the budget, a verdict needs 8: "
				   "--budget 40");
	make(&o, turns, BB_OVERHEAD_LEAST_BLOCKS, 0.5, 0.001);
	bb_overhead__judge(&o, &opts);
	assert_true(bb_overhead__is_above(&o));

	make(&o, turns, BLOCKS, 0.03, 0.2);
	bb_overhead__judge(&o, &opts);
	assert_int_equal(o.figures[BB_OVERHEAD_CPU].verdict, BB_VERDICT_INCONCLUSIVE);
	assert_non_null(strstr(o.why, "the workload's own CPU time varies by "));
	assert_non_null(strstr(o.why, "--budget "));

	make(&o, turns, 0, 0, 0); /* nothing was measured */
	bb_overhead__judge(&o, &opts);
	assert_nan(o.figures[BB_OVERHEAD_CPU].ratio.value);
	assert_false(bb_overhead__is_above(&o));
}

/* No cost: at the limit of 0.001 % it is above in few of many measurements. */
static void test_false_verdicts(void **state)
{
	const struct bb_overhead_opts opts = {.max = 1e-5};
	struct bb_overhead_turn turns[4 * BLOCKS];
	struct bb_overhead o;
	struct bb_rng rng;
	int above = 0;

	(void)state;
	bb_rng_seed(&rng, 7);
	for (int i = 0; i < 1000; i++) {
		make(&o, turns, BLOCKS, 0, 0);
		for (size_t k = 0; k < o.n_turns; k++)
			turns[k].s[BB_OVERHEAD_CPU] = 1 + 0.02 * bb_rng_normal(&rng);
		bb_overhead__judge(&o, &opts);
		above += bb_overhead__is_above(&o);
	}
	assert_in_range(above, 0, 14); /* 5 are expected, of 1000 at 1 % of two sides */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_false_verdicts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
