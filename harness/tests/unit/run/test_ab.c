/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bb_run_ab() end to end with the fake driver. The scenario says what is true, so verdicts can be
 * checked. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>

#include "base/deadline.h"
#include "store/run_json.h"
#include "unit/report_testing.h"
#include "run/ab.h"
#include "report/report.h"

static const char variants[] =
	"name: scripted\n"
	"floor: empty\n"
	"variants:\n"
	"  - {name: empty, globals: {location_ns: 30, spread_ns: 2}}\n"
	"  - {name: plain, globals: {location_ns: 1000}}\n"
	"  - {name: again, globals: {location_ns: 1000}}\n"
	"  - {name: slower, globals: {location_ns: 1050}}\n"
	"  - {name: faster, globals: {location_ns: 950}}\n"
	"  - {name: short, globals: {location_ns: 130, spread_ns: 2}}\n"
	"  - {name: short-slower, globals: {location_ns: 135, spread_ns: 2}}\n"
	"  - {name: layout, globals: {location_ns: 1000, layout_permille: 80}}\n"
	"  - {name: layout-slower, globals: {location_ns: 1050, layout_permille: 80}}\n"
	"  - {name: tail, globals: {location_ns: 1000, tail_permille: 100}}\n"
	"  - {name: tail-again, globals: {location_ns: 1000, tail_permille: 100}}\n"
	"  - {name: tail-slower, globals: {location_ns: 1050, tail_permille: 100}}\n"
	"  - {name: lossy, globals: {location_ns: 1050, lose_after: 200}}\n"
	"  - {name: silent, globals: {silent: 1}}\n"
	"  - {name: dying, globals: {location_ns: 1000, fail_after: 200}}\n"
	"drive:\n"
	"  - {with: fake}\n";

static struct bb_ab_opts opts_of(const char *base, const char *head, uint64_t seed)
{
	return (struct bb_ab_opts){
		.run = {.seed = seed, .driver = {.seed = seed}},
		.base = base,
		.head = head,
		.threshold = 0.01,
		.alpha = 0.05,
		.max_pairs = 24,
	};
}

/* Returns the report of a run; the caller frees it. *ret_rc is the run's result. */
static struct bb_report *run_ab(const char *scenario, const struct bb_ab_opts *opts, int *ret_rc,
				struct bb_err *err)
{
	static const char *const more_drives[] = {"fake-again", "fake-once-more"};
	const char *names[] = {opts->base, opts->head};
	struct bb_plan_opts plan_opts = {.variants = {names, 2}};
	struct bb_report *r = make_report("20261121T131700Z-compare-1a2b3c4d");
	struct bb_driver named[sizeof(more_drives) / sizeof(more_drives[0])];
	struct bb_scenario *s = NULL;
	struct bb_plan plan;

	if (bb_scenario__parse(scenario, strlen(scenario), "test.yml", &s, err))
		fail_msg("%s", err->msg);
	/* There is only one fake drive, and no two cases may have the same name. */
	for (size_t i = 1; i < s->n_drives; i++) {
		named[i - 1] = bb_driver_fake;
		named[i - 1].kind.name = more_drives[i - 1];
		s->drives[i].kind = &named[i - 1].kind;
	}
	if (bb_plan__make(s, &plan_opts, &plan, err))
		fail_msg("%s", err->msg);
	*ret_rc = bb_run_ab(&plan, opts, r, err);
	bb_plan__done(&plan);
	bb_scenario__free(s);
	return r;
}

static struct bb_report *compare(const struct bb_ab_opts *opts)
{
	struct bb_err err = {0};
	int rc;
	struct bb_report *r = run_ab(variants, opts, &rc, &err);

	if (rc)
		fail_msg("%d: %s", rc, err.msg);
	assert_int_equal(r->n_comparisons, 1);
	assert_null(r->incomplete);
	return r;
}

static struct bb_report *compare_seeded(const char *base, const char *head, uint64_t seed)
{
	struct bb_ab_opts opts = opts_of(base, head, seed);

	return compare(&opts);
}

