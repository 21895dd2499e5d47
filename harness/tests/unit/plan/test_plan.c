/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cases of a scenario: their names, parameters, floors and order, and which of them the options
 * select. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define FRAME "020202020202010101010101ffff" /* 14 bytes */

static const char profiler[] = "name: prof\nobject: o\nfloor: empty\n"
			       "variants: [{name: ringbuf}, {name: empty}, {name: stackid}]\n"
			       "drive:\n"
			       "  - {with: step, stack_depth: [8, 32]}\n"
			       "  - {with: in-situ, freq_hz: [100, 1000], workload: w, seconds: "
			       "2}\n";

static struct bb_scenario *must_parse(const char *text)
{
	struct bb_scenario *s = NULL;
	struct bb_err err = {0};

	if (bb_scenario__parse(text, strlen(text), "t.yml", &s, &err))
		fail_msg("%s", err.msg);
	return s;
}

/* Parses a scenario of three variants with these inputs. The second variant is the floor. */
static struct bb_scenario *parse_inputs(const char *inputs)
{
	char text[4096];

	snprintf(text, sizeof(text),
		 "name: x\nobject: o\nfloor: empty\nvariants: [{name: a}, {name: empty}, {name: "
		 "b}]\n"
		 "drive:\n  - with: step\n    trigger: test-run\n    samples: 7\n%s",
		 inputs);
	return must_parse(text);
}

static struct bb_plan must_plan(const struct bb_scenario *s, const struct bb_plan_opts *opts)
{
	static const struct bb_plan_opts nothing;
	struct bb_plan p = {0};
	struct bb_err err = {0};

	if (bb_plan__make(s, opts ? opts : &nothing, &p, &err))
		fail_msg("%s", err.msg);
	assert_ptr_equal(p.scenario, s);
	return p;
}

struct expected {
	const char *name;
	const char *param;
	uint32_t value, driver_param;
	size_t floor;
};

static void check_cases(const struct bb_plan *p, const struct expected *e, size_t n)
{
	assert_int_equal(p->n_cases, n);
	for (size_t i = 0; i < n; i++) {
		const struct bb_plan_case *c = &p->cases[i];

		assert_string_equal(c->name, e[i].name);
		if (e[i].param)
			assert_string_equal(c->param, e[i].param);
		else
			assert_null(c->param);
		assert_int_equal(c->param_value, e[i].value);
		assert_int_equal(c->driver_param, e[i].driver_param);
		assert_true(c->floor == e[i].floor);
	}
}

static void test_step_and_in_situ(void **state)
{
	static const struct expected cases[] = {
		{"prof/ringbuf/step/stack_depth=8", "stack_depth", 8, 8, 1},
		{"prof/empty/step/stack_depth=8", "stack_depth", 8, 8, BB_NO_CASE},
		{"prof/stackid/step/stack_depth=8", "stack_depth", 8, 8, 1},
		{"prof/ringbuf/step/stack_depth=32", "stack_depth", 32, 32, 4},
		{"prof/empty/step/stack_depth=32", "stack_depth", 32, 32, BB_NO_CASE},
		{"prof/stackid/step/stack_depth=32", "stack_depth", 32, 32, 4},
		{"prof/ringbuf/in-situ/freq_hz=100", "freq_hz", 100, 100, 7},
		{"prof/empty/in-situ/freq_hz=100", "freq_hz", 100, 100, BB_NO_CASE},
		{"prof/stackid/in-situ/freq_hz=100", "freq_hz", 100, 100, 7},
		{"prof/ringbuf/in-situ/freq_hz=1000", "freq_hz", 1000, 1000, 10},
		{"prof/empty/in-situ/freq_hz=1000", "freq_hz", 1000, 1000, BB_NO_CASE},
		{"prof/stackid/in-situ/freq_hz=1000", "freq_hz", 1000, 1000, 10},
	};
	struct bb_scenario *s = must_parse(profiler);
	struct bb_plan p = must_plan(s, NULL);

	(void)state;
	check_cases(&p, cases, ARRAY_LEN(cases));
	assert_int_equal(p.loads, BB_DEFAULT_LOADS);
	for (size_t i = 0; i < p.n_cases; i++) {
		const struct bb_plan_case *c = &p.cases[i];

		assert_ptr_equal(c->drive, &s->drives[i / 6]);
		assert_ptr_equal(c->variant, &s->variants[i % 3]);
		assert_null(c->input);
		assert_int_equal(c->samples, bb_drive_pace(c->drive)->samples);
		assert_true(i < 6 ? c->seconds <= 0 : c->seconds > 1.99 && c->seconds < 2.01);
	}
	bb_plan__done(&p);
	assert_int_equal(p.n_cases, 0);
	bb_plan__done(NULL);
	bb_scenario__free(s);
}

