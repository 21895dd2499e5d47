/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cross-check of slope against step: which cases belong together, what bpf_stats costs by the
 * floor, and when the two disagree. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "judge/cross_check.h"
#include "unit/report_testing.h"
#include "unit/export/document_testing.h"

static size_t add(struct bb_report *r, const char *variant, const char *drive, const char *param,
		  uint32_t value, double latency_ns)
{
	size_t i = make_case(r, variant, drive, param, value);

	r->cases[i].summary.latency.value = latency_ns;
	return i;
}

/* At input 1, the floor costs 6 by slope and 20 by step, so bpf_stats costs 14. */
static struct bb_report *with_floor(void)
{
	struct bb_report *r = make_report("r");
	size_t floor = add(r, "empty", "slope", "input", 1, 6);

	assert_int_equal(floor, 0);
	add(r, "empty", "step", "input", 1, 20);
	return r;
}

static struct bb_cross_checked reconcile(struct bb_report *r, size_t i)
{
	struct bb_cross_checked k;

	assert_true(bb_cross_check(r, i, &k));
	return k;
}

static void test_agreement(void **state)
{
	struct bb_report *r = with_floor();
	size_t near = add(r, "a", "slope", "input", 1, 30),
	       far = add(r, "b", "slope", "input", 1, 30);
	size_t dear = add(r, "c", "slope", "input", 1, 1000);
	struct bb_cross_checked k;

	(void)state;
	add(r, "a", "step", "input", 1, 54); /* 44 is expected: 10 off */
	add(r, "b", "step", "input", 1, 54.5);
	add(r, "c", "step", "input", 1, 1110); /* 1014 is expected: 96 off, less than a tenth */
	r->cases[near].floor = r->cases[far].floor = r->cases[dear].floor = 0;
	k = reconcile(r, near);
	assert_near(k.stats_ns, 14);
	assert_near(k.off_ns, 10);
	assert_true(k.agrees);
	assert_string_equal(k.step->name, "perf_profiler/a/step/input=1");
	assert_false(reconcile(r, far).agrees);
	assert_true(reconcile(r, dear).agrees);
	assert_near(reconcile(r, dear).noise_ns, 0);
	bb_report__free(r);
}

static void set_interval(struct bb_report *r, size_t i, double half_ns)
{
	struct bb_estimate *e = &r->cases[i].summary.latency;

	e->lo = e->value - half_ns;
	e->hi = e->value + half_ns;
}

/* 14.5 off is more than 10. It still agrees if the noise of the four figures, 5 in all, explains
 * the rest. */
static void test_noise(void **state)
{
	struct bb_report *r = with_floor();
	size_t slope = add(r, "a", "slope", "input", 1, 30),
	       step = add(r, "a", "step", "input", 1, 58.5);

	(void)state;
	r->cases[slope].floor = 0;
	assert_false(reconcile(r, slope).agrees);
	set_interval(r, step, 4);
	assert_near(reconcile(r, slope).noise_ns, 4);
	assert_false(reconcile(r, slope).agrees);
	set_interval(r, slope, 2);
	set_interval(r, 0, 2); /* the floor by slope */
	set_interval(r, 1, 1); /* the floor by step */
	assert_near(reconcile(r, slope).noise_ns, 5);
	assert_true(reconcile(r, slope).agrees);
	r->cases[step].summary.latency.value = 59.5;
	assert_false(reconcile(r, slope).agrees);
	bb_report__free(r);
}

/* Not the same measurement: another input, another variant, or a step case with a stack depth. */
static void test_what_belongs_together(void **state)
{
	struct bb_report *r = with_floor();
	size_t alone = add(r, "a", "slope", "input", 1, 30),
	       bare = add(r, "a", "slope", NULL, 0, 30);
	size_t step = add(r, "a", "step", "input", 12, 44);
	struct bb_cross_checked k;

	(void)state;
	add(r, "a", "step", "stack_depth", 1, 44);
	add(r, "aa", "step", "input", 1, 44);
	assert_false(bb_cross_check(r, alone, &k));
	assert_false(bb_cross_check(r, bare, &k));
	assert_false(bb_cross_check(r, step, &k));
	add(r, "a", "step", NULL, 0, 44);
	k = reconcile(r, bare);
	assert_nan(k.stats_ns); /* there is no floor */
	assert_nan(k.off_ns);
	assert_false(k.agrees);
	bb_report__free(r);
}

static void set_net(struct bb_report *r, size_t i, double ns, double half_ns)
{
	r->cases[i].summary.net = (struct bb_estimate){ns, ns - half_ns, ns + half_ns};
}

/* hook and step are compared by their net times: the floor of another hook does not matter. */
static void test_hook(void **state)
{
	struct bb_report *r = with_floor();
	size_t hook = add(r, "a", "hook", NULL, 0, 700), step = add(r, "a", "step", NULL, 0, 60);
	struct bb_cross_checked k;
	struct bb_doc d = {0};
	char *text;

	(void)state;
	set_net(r, hook, 20, 3);
	set_net(r, step, 34, 4);
	r->cases[hook].summary.floor.value = 680;
	r->cases[step].summary.floor.value = 26;
	k = reconcile(r, hook);
	assert_near(k.off_ns, 14);
	assert_near(k.noise_ns, 5);
	assert_true(k.agrees);
	set_net(r, step, 36, 4);
	assert_false(reconcile(r, hook).agrees);
	bb_doc_cross_checks(r, BB_DETAILS, &d);
	text = rendered(&d, as_text);
	assert_non_null(strstr(text, "hook - empty = step - empty step?"));
	assert_non_null(strstr(text, "a        700.0    680.0   20.0  60.0          26.0   36.0"));
	free(text);
	bb_report__free(r);
}

/* The interrupt that wakes the reader of a ring comes after the program, so only `hook` measures
 * it. */
static void test_hook_of_a_ring(void **state)
{
	struct bb_report *r = make_report("r");
	size_t hook = add(r, "a", "hook", NULL, 0, 26000),
	       step = add(r, "a", "step", NULL, 0, 6700);
	struct bb_program *p = BB_ADD(bb_program_record, r, programs);

	(void)state;
	set_net(r, hook, 25000, 10);
	set_net(r, step, 6600, 10);
	p->scenario = strdup(r->cases[hook].scenario);
	p->variant = strdup("a");
	assert_false(reconcile(r, hook).agrees);
	assert_false(reconcile(r, hook).wakes_reader);
	p->has_ring = true;
	assert_true(reconcile(r, hook).wakes_reader);
	set_net(r, step, 66000, 10); /* more by step than by hook is no wakeup */
	assert_false(reconcile(r, hook).wakes_reader);
	bb_report__free(r);
}

static void test_table(void **state)
{
	struct bb_report *r = with_floor();
	size_t slope = add(r, "b", "slope", "input", 1, 30);
	struct bb_doc d = {0};
	char *text;

	(void)state;
	bb_doc_cross_checks(r, BB_DETAILS, &d);
	assert_int_equal(d.n, 0); /* nothing to cross-check, so nothing is said */
	add(r, "b", "step", "input", 1, 60);
	r->cases[slope].floor = 0;
	bb_doc_cross_checks(r, BB_DETAILS, &d);
	text = rendered(&d, as_text);
	assert_non_null(strstr(text, "b/input=1   30.0         14.0  60.0    16.0  0.0  DISAGREE"));
	free(text);
	bb_report__free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_agreement),
		cmocka_unit_test(test_noise),
		cmocka_unit_test(test_what_belongs_together),
		cmocka_unit_test(test_hook_of_a_ring),
		cmocka_unit_test(test_hook),
		cmocka_unit_test(test_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