static bool covers(const struct bb_estimate *e, double truth)
{
	return e->lo <= truth && truth <= e->hi;
}

/* With ten seeds, the verdict must be right each time, and the true ratio in at least nine of the
 * 95 % intervals. */
static void assert_finds(const char *base, const char *head, enum bb_verdict verdict, double ratio)
{
	int covered = 0;

	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct bb_report *r = compare_seeded(base, head, seed);
		const struct bb_comparison *c = &r->comparisons[0];

		if (c->verdict != verdict)
			fail_msg("%s against %s, seed %d: %s", base, head, (int)seed,
				 bb_verdict_name(c->verdict));
		assert_true(c->n_matched >= 7 && c->n_void == 0);
		assert_near_by(c->ratio.value, ratio, 0.003);
		covered += covers(&c->ratio, ratio);
		bb_report__free(r);
	}
	assert_in_range(covered, 9, 10);
}

static void test_verdicts(void **state)
{
	(void)state;
	assert_finds("plain", "again", BB_VERDICT_SAME, 1);
	assert_finds("plain", "plain", BB_VERDICT_SAME, 1);
	assert_finds("plain", "slower", BB_VERDICT_REGRESSED, 1.05);
	assert_finds("slower", "plain", BB_VERDICT_IMPROVED, 1 / 1.05);
	assert_finds("plain", "faster", BB_VERDICT_IMPROVED, 0.95);
}

/* 16 percent between the best and the worst place in memory do not affect matched pairs. */
static void test_layout(void **state)
{
	struct bb_report *r = compare_seeded("layout", "layout-slower", 3);
	const struct bb_comparison *c = &r->comparisons[0];
	double matched = log(c->ratio.hi / c->ratio.lo),
	       unmatched = log(c->ratio_unmatched.hi / c->ratio_unmatched.lo);

	(void)state;
	assert_true(isfinite(matched) && isfinite(unmatched));
	assert_true(unmatched > 20 * matched);
	for (size_t i = 0; i < c->n_pairs; i++)
		assert_true(c->pairs[i].matched ==
			    (c->pairs[i].base_mod64 == c->pairs[i].head_mod64));
	bb_report__free(r);
	assert_finds("layout", "layout", BB_VERDICT_SAME, 1);
	assert_finds("layout", "layout-slower", BB_VERDICT_REGRESSED, 1.05);
}

static void test_tail(void **state)
{
	struct bb_report *r = compare_seeded("tail", "tail-again", 3);

	(void)state;
	bb_report__summarise(r);
	/* The tail adds 500 ns to the mean. */
	assert_true(r->cases[0].summary.naive_mean.value > 1300);
	bb_report__free(r);
	assert_finds("tail", "tail-again", BB_VERDICT_SAME, 1);
	assert_finds("tail", "tail-slower", BB_VERDICT_REGRESSED, 1.05);
}

static char *compare_to_json(const char *base, const char *head, uint64_t seed)
{
	struct bb_report *r = compare_seeded(base, head, seed);
	char *text;
	size_t len;

	r->seed = 0; /* only the samples may differ */
	bb_report__summarise(r);
	bb_run_json__compose(r, &text, &len);
	bb_report__free(r);
	return text;
}

static void test_seed(void **state)
{
	char *first = compare_to_json("tail", "slower", 42),
	     *again = compare_to_json("tail", "slower", 42);
	char *other = compare_to_json("tail", "slower", 43);

	(void)state;
	assert_non_null(strstr(first, "\"comparisons\""));
	assert_string_equal(first, again);
	assert_string_not_equal(first, other);
	free(first);
	free(again);
	free(other);
}

/* From the 200th event on, head loses one in each batch. These pairs are void with a reason, and do
 * not count in the averages. */