/* The cold copy of a drive comes after the others, with fewer samples. It has its own name, and so
 * do its cases. */
static void test_cold(void **state)
{
	static const struct expected cases[] = {
		{"prof/ringbuf/step-cold/stack_depth=8", "stack_depth", 8, 8, 1},
		{"prof/empty/step-cold/stack_depth=8", "stack_depth", 8, 8, BB_NO_CASE},
		{"prof/ringbuf/step-cold/stack_depth=32", "stack_depth", 32, 32, 3},
		{"prof/empty/step-cold/stack_depth=32", "stack_depth", 32, 32, BB_NO_CASE},
	};
	const char *const ringbuf = "ringbuf", *const cold = "step-cold", *const hot = "step";
	struct bb_plan_opts opts = {.variants = {&ringbuf, 1}, .drives = {&cold, 1}};
	struct bb_scenario *s = must_parse(profiler);
	struct bb_plan p;

	(void)state;
	for (int i = 0; i < 2; i++) { /* a second call adds nothing */
		assert_int_equal(bb_scenario__add_twins(s, BB_TWIN_COLD, NULL), 0);
		assert_int_equal(s->n_drives, 3);
	}
	assert_string_equal(bb_drive_name(&s->drives[0]), "step");
	assert_string_equal(bb_drive_name(&s->drives[1]), "in-situ");
	assert_string_equal(bb_drive_name(&s->drives[2]), "step-cold");
	p = must_plan(s, &opts);
	check_cases(&p, cases, ARRAY_LEN(cases));
	for (size_t i = 0; i < p.n_cases; i++)
		assert_int_equal(p.cases[i].samples,
				 bb_drive_kind_find("step", NULL)->cold.samples);
	bb_plan__done(&p);
	opts.drives.v = &hot;
	p = must_plan(s, &opts);
	assert_int_equal(p.n_cases, 4);
	assert_string_equal(p.cases[0].name, "prof/ringbuf/step/stack_depth=8");
	bb_plan__done(&p);
	bb_scenario__free(s);
}

/* A cold copy has the same inputs and its own number of samples. In a sweep, it takes one a load.
 */
static void test_cold_sweep(void **state)
{
	struct bb_scenario *s = parse_inputs("    inputs: [{sweep: {hex: " FRAME ", byte: 13}, "
					     "retval: 2}]\n");
	struct bb_plan p;

	(void)state;
	assert_int_equal(bb_scenario__add_twins(s, BB_TWIN_COLD, NULL), 0);
	p = must_plan(s, NULL);
	assert_int_equal(p.n_cases, 2 * 3 * 256);
	assert_int_equal(p.cases[0].samples, 7);
	for (size_t i = 0; i < 3 * 256; i++) {
		const struct bb_plan_case *h = &p.cases[i], *c = &p.cases[3 * 256 + i];

		assert_string_equal(h->input->name, c->input->name);
		assert_int_equal(h->input->len, c->input->len);
		assert_memory_equal(h->input->data, c->input->data, h->input->len);
		assert_true(c->input->has_retval && c->input->retval == 2);
		assert_int_equal(c->samples, BB_DEFAULT_SLICES);
		assert_int_equal(c->loads, BB_DEFAULT_SLICES); /* as for every sweep */
	}
	bb_plan__done(&p);
	bb_scenario__free(s);
}

