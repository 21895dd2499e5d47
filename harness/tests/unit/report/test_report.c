/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/text.h"
#include "unit/report_testing.h"

static void test_grows_and_frees(void **state)
{
	struct bb_report *r = make_report("x");

	(void)state;
	for (uint32_t i = 0; i < 100; i++) {
		size_t at = make_case(r, "v", "step", "stack_depth", i);

		assert_int_equal(at, i);
		assert_int_equal(r->cases[at].floor, BB_NO_FLOOR);
		for (uint32_t k = 0; k < i; k++)
			add_samples(make_series(r, at, k), 100 + k, 1);
	}
	assert_int_equal(r->n_cases, 100);
	assert_int_equal(r->cases[99].n_series, 99);
	assert_int_equal(r->cases[99].series[98].hist.min_ns, 198);
	assert_ptr_equal(bb_report__find_case(r, "perf_profiler/v/step/stack_depth=42"),
			 &r->cases[42]);
	assert_null(bb_report__find_case(r, "perf_profiler/v/step/stack_depth=100"));
	for (int i = 0; i < 5; i++)
		bb_report__add_skip(r, "what", "why");
	assert_int_equal(r->n_skips, 5);
	for (int i = 0; i < 5; i++)
		make_program(r, i == 3 ? "third" : "other", "p");
	assert_int_equal(r->n_programs, 5);
	assert_ptr_equal(bb_report__find_program(r, "perf_profiler/third"), &r->programs[3]);
	assert_null(bb_report__find_program(r, "perf_profiler/fourth"));
	bb_report__free(r);
	bb_report__free(NULL);
}

/* Figures that are not known are NAN and not 0. */
static void test_new_is_absent(void **state)
{
	struct bb_report *r = bb_report__new();
	struct bb_case *c = BB_ADD(bb_case_record, r, cases);
	struct bb_series *s = BB_ADD(bb_series_record, c, series);

	(void)state;
	assert_nan(r->steal);
	assert_nan(s->target_cpu_s);
	assert_nan(s->steal);
	assert_int_equal(s->jit_mod64, -1);
	for (size_t i = 0; i < bb_n_metrics; i++)
		assert_nan(bb_metric_of(&c->summary, &bb_metrics[i])->value);
	for (size_t i = 0; i < bb_n_static_metrics; i++)
		assert_nan(bb_static_of(&BB_ADD(bb_program_record, r, programs)->metrics,
					&bb_static_metrics[i]));
	bb_report__free(r);
}

/*
 * The location of constant samples is that constant. Six loads are the fewest with an interval at 5
 * %, 2 / 2^6 = 0.031: from the first to the last order statistic (David & Nagaraja 2003, section
 * 7.1).
 */
static void test_latency_over_loads(void **state)
{
	struct bb_report *r = make_report("x");
	size_t i = make_case(r, "v", "step", NULL, 0);
	static const uint64_t at[] = {700, 720, 710, 740, 730, 750};

	(void)state;
	for (uint32_t k = 0; k < 6; k++)
		add_samples(make_series(r, i, k), at[k], 40);
	bb_report__summarise(r);
	assert_near(r->cases[i].summary.latency.value, 725);
	assert_near(r->cases[i].summary.latency.lo, 700);
	assert_near(r->cases[i].summary.latency.hi, 750);
	assert_int_equal(r->cases[i].summary.loads, 6);
	assert_int_equal(r->cases[i].summary.samples, 240);
	/* Type 7 quantiles of 700..750: p10 = 705, p90 = 745. */
	assert_near(r->cases[i].summary.layout_spread.value, 745.0 / 705);
	assert_near(r->cases[i].summary.outlier_share.value, 0);
	assert_nan(r->cases[i].summary.floor.value);
	assert_nan(r->cases[i].summary.net.value);
	assert_nan(r->cases[i].summary.rate_achieved.value);
	assert_nan(r->cases[i].summary.rate_requested.value);
	bb_report__free(r);
}

static struct bb_class *make_class(struct bb_series *s, uint32_t value, uint64_t ns, uint64_t n)
{
	struct bb_class *class = BB_ADD(bb_class_record, s, classes);

	class->value = value;
	class->returned = strdup(value == 1 ? "1 (XDP_DROP)" : "2 (XDP_PASS)");
	bb_hist_add(&class->hist, ns, n);
	add_samples(s, ns, n);
	return class;
}