static void test_lost_events(void **state)
{
	struct bb_ab_opts opts = opts_of("plain", "lossy", 5);
	struct bb_comparison counted = {.threshold = 0.01, .alpha = 0.05};
	struct bb_report *r;
	const struct bb_comparison *c;
	size_t voids = 0;

	(void)state;
	opts.max_pairs = 12;
	r = compare(&opts);
	c = &r->comparisons[0];
	for (size_t i = 0; i < c->n_pairs; i++) {
		struct bb_pair *p;

		if (c->pairs[i].void_why) {
			assert_non_null(strstr(c->pairs[i].void_why, "head: run_cnt rose by "));
			assert_non_null(strstr(c->pairs[i].void_why, " events were fired"));
			voids++;
			continue;
		}
		assert_int_equal(voids, 0); /* all pairs before the first loss are valid */
		p = BB_ADD(bb_pair_record, &counted, pairs);
		assert_non_null(p);
		*p = c->pairs[i];
	}
	assert_true(voids > 0 && counted.n_pairs > 0);
	assert_int_equal(c->n_pairs, 24);
	assert_int_equal(c->n_void, voids);
	assert_int_equal(c->verdict, BB_VERDICT_INCONCLUSIVE); /* too few pairs are left */
	bb_comparison__judge(&counted, 0.05);
	assert_memory_equal(&c->ratio.value, &counted.ratio.value, sizeof(double));
	assert_memory_equal(&c->head_ns, &counted.head_ns, sizeof(double));
	bb_record__done(&bb_comparison_record, &counted);

	/* So are the series that they came from. */
	assert_string_equal(r->cases[1].variant, "lossy");
	for (size_t i = 0; i < r->cases[1].n_series; i++) {
		const struct bb_series *s = &r->cases[1].series[i];

		assert_true((s->fired != s->run_cnt) == (s->void_why != NULL));
	}
	bb_report__free(r);
}

static void test_nothing_ran(void **state)
{
	struct bb_ab_opts opts = opts_of("plain", "silent", 5);
	struct bb_report *r;

	(void)state;
	opts.max_pairs = 8;
	r = compare(&opts);
	assert_int_equal(r->comparisons[0].n_void, r->comparisons[0].n_pairs);
	assert_int_equal(r->comparisons[0].verdict, BB_VERDICT_INCONCLUSIVE);
	assert_nan(r->comparisons[0].ratio.value);
	bb_report__free(r);
}

/* 130 and 135 ns with a floor of 30: the gross ratio is 1.038, the net ratio 1.05. */
static void test_net(void **state)
{
	struct bb_report *r = compare_seeded("short", "short-slower", 2);
	const struct bb_comparison *c = &r->comparisons[0];

	(void)state;
	assert_true(covers(&c->ratio, 135.0 / 130));
	assert_true(covers(&c->ratio_net, 1.05));
	assert_false(covers(&c->ratio, 1.05));
	assert_true(covers(&c->shift_ns, 5));
	assert_near_by(c->floor_ns, 30, 0.05);
	assert_near_by(c->base_ns, 130, 0.02);
	assert_near_by(c->head_ns, 135, 0.02);
	assert_int_equal(r->n_cases, 3);
	assert_string_equal(r->cases[2].variant, "empty");
	assert_int_equal(r->cases[0].floor, 2);
	assert_int_equal(r->cases[1].floor, 2);
	bb_report__free(r);

	/* If one of the two is the floor itself, there is no floor to subtract. */
	r = compare_seeded("empty", "short", 2);
	assert_int_equal(r->comparisons[0].verdict, BB_VERDICT_REGRESSED);
	assert_nan(r->comparisons[0].ratio_net.value);
	assert_int_equal(r->n_cases, 2);
	bb_report__free(r);
}

/* Each drive subtracts its own floor. A drive that has only one of the two programs compares
 * nothing. */