/* A drive and its twin begin with one list of variants. A copy of a variant is added to both. */
static void test_copies_are_driven(void **state)
{
	struct bb_scenario *s = must_parse("{name: n, object: o, variants: [{name: a}, {name: b}], "
					   "drive: [{with: step, variants: [a]}]}");
	struct bb_err err = {0};

	(void)state;
	assert_int_equal(bb_scenario__add_twins(s, BB_TWIN_COLD, &err), 0);
	assert_int_equal(bb_scenario__add_variant(s, "c", "a", NULL, &err), 0);
	assert_int_equal(s->n_drives, 2);
	for (size_t i = 0; i < s->n_drives; i++) {
		assert_int_equal(s->drives[i].n_variants, 2);
		assert_string_equal(s->drives[i].variants[0], "a");
		assert_string_equal(s->drives[i].variants[1], "c");
		assert_null(s->drives[i].variants[2]);
	}
	assert_string_equal(s->variants[0].name, "a");
	bb_scenario__free(s);
}

static void test_nothing_to_cool(void **state)
{
	struct bb_scenario *s = must_parse("{name: f, variants: [{name: a}], drive: [{with: "
					   "fake}]}");
	struct bb_err err = {0};

	(void)state;
	assert_int_equal(bb_scenario__add_twins(s, BB_TWIN_COLD, &err), -EINVAL);
	assert_string_equal(err.msg, "scenario 'f' has no drive 'with: step', and no other "
				     "drive can empty caches");
	assert_int_equal(s->n_drives, 1);
	bb_scenario__free(s);
}

/* The event of a drive in situ is in the case names, unless it is a clock. `-d in-situ` selects
 * them all. */
static void test_events(void **state)
{
	static const char text[] = "name: net\nobject: o\nfloor: empty\nvariants: [{name: empty}, "
				   "{name: v}]\n"
				   "drive:\n"
				   "  - {with: in-situ, event: packets, rate_hz: [10, 1000], "
				   "seconds: 2}\n"
				   "  - {with: in-situ, event: http}\n"
				   "  - {with: in-situ, event: attach, workload: w}\n"
				   "  - {with: in-situ, event: task-clock, workload: w}\n";
	static const struct expected cases[] = {
		{"net/empty/in-situ-packets/rate_hz=10", "rate_hz", 10, 10, BB_NO_CASE},
		{"net/v/in-situ-packets/rate_hz=10", "rate_hz", 10, 10, 0},
		{"net/empty/in-situ-packets/rate_hz=1000", "rate_hz", 1000, 1000, BB_NO_CASE},
		{"net/v/in-situ-packets/rate_hz=1000", "rate_hz", 1000, 1000, 2},
		{"net/empty/in-situ-http/rate_hz=50", "rate_hz", 50, 50, BB_NO_CASE},
		{"net/v/in-situ-http/rate_hz=50", "rate_hz", 50, 50, 4},
		{"net/empty/in-situ-attach", NULL, 0, 0, BB_NO_CASE},
		{"net/v/in-situ-attach", NULL, 0, 0, 6},
		{"net/empty/in-situ/freq_hz=100", "freq_hz", 100, 100, BB_NO_CASE},
		{"net/v/in-situ/freq_hz=100", "freq_hz", 100, 100, 8},
	};
	static const char *const all[] = {"in-situ"}, *const one[] = {"in-situ-http"},
				 *const none[] = {"in-situ-htpp"};
	struct bb_scenario *s = must_parse(text);
	struct bb_plan p = must_plan(s, NULL);
	struct bb_err err = {0};

	(void)state;
	check_cases(&p, cases, ARRAY_LEN(cases));
	for (size_t i = 0; i < p.n_cases; i++)
		assert_true(p.cases[i].seconds > 0);
	bb_plan__done(&p);
	p = must_plan(s, &(struct bb_plan_opts){.drives = {all, 1}});
	check_cases(&p, cases, ARRAY_LEN(cases));
	bb_plan__done(&p);
	p = must_plan(s, &(struct bb_plan_opts){.drives = {one, 1}});
	assert_int_equal(p.n_cases, 2);
	assert_string_equal(p.cases[1].name, "net/v/in-situ-http/rate_hz=50");
	bb_plan__done(&p);
	assert_int_equal(bb_plan__make(s, &(struct bb_plan_opts){.drives = {none, 1}}, &p, &err),
			 -ENOENT);
	assert_non_null(strstr(err.msg, "did you mean 'in-situ-http'?"));
	bb_scenario__free(s);
}