/*
 * A mix: 98 runs of 20 ns, and 2 of 1000 ns with another return value. The mean is 39.6. Without
 * classes, the two would be outliers and the latency 20.
 */
static void test_latency_of_mix(void **state)
{
	struct bb_report *r = make_report("x");
	size_t i = make_case(r, "v", "step", NULL, 0);
	struct bb_class_cost *costs;

	(void)state;
	for (uint32_t k = 0; k < 6; k++) {
		struct bb_series *s = make_series(r, i, k);

		make_class(s, 1, 1000, 2);
		make_class(s, 2, 20, 98);
	}
	bb_report__summarise(r);
	assert_near(r->cases[i].summary.latency.value, 39.6);
	assert_near(r->cases[i].summary.outlier_share.value, 0);
	assert_int_equal(bb_case__class_costs(&r->cases[i], &costs), 2);
	assert_int_equal(costs[0].value, 2);
	assert_near(costs[0].share, 0.98);
	assert_near(costs[0].ns, 20);
	assert_string_equal(costs[1].returned, "1 (XDP_DROP)");
	assert_near(costs[1].ns, 1000);
	free(costs);

	/* Some runs with one return value take another path. */
	make_class(&r->cases[i].series[0], 2, 300, 10)->path = strdup("through a.c:7");
	assert_int_equal(bb_case__class_costs(&r->cases[i], &costs), 3);
	assert_string_equal(costs[2].path, "through a.c:7");
	assert_int_equal(costs[2].value, 2);
	assert_near(costs[2].runs, 10);
	assert_near(costs[2].ns, 300);
	free(costs);
	bb_report__free(r);
}

/*
 * Loads at known places: 8 loads of 700 and 900 ns in turns, one of which is disturbed. The other 7
 * give (700 + 900) / 2, because every place counts as much as its share.
 */
static void test_latency_by_place(void **state)
{
	struct bb_report *r = make_report("x");
	size_t i = make_case(r, "v", "step", NULL, 0);
	double ns[8];

	(void)state;
	for (uint32_t k = 0; k < 8; k++) {
		struct bb_series *s = make_series(r, i, k);

		s->jit_mod64 = k % 2 ? 12 : 8;
		s->jit_share = 0.5;
		add_samples(s, k == 5 ? 1500 : k % 2 ? 900 : 700, 40);
	}
	bb_report__summarise(r);
	assert_near(r->cases[i].summary.latency.value, 800);
	assert_near(r->cases[i].summary.layout_best.value, 700);
	assert_near(r->cases[i].summary.layout_worst.value, 900);
	assert_int_equal(r->cases[i].summary.places, 2);
	assert_int_equal(r->cases[i].summary.loads, 7);
	assert_int_equal(r->cases[i].summary.voids, 1);
	bb_case__locations(&r->cases[i], ns);
	assert_near(ns[4], 700);
	assert_nan(ns[5]);
	/* If a third place was never drawn, or nothing is known of it, the median is used. */
	for (uint32_t k = 0; k < 8; k++)
		r->cases[i].series[k].jit_share = 0.4;
	bb_report__summarise(r);
	assert_int_equal(r->cases[i].summary.places, 0);
	assert_near(r->cases[i].summary.latency.value, 700);
	assert_nan(r->cases[i].summary.layout_best.value);
	bb_report__free(r);
}

static void test_few_loads(void **state)
{
	struct bb_report *r = make_report("x");
	size_t one = make_case(r, "one", "step", NULL, 0),
	       two = make_case(r, "two", "step", NULL, 0);

	(void)state;
	add_samples(make_series(r, one, 0), 700, 99);
	add_samples(make_series(r, two, 0), 700, 500);
	add_samples(make_series(r, two, 1), 800, 500);
	bb_report__summarise(r);
	assert_near(r->cases[one].summary.latency.value, 700);
	assert_nan(r->cases[one].summary.latency.lo);
	assert_nan(r->cases[one].summary.latency.hi);
	assert_nan(r->cases[one].summary.layout_spread.value);
	assert_near(r->cases[one].summary.p50.value, 700);
	assert_nan(r->cases[one].summary.p90.value); /* 99 samples are too few */
	assert_near(r->cases[two].summary.latency.value, 750);
	assert_nan(r->cases[two].summary.latency.lo);
	assert_nan(r->cases[two].summary.layout_spread.value);
	assert_near(r->cases[two].summary.p90.value, 800);
	assert_near(r->cases[two].summary.p99.value, 800); /* 1000 samples are just enough */
	bb_report__free(r);
}

