/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The figures of `bpfbench overhead`, from invented turns. */
#include "unit/stats_testing.h"

#include <string.h>

#include "base/rng.h"
#include "run/overhead.h"

#define BLOCKS 14

/* Makes the turns of n blocks: the agent costs `cost`, and each turn varies by `noise` (1 sd). */
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
	/* Wall time has no verdict. */
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
	assert_false(bb_overhead__is_above(&o)); /* too few blocks for any verdict */
	assert_string_equal(o.why, "7 blocks of four turns fitted the budget, a verdict needs 8");
	assert_float_equal(o.advised_s, 40, 0);
	make(&o, turns, BB_OVERHEAD_LEAST_BLOCKS, 0.5, 0.001);
	bb_overhead__judge(&o, &opts);
	assert_true(bb_overhead__is_above(&o));

	make(&o, turns, BLOCKS, 0.03, 0.2);
	bb_overhead__judge(&o, &opts);
	assert_int_equal(o.figures[BB_OVERHEAD_CPU].verdict, BB_VERDICT_INCONCLUSIVE);
	assert_non_null(strstr(o.why, "the workload's own CPU time varies by "));
	assert_true(o.advised_s > 0);

	make(&o, turns, 0, 0, 0); /* nothing was measured */
	bb_overhead__judge(&o, &opts);
	assert_nan(o.figures[BB_OVERHEAD_CPU].ratio.value);
	assert_false(bb_overhead__is_above(&o));
}

/* Without a cost, the figure is above the limit of 0.001 % in only few of many measurements. */
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
	assert_in_range(above, 0, 14); /* 5 are expected: 0.5 % of 1000 on this side */
}

/* Outputs of three load generators (wrk 4.1, redis-benchmark 7.0, pgbench 15). */
static void test_load_generators(void **state)
{
	static const struct {
		const char *name, *text;
		struct bb_load_figures want;
	} cases[] = {
		{"wrk",
		 "Running 2s test @ http://127.0.0.1:80/\n"
		 "  Thread Stats   Avg      Stdev     Max   +/- Stdev\n"
		 "    Latency   635.91us    0.89ms  12.92ms   93.69%\n"
		 "    Req/Sec    56.20k     8.07k   62.00k    86.54%\n"
		 "  Latency Distribution\n"
		 "     50%  250.00us\n     75%  491.00us\n     90%  700.00us\n     99%    5.80ms\n"
		 "  22464657 requests in 30.00s, 17.76GB read\n"
		 "Requests/sec: 748868.53\nTransfer/sec:    606.33MB\n",
		 {{635.91e-6, 250e-6, 5.8e-3, 748868.53}}},
		{"wrk", /* without --latency */
		 "    Latency     1.50s   0.89ms  12.92ms   93.69%\nRequests/sec:   20.5\n",
		 {{1.5, NAN, NAN, 20.5}}},
		{"redis-benchmark",
		 "\"test\",\"rps\",\"avg_latency_ms\",\"min_latency_ms\",\"p50_latency_ms\","
		 "\"p95_latency_ms\",\"p99_latency_ms\",\"max_latency_ms\"\n"
		 "\"SET\",\"100000.00\",\"0.3\",\"0.1\",\"0.2\",\"0.4\",\"0.6\",\"1.2\"\n"
		 "\"GET\",\"200000.00\",\"0.1\",\"0.1\",\"0.1\",\"0.2\",\"0.2\",\"1.0\"\n",
		 {{0.2e-3, 0.15e-3, 0.4e-3, 150000}}},
		{"pgbench",
		 "latency average = 0.123 ms\nlatency stddev = 0.050 ms\n"
		 "tps = 8123.450000 (without initial connection time)\n",
		 {{0.123e-3, NAN, NAN, 8123.45}}},
	};
	static const char *const not [] = {"",
					   "\n\n",
					   "Requests/sec: x\n",
					   "tps = \n",
					   "\"a\",\"b",
					   "\"a\",\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"x\"\n",
					   "\""};
	struct bb_load_figures f;

	(void)state;
	for (size_t i = 0; i < BB_LEN(cases); i++)
		for (size_t k = 0; k < BB_N_LOAD_GENERATORS; k++) {
			const struct bb_load_figures *w = &cases[i].want;

			if (strcmp(bb_load_generators[k].name, cases[i].name))
				continue;
			assert_int_equal(bb_load_generators[k].read(cases[i].text, &f), 0);
			for (size_t x = 0; x < BB_LEN(f.x); x++)
				assert_true(isnan(w->x[x]) ? isnan(f.x[x])
							   : fabs(f.x[x] - w->x[x]) < 1e-9);
		}
	for (size_t i = 0; i < BB_LEN(not ); i++)
		for (size_t k = 0; k < BB_N_LOAD_GENERATORS; k++)
			assert_int_equal(bb_load_generators[k].read(not [i], &f), -EPROTO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_false_verdicts),
		cmocka_unit_test(test_load_generators),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