static void test_fake(void **state)
{
	static const struct expected cases[] = {
		{"f/a/fake", NULL, 0, 0, BB_NO_CASE},
		{"f/b/fake", NULL, 0, 0, BB_NO_CASE},
	};
	struct bb_scenario *s = must_parse("{name: f, loads: 3, variants: [{name: a}, {name: b}], "
					   "drive: [{with: fake, samples: 11}]}");
	struct bb_plan p = must_plan(s, NULL);

	(void)state;
	check_cases(&p, cases, ARRAY_LEN(cases));
	assert_int_equal(p.loads, 3);
	assert_int_equal(p.cases[0].samples, 11);
	bb_plan__done(&p);
	bb_scenario__free(s);
}

static void test_named_inputs(void **state)
{
	static const struct expected cases[] = {
		{"x/a/step/input=syn", "input", 0, 0, 1},
		{"x/empty/step/input=syn", "input", 0, 0, BB_NO_CASE},
		{"x/b/step/input=syn", "input", 0, 0, 1},
		{"x/a/step/input=0", "input", 1, 1, 4},
		{"x/empty/step/input=0", "input", 1, 1, BB_NO_CASE},
		{"x/b/step/input=0", "input", 1, 1, 4},
	};
	struct bb_scenario *s = parse_inputs("    inputs: [{name: syn, hex: " FRAME
					     "}, {name: 0, hex: " FRAME "}]\n");
	struct bb_plan p = must_plan(s, NULL);

	(void)state;
	check_cases(&p, cases, ARRAY_LEN(cases));
	for (size_t i = 0; i < p.n_cases; i++) {
		assert_ptr_equal(p.cases[i].input, &s->drives[0].inputs.v[i / 3]);
		assert_int_equal(p.cases[i].samples, 7);
		assert_true(p.cases[i].seconds <= 0);
	}
	bb_plan__done(&p);
	bb_scenario__free(s);
}

/* If all names of inputs are numbers, they are the parameter's values, for the axis of a plot. The
 * driver still gets the index. */
static void test_numbered_inputs(void **state)
{
	static const struct expected cases[] = {
		{"x/a/step/input=200", "input", 200, 0, 1},
		{"x/empty/step/input=200", "input", 200, 0, BB_NO_CASE},
		{"x/b/step/input=200", "input", 200, 0, 1},
		{"x/a/step/input=201", "input", 201, 1, 4},
		{"x/empty/step/input=201", "input", 201, 1, BB_NO_CASE},
		{"x/b/step/input=201", "input", 201, 1, 4},
		{"x/a/step/input=0", "input", 0, 2, 7},
		{"x/empty/step/input=0", "input", 0, 2, BB_NO_CASE},
		{"x/b/step/input=0", "input", 0, 2, 7},
	};
	struct bb_scenario *s = parse_inputs("    inputs:\n      - {sweep: {hex: " FRAME
					     ", byte: 0, from: 200, to: 201}}\n"
					     "      - {name: 0, hex: " FRAME "}\n");
	struct bb_plan p = must_plan(s, NULL);

	(void)state;
	check_cases(&p, cases, ARRAY_LEN(cases));
	bb_plan__done(&p);
	bb_scenario__free(s);
}

/* If "7" and "07" are two names of one number, or a name is not a 32-bit number, the values are the
 * indices. */
static void test_almost_numbers(void **state)
{
	static const char *const names[][2] = {{"7", "07"},
					       {"7", "0x8"},
					       {"7", "4294967296"},
					       {"7", "8.5"}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		char text[256];
		struct bb_scenario *s;
		struct bb_plan p;

		snprintf(text, sizeof(text),
			 "    inputs: [{name: %s, hex: " FRAME "}, {name: %s, hex: " FRAME "}]\n",
			 names[i][0], names[i][1]);
		s = parse_inputs(text);
		p = must_plan(s, NULL);
		assert_int_equal(p.n_cases, 6);
		assert_int_equal(p.cases[0].param_value, 0);
		assert_int_equal(p.cases[3].param_value, 1);
		bb_plan__done(&p);
		bb_scenario__free(s);
	}
}