static void test_floors_of_drives(void **state)
{
	static const char text[] = "name: floors\nvariants:\n"
				   "  - {name: a, globals: {location_ns: 130, spread_ns: 2}}\n"
				   "  - {name: b, globals: {location_ns: 135, spread_ns: 2}}\n"
				   "  - {name: low, globals: {location_ns: 30, spread_ns: 2}}\n"
				   "  - {name: high, globals: {location_ns: 80, spread_ns: 2}}\n"
				   "drive:\n"
				   "  - {with: fake, floor: low}\n"
				   "  - {with: fake, floor: high, variants: [a, b]}\n"
				   "  - {with: fake, variants: [b], floor: low}\n";
	static const double floors_ns[] = {30, 80}, nets[] = {105. / 100, 55. / 50};
	struct bb_ab_opts opts = opts_of("a", "b", 5);
	struct bb_err err = {0};
	struct bb_report *r;
	int rc;

	(void)state;
	r = run_ab(text, &opts, &rc, &err);
	assert_int_equal(rc, 0);
	assert_int_equal(r->n_comparisons, 2);
	assert_int_equal(r->n_cases, 6);
	for (size_t i = 0; i < 2; i++) {
		assert_near_by(r->comparisons[i].floor_ns, floors_ns[i], 0.05);
		assert_near_by(r->comparisons[i].ratio_net.value, nets[i], 0.01);
	}
	bb_report__free(r);
}

static void test_no_drive_for_both(void **state)
{
	static const char text[] = "name: apart\nvariants: [{name: a}, {name: b}]\n"
				   "drive: [{with: fake, variants: [a]}, {with: fake, variants: "
				   "[b]}]\n";
	struct bb_ab_opts opts = opts_of("a", "b", 5);
	struct bb_err err = {0};
	struct bb_report *r;
	int rc;

	(void)state;
	r = run_ab(text, &opts, &rc, &err);
	assert_int_equal(rc, -ENOTSUP);
	assert_string_equal(err.msg, "no drive of 'apart' drives both 'a' and 'b' on this machine");
	bb_report__free(r);
}

static void test_max_pairs(void **state)
{
	struct bb_ab_opts opts = opts_of("plain", "again", 7);
	struct bb_report *r;

	(void)state;
	opts.threshold = 0; /* no verdict is then possible for equal programs */
	for (uint32_t max = 1; max <= 20; max += 19) {
		opts.max_pairs = max;
		r = compare(&opts);
		assert_int_equal(r->comparisons[0].verdict, BB_VERDICT_INCONCLUSIVE);
		/* The fake driver's loads can always be matched. */
		assert_int_equal(r->comparisons[0].n_matched, max);
		assert_in_range(r->comparisons[0].n_pairs, max, 2 * max);
		bb_report__free(r);
	}
	/* A real difference gets its verdict with fewer pairs. */
	opts = opts_of("plain", "slower", 7);
	opts.max_pairs = 1000;
	r = compare(&opts);
	assert_in_range(r->comparisons[0].n_matched, 7, 20);
	bb_report__free(r);
}

/* If other comparisons share alpha, a verdict takes more pairs. It stays when all are judged
 * together. */
static void test_family(void **state)
{
	struct bb_ab_opts opts = opts_of("plain", "slower", 7);
	uint32_t alone;
	struct bb_report *r;

	(void)state;
	opts.max_pairs = 1000;
	r = compare(&opts);
	alone = r->comparisons[0].n_matched;
	bb_report__free(r);
	opts.n_family = 1000;
	r = compare(&opts);
	assert_int_equal(r->comparisons[0].verdict, BB_VERDICT_REGRESSED);
	assert_true(r->comparisons[0].n_matched > alone);
	assert_true(1000 * r->comparisons[0].p_regressed <= opts.alpha);
	bb_report__free(r);
}

static void test_budget(void **state)
{
	struct bb_ab_opts opts = opts_of("plain", "again", 7);
	struct bb_report *r;

	(void)state;
	opts.threshold = 0;
	opts.max_pairs = 0;
	opts.run.budget_s = 0.05;
	r = compare(&opts); /* returns, with at least one pair */
	assert_true(r->comparisons[0].n_pairs >= 1);
	assert_int_equal(r->comparisons[0].verdict, BB_VERDICT_INCONCLUSIVE);
	bb_report__free(r);
}

/* A budget of no time, as on an overloaded machine. With `patience_s`, as many pairs are measured
 * as a verdict needs, and no more. */