/* An outlier counts in the naive mean and in the shares, but not in the latency. */
static void test_outlier(void **state)
{
	struct bb_report *r = make_report("x");
	size_t i = make_case(r, "v", "step", NULL, 0);
	struct bb_series *s = make_series(r, i, 0);

	(void)state;
	add_samples(s, 700, 999);
	add_samples(s, 300700, 1);
	bb_report__summarise(r);
	assert_near(r->cases[i].summary.latency.value, 700);
	assert_near(r->cases[i].summary.naive_mean.value, 1000);
	assert_near(r->cases[i].summary.outlier_share.value, 0.001);
	/* 300700 of 10^6 ns. The histogram keeps 12 bits. */
	assert_near_by(r->cases[i].summary.outlier_time_share.value, 0.3007, 1e-4);
	bb_report__free(r);
}

static void test_void_series_do_not_count(void **state)
{
	struct bb_report *r = make_report("x");
	size_t i = make_case(r, "v", "step", NULL, 0), all = make_case(r, "w", "step", NULL, 0);
	struct bb_series *s;

	(void)state;
	add_samples(make_series(r, i, 0), 700, 10);
	s = make_series(r, i, 1);
	add_samples(s, 9000, 1000000);
	s->drops = 7;
	s->steal = 0.9;
	set_text(&s->void_why, "misses");
	make_series(r, i, 2); /* a valid series without samples */
	s = make_series(r, all, 0);
	add_samples(s, 700, 10);
	set_text(&s->void_why, "misses");
	bb_report__summarise(r);
	assert_near(r->cases[i].summary.latency.value, 700);
	assert_near(r->cases[i].summary.naive_mean.value, 700);
	assert_near(r->cases[i].summary.p50.value, 700);
	assert_near(r->cases[i].summary.drops.value, 0);
	assert_near(r->cases[i].summary.steal.value, 0.25);
	assert_int_equal(r->cases[i].summary.voids, 1);
	assert_int_equal(r->cases[i].summary.loads, 1);
	assert_int_equal(r->cases[i].summary.samples, 10);
	assert_int_equal(r->cases[all].summary.voids, 1);
	for (size_t k = 0; k < bb_n_metrics; k++)
		assert_nan(bb_metric_of(&r->cases[all].summary, &bb_metrics[k])->value);
	bb_report__free(r);
}

/* Loads are paired by their number, whatever the order. Loads that the floor lacks are left out. */
static void test_net_is_paired_by_load(void **state)
{
	struct bb_report *r = make_report("x");
	size_t empty = make_case(r, "empty", "step", NULL, 0),
	       v = make_case(r, "v", "step", NULL, 0);

	(void)state;
	r->cases[empty].floor = empty;
	r->cases[v].floor = empty;
	for (uint32_t load = 0; load < 7; load++)
		add_samples(make_series(r, v, load), 700 + 100 * load, 10);
	for (uint32_t load = 6; load > 0; load--)
		add_samples(make_series(r, empty, load), 50 + 99 * load, 10);
	bb_report__summarise(r);
	assert_near(r->cases[v].summary.latency.value, 1000);
	assert_near(r->cases[v].summary.floor.value, 50 + 99 * 3.5);
	/* 650 + load for load = 1..6, and not the difference of the medians. */
	assert_near(r->cases[v].summary.net.value, 653.5);
	assert_near(r->cases[v].summary.net.lo, 651);
	assert_near(r->cases[v].summary.net.hi, 656);
	assert_nan(r->cases[empty].summary.net.value);
	assert_nan(r->cases[empty].summary.floor.value);
	bb_report__free(r);
}

/* If the floor differs between runs, the program differs by as many ns. */
static void test_what_moves_between_runs(void **state)
{
	struct bb_report *r = make_report("r");
	size_t empty = make_case(r, "empty", "step", NULL, 0),
	       v = make_case(r, "ringbuf", "step", NULL, 0);
	struct bb_summary *s, before;

	(void)state;
	for (uint32_t load = 0; load < 8; load++) {
		add_samples(make_series(r, empty, load), 100 + load, 10);
		add_samples(make_series(r, v, load), 1000 + 2 * load, 10);
	}
	r->cases[v].floor = empty;
	bb_report__summarise(r);
	s = &r->cases[v].summary;
	before = *s;
	r->cases[empty].between = r->cases[v].between_floor = 0.02;
	r->cases[v].between = 0.01;
	bb_report__summarise(r);
	assert_near(s->latency.value - s->latency.lo,
		    hypot(before.latency.value - before.latency.lo,
			  hypot(0.01 * before.latency.value, 0.02 * before.floor.value)));
	assert_near(s->net.hi - s->net.value,
		    hypot(before.net.hi - before.net.value,
			  hypot(0.01 * before.latency.value, 0.02 * before.floor.value)));
	assert_near(s->floor.lo, r->cases[empty].summary.latency.lo);
	assert_true(s->floor.lo < before.floor.lo);
	bb_report__free(r);
}