/* With one input or none, there is no parameter. */
static void test_one_input_and_none(void **state)
{
	static const struct expected cases[] = {
		{"x/a/step", NULL, 0, 0, 1},
		{"x/empty/step", NULL, 0, 0, BB_NO_CASE},
		{"x/b/step", NULL, 0, 0, 1},
	};
	struct bb_scenario *one = parse_inputs("    inputs: [{name: 42, hex: " FRAME "}]\n"),
			   *none = parse_inputs("");
	struct bb_plan p = must_plan(one, NULL);

	(void)state;
	check_cases(&p, cases, ARRAY_LEN(cases));
	assert_ptr_equal(p.cases[2].input, one->drives[0].inputs.v);
	bb_plan__done(&p);
	bb_scenario__free(one);
	p = must_plan(none, NULL);
	check_cases(&p, cases, ARRAY_LEN(cases));
	assert_null(p.cases[2].input);
	bb_plan__done(&p);
	bb_scenario__free(none);
}

/* --variant keeps the floor beside the named variants, and --drive selects one drive. Floors point
 * to their new places. */
static void test_options(void **state)
{
	static const char *const variant = "stackid", *const drive = "in-situ";
	static const struct expected cases[] = {
		{"prof/empty/in-situ/freq_hz=100", "freq_hz", 100, 100, BB_NO_CASE},
		{"prof/stackid/in-situ/freq_hz=100", "freq_hz", 100, 100, 0},
		{"prof/empty/in-situ/freq_hz=1000", "freq_hz", 1000, 1000, BB_NO_CASE},
		{"prof/stackid/in-situ/freq_hz=1000", "freq_hz", 1000, 1000, 2},
	};
	const struct bb_plan_opts opts = {.variants = {&variant, 1},
					  .drives = {&drive, 1},
					  .loads = 2};
	const struct bb_plan_opts samples = {.variants = {&variant, 1}, .samples = 99};
	struct bb_scenario *s = must_parse(profiler);
	struct bb_plan p = must_plan(s, &opts);

	(void)state;
	check_cases(&p, cases, ARRAY_LEN(cases));
	assert_int_equal(p.loads, 2);
	bb_plan__done(&p);
	p = must_plan(s, &samples);
	assert_int_equal(p.n_cases, 8);
	assert_int_equal(p.cases[0].samples, 99);
	bb_plan__done(&p);
	bb_scenario__free(s);
}

static void test_no_floor(void **state)
{
	static const char *const variant = "b";
	const struct bb_plan_opts opts = {.variants = {&variant, 1}};
	struct bb_scenario *s = must_parse("name: n\nobject: o\nvariants: [{name: a}, {name: b}]\n"
					   "drive: [{with: step, trigger: test-run}]\n");
	static const struct expected cases[] = {{"n/b/step", NULL, 0, 0, BB_NO_CASE}};
	struct bb_plan p = must_plan(s, &opts);

	(void)state;
	check_cases(&p, cases, ARRAY_LEN(cases));
	bb_plan__done(&p);
	bb_scenario__free(s);
}

/* Each drive has some of the variants, with a floor of its own or that of the scenario. Floors that
 * no selected variant needs are left out. */
static void test_floors_of_drives(void **state)
{
	static const char text[] = "name: m\nfloor: e1\nvariants: [{name: e1}, {name: a}, {name: "
				   "e2}, {name: b}, {name: c}]\n"
				   "drive:\n"
				   "  - {with: fake, variants: [a]}\n"
				   "  - {with: fake, variants: [b, c], floor: e2}\n"
				   "  - {with: fake, variants: [e2, c], floor: e2}\n";
	static const struct expected all[] = {
		{"m/e1/fake", NULL, 0, 0, BB_NO_CASE}, {"m/a/fake", NULL, 0, 0, 0},
		{"m/e2/fake", NULL, 0, 0, BB_NO_CASE}, {"m/b/fake", NULL, 0, 0, 2},
		{"m/c/fake", NULL, 0, 0, 2},           {"m/e2/fake-again", NULL, 0, 0, BB_NO_CASE},
		{"m/c/fake-again", NULL, 0, 0, 5},
	};
	static const struct expected only_b[] = {{"m/e2/fake", NULL, 0, 0, BB_NO_CASE},
						 {"m/b/fake", NULL, 0, 0, 0}};
	const char *names[] = {"b"};
	struct bb_plan_opts opts = {.variants = {names, 1}};
	struct bb_drive_kind again;
	struct bb_scenario *s = must_parse(text);
	struct bb_plan p;

	(void)state;
	again = *s->drives[2].kind;
	again.name = "fake-again"; /* otherwise it would repeat a case of the second drive */
	s->drives[2].kind = &again;
	p = must_plan(s, NULL);
	check_cases(&p, all, ARRAY_LEN(all));
	for (size_t i = 0; i < p.n_cases; i++)
		assert_int_equal(bb_plan_case__is_floor(&p.cases[i]),
				 p.cases[i].floor == BB_NO_CASE);
	assert_string_equal(s->drives[0].floor, "e1");
	assert_string_equal(s->drives[1].floor, "e2");
	bb_plan__done(&p);
	p = must_plan(s, &opts);
	check_cases(&p, only_b, ARRAY_LEN(only_b));
	bb_plan__done(&p);
	bb_scenario__free(s);
}