static void test_patience(void **state)
{
	struct bb_ab_opts opts = opts_of("plain", "slower", 7);
	struct bb_err err = {0};
	struct bb_report *r;
	int rc;

	(void)state;
	opts.max_pairs = 0;
	opts.run.budget_s = 1e-9;
	r = run_ab(variants, &opts, &rc, &err);
	assert_int_equal(rc, -ETIME);
	assert_non_null(strstr(err.msg, "budget"));
	assert_int_equal(r->n_cases, 0);
	bb_report__free(r);
	opts.patience_s = 60;
	r = compare(&opts);
	assert_int_equal(r->comparisons[0].n_matched, 7);
	assert_int_equal(r->comparisons[0].verdict, BB_VERDICT_REGRESSED);
	bb_report__free(r);
	opts.head = "again";
	opts.threshold = 0;
	r = compare(&opts);
	assert_int_equal(r->comparisons[0].n_matched, 7);
	assert_int_equal(r->comparisons[0].verdict, BB_VERDICT_INCONCLUSIVE);
	bb_report__free(r);
	/* If others share alpha, it takes more pairs. */
	opts.n_family = 100;
	r = compare(&opts);
	assert_true(r->comparisons[0].n_matched > 7);
	assert_true(isfinite(r->comparisons[0].ratio.lo));
	bb_report__free(r);
}

static void test_dies_midway(void **state)
{
	struct bb_ab_opts opts = opts_of("plain", "dying", 5);
	struct bb_err err = {0};
	struct bb_report *r;
	int rc;

	(void)state;
	opts.max_pairs = 100;
	opts.threshold = 0;
	r = run_ab(variants, &opts, &rc, &err);
	assert_int_equal(rc, -ECHILD);
	assert_non_null(strstr(err.msg, "'dying' died midway"));
	assert_non_null(r->incomplete);
	assert_string_equal(r->incomplete, err.msg);
	assert_true(r->comparisons[0].n_matched > 0); /* the pairs so far are kept and judged */
	assert_near_by(r->comparisons[0].ratio.value, 1, 0.01);
	bb_report__free(r);
}

static void send_signal(void *arg, double done, double total, const char *what)
{
	(void)arg;
	(void)done;
	(void)total;
	(void)what;
	bb_stop_signal = SIGINT;
}

static void test_signal(void **state)
{
	const struct bb_progress at_first_pair = {send_signal, NULL};
	struct bb_ab_opts opts = opts_of("plain", "slower", 5);
	struct bb_err err = {0};
	struct bb_report *r;
	char *text;
	size_t len;
	int rc;

	(void)state;
	opts.run.progress = &at_first_pair;
	opts.run.budget_s = 60;
	r = run_ab(variants, &opts, &rc, &err);
	bb_stop_signal = 0;
	assert_int_equal(rc, -EINTR);
	assert_non_null(strstr(r->incomplete, "signal 2"));
	assert_nan(r->comparisons[0].ratio.value); /* absent, and not 0 */
	bb_report__summarise(r);
	bb_run_json__compose(r, &text, &len);
	free(text);
	bb_report__free(r);

	/* Stopped before anything is loaded. */
	bb_stop_signal = SIGINT;
	r = run_ab(variants, &opts, &rc, &err);
	bb_stop_signal = 0;
	assert_int_equal(rc, -EINTR);
	assert_non_null(strstr(r->incomplete, "signal 2"));
	assert_int_equal(r->n_cases, 0);
	bb_report__free(r);
}

static void test_injected(void **state)
{
	struct bb_ab_opts opts = opts_of("plain", "plain", 0);
	int covered = 0;

	(void)state;
	opts.inject = 0.02;
	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct bb_report *r;

		opts.run.seed = opts.run.driver.seed = seed;
		r = compare(&opts);
		assert_int_equal(r->comparisons[0].verdict, BB_VERDICT_REGRESSED);
		assert_near_by(r->comparisons[0].ratio.value, 1.02, 0.003);
		assert_near(r->comparisons[0].injected, 0.02);
		covered += covers(&r->comparisons[0].ratio, 1.02);
		bb_report__free(r);
	}
	assert_in_range(covered, 9, 10);
}

struct seen {
	size_t n[2];
	bool last_is_head;
};