/* A drive that measures an empty program in each series needs no other case as a floor. */
static void test_net_above_own_floor(void **state)
{
	struct bb_report *r = make_report("x");
	size_t v = make_case(r, "v", "hook", NULL, 0);

	(void)state;
	for (uint32_t load = 0; load < 7; load++) {
		struct bb_series *s = make_series(r, v, load);

		add_samples(s, 700 + 100 * load, 1);
		s->floor_ns = 650 + 99 * load;
	}
	r->cases[v].series[3].floor_ns = NAN; /* the empty program was not measured in this load */
	bb_report__summarise(r);
	assert_near(r->cases[v].summary.latency.value, 1000);
	assert_near(r->cases[v].summary.floor.value, 650 + 99 * 3);
	assert_near(r->cases[v].summary.net.value, 53);
	assert_near(r->cases[v].summary.net.lo, 50);
	assert_near(r->cases[v].summary.net.hi, 56);
	bb_report__free(r);
}

static void test_net_may_be_negative_or_absent(void **state)
{
	struct bb_report *r = make_report("x");
	size_t v = make_case(r, "v", "step", NULL, 0), w = make_case(r, "w", "step", NULL, 0);
	size_t empty = make_case(r, "empty", "step", NULL, 0);
	struct bb_series *s;

	(void)state;
	r->cases[v].floor = r->cases[w].floor = empty;
	add_samples(make_series(r, v, 0), 50, 10);
	add_samples(make_series(r, w, 1), 50, 10);
	add_samples(make_series(r, empty, 0), 60, 10);
	s = make_series(r, empty, 1);
	add_samples(s, 60, 10);
	set_text(&s->void_why, "why");
	bb_report__summarise(r);
	assert_near(r->cases[v].summary.net.value, -10);
	assert_nan(r->cases[v].summary.net.lo);
	assert_nan(r->cases[w].summary.net.value); /* the only load of the floor for it is void */
	assert_near(r->cases[w].summary.floor.value, 60);
	bb_report__free(r);
}

static void test_counts(void **state)
{
	struct bb_report *r = make_report("x");
	size_t i = make_case(r, "v", "in-situ", "freq_hz", 100);
	struct bb_series *s;

	(void)state;
	s = make_series(r, i, 0);
	add_samples(s, 700, 90);
	s->target_cpu_s = 1;
	s->elapsed_s = 3;
	s->steal = 0.1;
	s->drops = 2;
	s = make_series(r, i, 1);
	add_samples(s, 700, 150);
	s->target_cpu_s = 2;
	s->elapsed_s = 1;
	s->steal = 0.5;
	s->drops = 3;
	s = make_series(r, i, 2);
	add_samples(s, 700, 1000);
	s->target_cpu_s = NAN; /* neither its runs nor its time count for the rate */
	s->steal = NAN;
	bb_report__summarise(r);
	assert_near(r->cases[i].summary.rate_achieved.value, 80);
	assert_near(r->cases[i].summary.rate_requested.value, 100);
	assert_near(r->cases[i].summary.steal.value, 0.2); /* weighted by elapsed time */
	assert_near(r->cases[i].summary.drops.value, 5);
	bb_report__free(r);
}

/* The rate of events is by wall time, however many runs each causes. */
static void test_rate_of_events(void **state)
{
	struct bb_report *r = make_report("x");
	size_t i = make_case(r, "v", "in-situ-http", "rate_hz", 50);

	(void)state;
	for (uint32_t load = 0; load < 2; load++) {
		struct bb_series *s = make_series(r, i, load);

		add_samples(s, 700, 90);
		s->events = 10 + load;
		s->elapsed_s = 0.25;
	}
	bb_report__summarise(r);
	assert_near(r->cases[i].summary.rate_achieved.value, 42);
	assert_near(r->cases[i].summary.rate_requested.value, 50);
	bb_report__free(r);
}