static void test_unknown_names(void **state)
{
	static const struct {
		const char *variant, *drive, *says;
	} cases[] = {
		{"stakid", NULL,
		 "scenario 'prof' has no variant 'stakid'; did you mean 'stackid'?"},
		{"other", NULL,
		 "scenario 'prof' has no variant 'other'; it has: ringbuf, empty, stackid"},
		{NULL, "stp", "scenario 'prof' has no drive 'stp'; did you mean 'step'?"},
		{NULL, "fake", "scenario 'prof' has no drive 'fake'; it has: step, in-situ"},
		{NULL, "hok",
		 "scenario 'prof' has no drive 'hok' (did you mean 'hook'?); it has: step, "
		 "in-situ"},
	};
	struct bb_scenario *s = must_parse(profiler);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct bb_plan_opts opts = {
			.variants = {&cases[i].variant, cases[i].variant != NULL},
			.drives = {&cases[i].drive, cases[i].drive != NULL},
		};
		struct bb_plan p = {.loads = 77};
		struct bb_err err = {0};

		assert_int_equal(bb_plan__make(s, &opts, &p, &err), -ENOENT);
		assert_string_equal(err.msg, cases[i].says);
		assert_int_equal(p.loads, 77); /* written only on success */
	}
	bb_scenario__free(s);
}

/* The largest number of inputs: every case has its own name, its own input, and the floor beside
 * it. */
static void test_many(void **state)
{
	char text[2048] = "    inputs:\n";
	struct bb_scenario *s;
	struct bb_plan p;

	(void)state;
	for (int i = 0; i < 16; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "      - {name: s%d, sweep: {hex: " FRAME ", byte: 0}}\n", i);
	s = parse_inputs(text);
	p = must_plan(s, NULL);
	assert_int_equal(p.n_cases, 3 * 4096);
	for (size_t i = 0; i < p.n_cases; i++) {
		const struct bb_plan_case *c = &p.cases[i];
		char name[64];

		snprintf(name, sizeof(name), "x/%s/step/input=s%zu-%zu", c->variant->name,
			 i / 3 / 256, i / 3 % 256);
		assert_string_equal(c->name, name);
		assert_int_equal(c->driver_param, i / 3);
		assert_true(c->floor == (i % 3 == 1 ? BB_NO_CASE : i / 3 * 3 + 1));
	}
	bb_plan__done(&p);
	bb_scenario__free(s);
}

/* A live case has no parameter, a wall time instead of samples, and no floor. */
static void test_live(void **state)
{
	static const char text[] = "name: l\nvariants: [{name: a, id: 3}, {name: b, pinned: /p}]\n"
				   "drive: [{with: live, variants: [a]}, {with: live, variants: "
				   "[b], seconds: 0.5}]\n";
	static const struct expected cases[] = {
		{"l/a/live", NULL, 0, 0, BB_NO_CASE},
		{"l/b/live", NULL, 0, 0, BB_NO_CASE},
	};
	struct bb_plan_opts opts = {0};
	struct bb_scenario *s;
	struct bb_plan p;
	struct bb_err err;

	(void)state;
	assert_int_equal(bb_scenario__parse(text, strlen(text), "t.yml", &s, &err), 0);
	assert_int_equal(bb_plan__make(s, &opts, &p, &err), 0);
	check_cases(&p, cases, 2);
	assert_true(p.cases[0].seconds == bb_drive_kind_find("live", NULL)->seconds);
	assert_true(p.cases[1].seconds == 0.5);
	bb_plan__done(&p);
	bb_scenario__free(s);
}