static void count_samples(void *arg, bool is_head, const struct bb_batch *b)
{
	struct seen *seen = arg;

	seen->n[is_head] += b->n;
	seen->last_is_head = is_head;
}

static void test_same_load(void **state)
{
	struct bb_ab_opts opts = opts_of("layout", "layout", 9);
	struct seen seen = {0};
	struct bb_report *r;

	(void)state;
	opts.same_load = true;
	opts.watch = (struct bb_ab_watch){count_samples, &seen};
	r = compare(&opts);
	assert_int_equal(r->comparisons[0].verdict, BB_VERDICT_SAME);
	assert_int_equal(r->comparisons[0].n_unmatched, 0);
	assert_int_equal(seen.n[0], seen.n[1]);
	/* Blocks, runs, samples. */
	assert_int_equal(seen.n[0], r->comparisons[0].n_pairs * 8 * 2 * 16);
	bb_report__free(r);
}

/* Base and head are in one slot. One of the two loses an event in the last turn, so the pair is
 * void because of that side alone. */
static void test_same_load_lost(void **state)
{
	static const char text[] = "name: lost\nvariants: [{name: a, globals: {lose_after: 32}}]\n"
				   "drive: [{with: fake}]\n";
	int losses[2] = {0};

	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct bb_ab_opts opts = opts_of("a", "a", seed);
		struct bb_err err = {0};
		struct seen seen = {0};
		struct bb_report *r;
		int rc;

		opts.same_load = true;
		opts.max_pairs = 1; /* 8 blocks of 4 turns */
		opts.watch = (struct bb_ab_watch){count_samples, &seen};
		r = run_ab(text, &opts, &rc, &err);
		assert_int_equal(rc, 0);
		assert_int_equal(r->comparisons[0].n_pairs, 1);
		assert_int_equal(seen.n[seen.last_is_head], 8 * 2 * 16 - 1);
		assert_int_equal(seen.n[!seen.last_is_head], 8 * 2 * 16);
		assert_non_null(r->comparisons[0].pairs[0].void_why);
		assert_non_null(strstr(r->comparisons[0].pairs[0].void_why,
				       seen.last_is_head ? "head: run_cnt rose by "
							 : "base: run_cnt rose by "));
		losses[seen.last_is_head]++;
		bb_report__free(r);
	}
	assert_true(losses[0] > 0 && losses[1] > 0);
}

/* The cases of a stored run have different names, even if a program is compared with itself. */
static void test_against_itself_is_stored(void **state)
{
	struct bb_report *r = compare_seeded("plain", "plain", 4), *back;
	char *text;
	size_t len;
	FILE *in;

	(void)state;
	assert_string_equal(r->cases[0].name, "scripted/plain/fake");
	assert_string_equal(r->cases[1].name, "scripted/plain (head)/fake");
	assert_string_equal(r->cases[1].variant, "plain (head)");
	assert_string_equal(r->comparisons[0].name, "scripted/fake");
	bb_report__summarise(r);
	bb_run_json__compose(r, &text, &len);
	in = fmemopen(text, len, "r");
	assert_non_null(in);
	assert_int_equal(bb_run_json__read(in, "run.json", &back, NULL), 0);
	assert_int_equal(back->comparisons[0].verdict, BB_VERDICT_SAME);
	fclose(in);
	free(text);
	bb_report__free(back);
	bb_report__free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_layout),
		cmocka_unit_test(test_tail),
		cmocka_unit_test(test_seed),
		cmocka_unit_test(test_lost_events),
		cmocka_unit_test(test_nothing_ran),
		cmocka_unit_test(test_net),
		cmocka_unit_test(test_floors_of_drives),
		cmocka_unit_test(test_no_drive_for_both),
		cmocka_unit_test(test_max_pairs),
		cmocka_unit_test(test_family),
		cmocka_unit_test(test_budget),
		cmocka_unit_test(test_patience),
		cmocka_unit_test(test_dies_midway),
		cmocka_unit_test(test_signal),
		cmocka_unit_test(test_injected),
		cmocka_unit_test(test_same_load),
		cmocka_unit_test(test_same_load_lost),
		cmocka_unit_test(test_against_itself_is_stored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