static void test_summarise_twice(void **state)
{
	struct bb_report *r = make_sample_report();
	struct bb_summary before = r->cases[1].summary;

	(void)state;
	assert_int_equal(before.voids, 2);
	bb_report__summarise(r);
	assert_memory_equal(&r->cases[1].summary, &before, sizeof(before));
	bb_report__free(r);
}

/* The relative latency is in pieces of the run's instructions. For a program that wakes its reader,
 * it is in wakeups of the same round. */
static void test_relative(void **state)
{
	struct bb_report *r = make_report("x");
	size_t i = make_case(r, "v", "step", NULL, 0);
	struct bb_case *c = &r->cases[i];

	(void)state;
	for (uint32_t k = 0; k < 6; k++) {
		struct bb_series *s = make_series(r, i, k);

		/* In every other round, wakeups take half as much more time. */
		add_samples(s, k % 2 ? 600 : 400, 40);
		/* In one round, something disturbed the reference. */
		s->reference_ns[BB_REFERENCE_INSTRUCTIONS] = k == 3 ? 190 : 125;
		s->reference_ns[BB_REFERENCE_WAKEUP] = k % 2 ? 1200 : 800;
	}
	bb_report__summarise(r);
	assert_near(c->summary.latency.value, 500);
	assert_near(c->summary.relative.value, 4);
	assert_near(c->summary.relative.lo, 3.2);
	assert_near(c->summary.relative.hi, 4.8);
	assert_near(c->summary.reference[BB_REFERENCE_INSTRUCTIONS].value, 125);
	assert_nan(c->summary.reference[BB_REFERENCE_MEMORY].value);
	c->wakeups = 1;
	bb_report__summarise(r);
	assert_near(c->summary.relative.value, 0.5);
	assert_near(c->summary.relative.lo, 0.5);
	assert_near(c->summary.relative.hi, 0.5);
	for (size_t k = 0; k < 6; k++)
		c->series[k].reference_ns[BB_REFERENCE_WAKEUP] = NAN;
	bb_report__summarise(r);
	assert_nan(c->summary.relative.value);
	bb_report__free(r);
}

/* A report of `object`, given by the option `option`. */
static struct bb_report *make_run_of(char *option, const char *object)
{
	char *const argv[] = {(char[]){"bpfbench run"}, option, NULL};
	struct bb_report *r = make_report("x");
	size_t i = make_case(r, "prog", "step", NULL, 0);
	char name[64];

	free(r->command);
	r->command = bb_command_line(argv);
	snprintf(name, sizeof(name), "%s/prog/step", object);
	set_text(&r->cases[i].name, name);
	set_text(&r->cases[i].scenario, object);
	return r;
}

/* An option with a value that a shell needs quotes for is found in the command line. */
static void test_rename_like(void **state)
{
	struct bb_report *of_old = make_run_of((char[]){"--object=my prog.o"}, "my prog"),
			 *of_new = make_run_of((char[]){"--object=new.o"}, "new");
	char *renamed = bb_report__rename_like(of_old, of_new);

	(void)state;
	assert_non_null(renamed);
	assert_string_equal(renamed, "my prog");
	assert_string_equal(of_old->cases[0].name, "new/prog/step");
	free(renamed);
	bb_report__free(of_old);
	bb_report__free(of_new);
}

static void test_empty_report(void **state)
{
	struct bb_report *r = bb_report__new();

	(void)state;
	bb_report__summarise(r);
	bb_report__free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grows_and_frees),
		cmocka_unit_test(test_new_is_absent),
		cmocka_unit_test(test_latency_over_loads),
		cmocka_unit_test(test_latency_of_mix),
		cmocka_unit_test(test_latency_by_place),
		cmocka_unit_test(test_few_loads),
		cmocka_unit_test(test_outlier),
		cmocka_unit_test(test_void_series_do_not_count),
		cmocka_unit_test(test_net_is_paired_by_load),
		cmocka_unit_test(test_what_moves_between_runs),
		cmocka_unit_test(test_net_above_own_floor),
		cmocka_unit_test(test_net_may_be_negative_or_absent),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_rate_of_events),
		cmocka_unit_test(test_summarise_twice),
		cmocka_unit_test(test_relative),
		cmocka_unit_test(test_rename_like),
		cmocka_unit_test(test_empty_report),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