/* Drives of one name may differ in variants and parameters. If both have the same, two cases would
 * have one name. */
static void test_namesakes(void **state)
{
	static const char form[] = "name: two\nobject: o\nvariants: [{name: a}, {name: b}]\n"
				   "drive:\n"
				   "  - {with: in-situ, workload: w, freq_hz: 100, variants: [a]}\n"
				   "  - {with: in-situ, workload: v, freq_hz: [1000, %s]}\n";
	static const struct bb_plan_opts nothing;
	static const char *const b = "b";
	const struct bb_plan_opts only_b = {.variants = {&b, 1}};
	struct bb_err err = {0};
	struct bb_scenario *s;
	struct bb_plan p;
	char text[512];

	(void)state;
	snprintf(text, sizeof(text), form, "200");
	s = must_parse(text);
	p = must_plan(s, NULL);
	assert_int_equal(p.n_cases, 5);
	bb_plan__done(&p);
	bb_scenario__free(s);

	snprintf(text, sizeof(text), form, "100");
	s = must_parse(text);
	assert_int_equal(bb_plan__make(s, &nothing, &p, &err), -EINVAL);
	if (strncmp(err.msg,
		    "t.yml:6:5: this drive makes the case 'two/a/in-situ/freq_hz=100' a second "
		    "time, after the drive at 5:5",
		    97))
		fail_msg("%s", err.msg);
	p = must_plan(s, &only_b);
	assert_int_equal(p.n_cases, 2);
	bb_plan__done(&p);
	bb_scenario__free(s);
}

/* A drive in which all CPUs run the same input is useful only beside one with an input for each
 * CPU. */
static void test_same_input(void **state)
{
#define ONE "{name: one, hex: " FRAME "}"
#define TWO ONE ", {name: two, hex: " FRAME "00}"
	static const struct {
		const char *cpus, *each, *same,
			*want; /* want: part of the message; NULL: no error */
	} tries[] = {
		{"[1, 2]", ONE, ONE, "1 input for 2 CPUs: "},
		{"[1, 2]", TWO, TWO, NULL},
		{"[1, 2]", TWO, ONE, NULL},
		{"[1, 2, 3]", TWO, TWO, "2 inputs for 3 CPUs: "},
		{"[2]", TWO, "{name: other, hex: " FRAME "ff}",
		 "the first must be the same as here"},
		{"[1]", ONE, ONE, NULL},
	};
	static const struct bb_plan_opts nothing;
	const char *const slope = "slope";
	const struct bb_plan_opts other = {.drives = {(const char **)&slope, 1}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(tries); i++) {
		struct bb_err err = {0};
		struct bb_scenario *s;
		struct bb_plan p = {0};
		char text[1024];

		snprintf(text, sizeof(text),
			 "name: x\nobject: o\nvariants: [{name: a}]\ndrive:\n  - with: slope\n"
			 "  - {with: parallel, cpus: %s, inputs: [%s]}\n"
			 "  - {with: parallel, cpus: %s, inputs: [%s], same_input: yes}\n",
			 tries[i].cpus, tries[i].each, tries[i].cpus, tries[i].same);
		s = must_parse(text);
		assert_int_equal(bb_plan__make(s, &nothing, &p, &err), tries[i].want ? -EINVAL : 0);
		if (tries[i].want && !strstr(err.msg, tries[i].want))
			fail_msg("%zu: %s", i, err.msg);
		bb_plan__done(&p);
		assert_int_equal(bb_plan__make(s, &other, &p, &err), 0);
		bb_plan__done(&p);
		bb_scenario__free(s);
	}
}

/* A kind of drive that takes samples also has a number of samples in a row, because the runner
 * divides by it. */
static void test_every_kind_has_turns(void **state)
{
	(void)state;
	for (size_t i = 0; i < bb_n_drive_kinds; i++) {
		const struct bb_drive_kind *k = bb_drive_kinds[i];

		if (k->pace.samples && !k->pace.turn)
			fail_msg("%s: %u samples in turns of none", k->title, k->pace.samples);
		if (k->cold.samples && !k->cold.turn)
			fail_msg("%s, cold: %u samples in turns of none", k->title,
				 k->cold.samples);
	}
}

/* --- maps that are filled to several sizes --- */

#define SIZES(maps, drives)                                                                        \
	"name: x\nobject: o\nfloor: empty\nvariants:\n"                                            \
	"  - {name: a, maps: [" maps "]}\n  - {name: empty, object: p}\ndrive: [" drives "]\n"
#define BY_TEST_RUN "{with: step, trigger: test-run}"

static void test_sizes_of_maps(void **state)
{
	struct bb_scenario *s = must_parse(SIZES("{name: m, fill: {count: [10, 1000]}}, {name: n}",
						 BY_TEST_RUN ", {with: exact, trigger: test-run}"));
	static const struct {
		const char *name;
		uint32_t entries;
	} cases[] = {
		{"x/a/step/entries=10", 10},
		{"x/empty/step/entries=10", 0},
		{"x/a/step/entries=1000", 1000},
		{"x/empty/step/entries=1000", 0},
		{"x/a/exact", 1000},
		{"x/empty/exact", 0},
	};
	struct bb_err err = {0};
	struct bb_plan p;

	(void)state;
	p = must_plan(s, NULL); /* as `compare` plans it */
	assert_int_equal(p.n_cases, 4);
	assert_string_equal(p.cases[0].name, "x/a/step");
	assert_int_equal(p.cases[0].variant->maps.v[0].fill.count, 1000);
	bb_plan__done(&p);

	assert_int_equal(bb_scenario__spread_fills(s, &err), 0);
	p = must_plan(s, NULL);
	assert_int_equal(p.n_cases, ARRAY_LEN(cases));
	for (size_t i = 0; i < p.n_cases; i++) {
		const struct bb_plan_case *c = &p.cases[i];

		assert_string_equal(c->name, cases[i].name);
		assert_int_equal(c->driver_param, 0);
		if (cases[i].entries)
			assert_int_equal(c->variant->maps.v[0].fill.count, cases[i].entries);
	}
	assert_int_equal(p.cases[2].param_value, 1000);
	assert_int_equal(p.cases[2].floor, 3);
	bb_plan__done(&p);
	bb_scenario__free(s);
}

static void test_sizes_refused(void **state)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{SIZES("{name: m, fill: {count: [1, 2]}}, {name: n, fill: {count: [1, 3]}}",
		       BY_TEST_RUN),
		 "t.yml:5:56: map 'n' has other counts than another map"},
		{SIZES("{name: m, fill: {count: [1, 2]}}", "{with: step, stack_depth: [1, 2]}"),
		 "t.yml:7:9: this drive has several stack_depth, and a map is filled to several "
		 "sizes"},
		{SIZES("{name: m, fill: {count: [1, 2]}}", "{with: in-situ, workload: w}"),
		 "t.yml:7:9: a map is filled to several sizes, and this drive, in-situ, does not"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct bb_scenario *s = must_parse(bad[i].text);
		struct bb_err err = {0};

		assert_int_equal(bb_scenario__spread_fills(s, &err), -EINVAL);
		if (!strstr(err.msg, bad[i].says))
			fail_msg("not '%s': %s", bad[i].says, err.msg);
		bb_scenario__free(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_kind_has_turns),
		cmocka_unit_test(test_live),
		cmocka_unit_test(test_step_and_in_situ),
		cmocka_unit_test(test_cold),
		cmocka_unit_test(test_cold_sweep),
		cmocka_unit_test(test_copies_are_driven),
		cmocka_unit_test(test_nothing_to_cool),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_fake),
		cmocka_unit_test(test_named_inputs),
		cmocka_unit_test(test_numbered_inputs),
		cmocka_unit_test(test_almost_numbers),
		cmocka_unit_test(test_one_input_and_none),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_no_floor),
		cmocka_unit_test(test_floors_of_drives),
		cmocka_unit_test(test_unknown_names),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_namesakes),
		cmocka_unit_test(test_same_input),
		cmocka_unit_test(test_sizes_of_maps),
		cmocka_unit_test(test_sizes_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
