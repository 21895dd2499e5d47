/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/rng.h"
#include "plan/field.h"
#include "plan/scenario.h"
#include "plan/yaml.h"

/* scenarios/perf_profiler.yml. Texts with a comma are in quotes, because they are inside { }. */
static const char perf_profiler[] =
	"# A sampling profiler's kernel side.\n"
	"name: perf_profiler\n"
	"description: user-stack sampling profiler over the amicable-pairs search\n"
	"object: perf_profiler.bpf.o\n"
	"floor: empty\n"
	"variants:\n"
	"  - {name: empty, description: returns at once; the floor of the type}\n"
	"  - {name: ringbuf, description: \"reserve, get_stack, submit; wakes the reader when it "
	"is caught up\"}\n"
	"  - {name: ringbuf_nowakeup, description: \"as ringbuf, but never wakes the reader\"}\n"
	"  - {name: stackid, description: aggregates in the kernel with bpf_get_stackid and a hash "
	"map}\n"
	"  - {name: pid_filter, description: \"as ringbuf, for one other PID only: the early "
	"return\", "
	"globals: {target_pid: 1}}\n"
	"drive:\n"
	"  - {with: step, trigger: page-fault, inside: amicable_pairs, stack_depth: [8, 32, 127]}\n"
	"  - {with: in-situ, event: cpu-clock, freq_hz: [100, 1000], workload: amicable_pairs}\n"
	"expect: {drops: 0}\n";

/* A scenario with every key. */
static const char all_keys[] =
	"name: all.keys-1\n"
	"description: >\n"
	"  in two\n"
	"  lines\n"
	"object: a.bpf.o\n"
	"floor: b\n"
	"anchor: a\n"
	"loads: 12\n"
	"variants:\n"
	"  - name: a\n"
	"    program: prog_a\n"
	"    object: /other/b.bpf.o\n"
	"    description: 'first: a'\n"
	"    globals:\n"
	"      minus: -9223372036854775808\n"
	"      hex: 0x10\n"
	"      yes_please: true\n"
	"      no_thanks: false\n"
	"    maps: [{name: m, entries: [{key: 1, value: \"02\"}, {key: '03', program: q}]}]\n"
	"  - name: b\n"
	"maps:\n"
	"  - {name: n, reset: load}\n"
	"  - {name: m, entries: [{value: -1, key: 0x10}]}\n"
	"drive:\n"
	"  - with: fake\n"
	"    samples: 77\n"
	"  - {samples: 1000, stack_depth: 16, consumer: behind, caches: cold, with: step}\n"
	"  - with: in-situ\n"
	"    event: task-clock\n"
	"    freq_hz: 250\n"
	"    seconds: 2.5\n"
	"    workload: ./w\n"
	"    args: [-n, 5, \"\", \"a b\"]\n"
	"  - with: step\n"
	"    variants: [a]\n"
	"    floor: a\n"
	"    trigger: test-run\n"
	"    samples: 5\n"
	"    inputs:\n"
	"      - {name: raw, hex: \"0202 0202 0202 0101:01:01:01:01 88b5\", retval: 2, out_hex: "
	"\"00 01\"}\n"
	"      - {name: made, packet: {ipv4: {src: 10.0.0.1, dst: 10.0.0.2}, udp: {src: 1, dst: "
	"2}}, skb: {mark: 5, cb: [1]}}\n"
	"      - {name: context, context_hex: '00', retval: TC_ACT_SHOT}\n"
	"      - sweep: {packet: {ipv6: {src: '::1', dst: '::2'}}, byte: 14, from: 7, to: 9}\n"
	"        xdp: {ingress_ifindex: 2, metadata: 01020304}\n"
	"expect:\n"
	"  drops: 3\n";

static int parse(const char *text, struct bb_scenario **ret_scenario, struct bb_err *err)
{
	/* A copy without the terminator, so that AddressSanitizer sees a read past the end. */
	size_t len = strlen(text);
	char *copy = malloc(len ? len : 1);
	int rc;

	assert_non_null(copy);
	memcpy(copy, text, len);
	rc = bb_scenario__parse(copy, len, "t.yml", ret_scenario, err);
	free(copy);
	return rc;
}

static struct bb_scenario *must_parse(const char *text)
{
	struct bb_scenario *s = NULL;
	struct bb_err err = {0};

	if (parse(text, &s, &err))
		fail_msg("%s", err.msg);
	assert_non_null(s);
	return s;
}

/* A program's name becomes a variant's name, unchanged if the characters are allowed. */
static void test_names(void **state)
{
	static const char *const names[][2] = {{"_start", "_start"},
					       {"a.b-c_1", "a.b-c_1"},
					       {"", "x"},
					       {".hidden", "x.hidden"},
					       {"-o", "x-o"},
					       {"a b/c", "a_b_c"}};
	char name[BB_NAME_MAX_BYTES + 1];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		bb_name_from(names[i][0], strlen(names[i][0]), name);
		assert_string_equal(name, names[i][1]);
	}
	bb_scenario__free(must_parse("{name: _n, object: o, variants: [{name: _v}], drive: [{with: "
				     "step}]}"));
}

static void test_perf_profiler(void **state)
{
	struct bb_scenario *s = must_parse(perf_profiler);
	const struct bb_variant_spec *v;

	(void)state;
	assert_string_equal(s->path, "t.yml");
	assert_string_equal(s->name, "perf_profiler");
	assert_string_equal(s->description, "user-stack sampling profiler over the amicable-pairs "
					    "search");
	assert_string_equal(s->object, "perf_profiler.bpf.o");
	assert_string_equal(s->floor, "empty");
	assert_null(s->anchor);
	assert_int_equal(s->loads, 0);
	assert_int_equal(s->expect_drops, 0);
	assert_int_equal(s->n_variants, 5);
	v = bb_scenario__variant(s, "ringbuf");
	assert_ptr_equal(v, &s->variants[1]);
	assert_string_equal(v->program, "ringbuf");
	assert_null(v->object);
	assert_string_equal(v->description, "reserve, get_stack, submit; wakes the reader when it "
					    "is caught up");
	assert_int_equal(v->where.line, 8);
	assert_int_equal(v->where.col, 5);
	assert_int_equal(v->n_globals, 0);
	assert_null(bb_scenario__variant(s, "ringbu"));
	v = &s->variants[4];
	assert_int_equal(v->n_globals, 1);
	assert_string_equal(v->globals[0].name, "target_pid");
	assert_int_equal(v->globals[0].value, 1);
	assert_int_equal(v->globals[0].where.line, 11);
	bb_scenario__free(s);
}

static void test_drives(void **state)
{
	static const uint32_t depths[] = {8, 32, 127}, freqs[] = {100, 1000};
	struct bb_scenario *s = must_parse(perf_profiler);
	const struct bb_drive_spec *step = &s->drives[0], *in_situ = &s->drives[1];

	(void)state;
	assert_int_equal(s->n_drives, 2);
	assert_string_equal(step->kind->with, "step");
	assert_string_equal(step->kind->by[0], "page-fault");
	assert_string_equal(step->step.inside, "amicable_pairs");
	assert_int_equal(step->values.n, 3);
	assert_memory_equal(step->values.v, depths, sizeof(depths));
	assert_int_equal(step->step.consumer, BB_DRAIN_EACH_RUN);
	assert_int_equal(step->samples, 0);
	assert_int_equal(step->where.line, 13);
	assert_int_equal(step->where.col, 5);
	assert_string_equal(in_situ->kind->with, "in-situ");
	assert_string_equal(in_situ->event, "cpu-clock");
	assert_string_equal(in_situ->target.workload, "amicable_pairs");
	assert_int_equal(in_situ->target.n_args, 0);
	assert_int_equal(in_situ->values.n, 2);
	assert_memory_equal(in_situ->values.v, freqs, sizeof(freqs));
	assert_true(in_situ->seconds <= 0);
	bb_scenario__free(s);
}

/* Scenarios with the drive's old name, `slowdown`, can still be read. */
static void test_old_name_of_drive(void **state)
{
	static const char *const names[] = {"overhead", "slowdown"};
	char text[256];

	(void)state;
	for (size_t i = 0; i < BB_LEN(names); i++) {
		struct bb_scenario *s;

		snprintf(text, sizeof(text),
			 "name: n\nobject: o.bpf.o\nvariants: [{name: a}]\n"
			 "drive: [{with: %s, workload: w}]\n",
			 names[i]);
		s = must_parse(text);
		assert_string_equal(s->drives[0].kind->with, "overhead");
		assert_string_equal(bb_drive_kind_name(s->drives[0].kind), "slowdown");
		bb_scenario__free(s);
	}
}

/* If globals have lists, each combination of values is a variant. They replace the variant that has
 * the lists. */
static void test_lists_of_globals(void **state)
{
	struct bb_scenario *s = must_parse("name: n\nobject: o\ndrive: [{with: fake, variants: "
					   "[last, v.a-2.b-true]}]\n"
					   "variants: [{name: v, globals: {a: [1, 2], c: 5, b: "
					   "[true, -3]}}, {name: last}]\n");
	static const struct {
		const char *name;
		int64_t a, b;
	} want[] = {{"v.a-1.b-true", 1, 1},
		    {"v.a-2.b-true", 2, 1},
		    {"v.a-1.b--3", 1, -3},
		    {"v.a-2.b--3", 2, -3}};

	(void)state;
	assert_int_equal(s->n_variants, 5);
	for (size_t i = 0; i < 4; i++) {
		const struct bb_variant_spec *v = &s->variants[i];

		assert_string_equal(v->name, want[i].name);
		assert_string_equal(v->program, "v");
		assert_int_equal(v->n_globals, 3);
		assert_true(v->globals[0].value == want[i].a);
		assert_true(v->globals[1].value == 5);
		assert_true(v->globals[2].value == want[i].b);
	}
	assert_string_equal(s->variants[4].name, "last");
	bb_scenario__free(s);
}

static void test_all_keys(void **state)
{
	struct bb_scenario *s = must_parse(all_keys);
	const struct bb_variant_spec *a = &s->variants[0];
	const struct bb_drive_spec *d = s->drives;

	(void)state;
	assert_string_equal(s->description, "in two lines\n");
	assert_string_equal(s->anchor, "a");
	assert_int_equal(s->loads, 12);
	assert_int_equal(s->expect_drops, 3);
	assert_string_equal(a->program, "prog_a");
	assert_string_equal(a->object, "/other/b.bpf.o");
	assert_string_equal(a->description, "first: a");
	assert_int_equal(a->n_globals, 4);
	assert_true(a->globals[0].value == INT64_MIN);
	assert_true(a->globals[1].value == 16);
	assert_true(a->globals[2].value == 1);
	assert_true(a->globals[3].value == 0);
	assert_int_equal(a->maps.n, 2);
	assert_string_equal(a->maps.v[0].entries[1].program, "q");
	assert_int_equal(s->variants[1].maps.v[1].entries[0].value.number, -1);
	assert_int_equal(s->n_drives, 4);
	assert_string_equal(d[0].kind->with, "fake");
	assert_int_equal(d[0].samples, 77);
	assert_int_equal(d[1].samples, 1000);
	assert_int_equal(d[1].values.n, 1);
	assert_int_equal(d[1].values.v[0], 16);
	assert_int_equal(d[1].step.consumer, BB_DRAIN_HALF_FULL);
	assert_int_equal(d[1].caches, BB_CACHES_COLD);
	assert_string_equal(d[2].event, "task-clock");
	assert_int_equal(d[2].values.n, 1);
	assert_int_equal(d[2].values.v[0], 250);
	assert_true(d[2].seconds > 2.4999 && d[2].seconds < 2.5001);
	assert_string_equal(d[2].target.workload, "./w");
	assert_int_equal(d[2].target.n_args, 4);
	assert_string_equal(d[2].target.args[0], "-n");
	assert_string_equal(d[2].target.args[1], "5");
	assert_string_equal(d[2].target.args[2], "");
	assert_string_equal(d[2].target.args[3], "a b");
	assert_string_equal(d[3].kind->by[0], "test-run");
	assert_int_equal(d[3].samples, 5);
	assert_int_equal(d[3].n_variants, 1);
	assert_string_equal(d[3].variants[0], "a");
	assert_string_equal(d[3].floor, "a");
	assert_int_equal(d[2].n_variants, 0);
	assert_string_equal(d[2].floor, "b");
	assert_int_equal(d[3].values.n, 0); /* the default is for page faults, not for test runs */
	assert_int_equal(d[3].inputs.n, 6);
	assert_string_equal(d[3].inputs.v[5].name, "9");
	assert_int_equal(d[0].inputs.n, 0);
	assert_int_equal(d[1].inputs.n, 0);
	bb_scenario__free(s);
}

static void test_defaults(void **state)
{
	struct bb_scenario *s = must_parse("{name: n, variants: [{name: v}], drive: [{with: "
					   "fake}]}");
	const struct bb_drive_spec *d = s->drives;

	(void)state;
	assert_null(s->description);
	assert_null(s->object); /* nothing is loaded */
	assert_null(s->floor);
	assert_int_equal(s->expect_drops, -1);
	assert_string_equal(s->variants[0].program, "v");
	assert_ptr_equal(d->kind, bb_drive_kind_find("fake", NULL));
	assert_null(d->step.inside); /* keys of other kinds stay zero */
	assert_null(d->event);
	assert_int_equal(d->values.n, 0);
	assert_int_equal(d->step.consumer, BB_DRAIN_EACH_RUN);
	assert_int_equal(d->caches, BB_CACHES_HOT);
	assert_int_equal(d->samples, 0);
	assert_null(d->target.workload);
	assert_null(d->target.args);
	bb_scenario__free(s);
	bb_scenario__free(NULL);
	s = must_parse("{name: n, object: o, variants: [{name: v}], drive: [{with: step}]}");
	assert_string_equal(s->drives[0].kind->by[0], "page-fault");
	assert_string_equal(s->drives[0].step.inside, "amicable_pairs");
	assert_null(s->drives[0].event);
	assert_int_equal(s->drives[0].values.n, 1);
	assert_int_equal(s->drives[0].values.v[0], 8);
	bb_scenario__free(s);
	s = must_parse("{name: n, object: o, variants: [{name: v}], drive: [{with: pipeline, "
		       "workload: w}]}");
	assert_string_equal(s->drives[0].event, "cpu-clock");
	assert_int_equal(s->drives[0].values.n, 1);
	assert_int_equal(s->drives[0].values.v[0], 100);
	assert_string_equal(s->variants[0].consumer, "fixed");
	assert_string_equal(s->variants[0].sampler, "program");
	bb_scenario__free(s);
}

static void test_live(void **state)
{
	struct bb_scenario *s = must_parse("name: n\nvariants:\n  - {name: a, id: 12}\n  - {name: "
					   "b, pinned: /sys/fs/bpf/b}\n"
					   "drive: [{with: live, seconds: 2}, {with: step, "
					   "trigger: test-run}]\n");

	(void)state;
	assert_null(s->object); /* nothing is loaded */
	assert_int_equal(s->variants[0].id, 12);
	assert_null(s->variants[0].pinned);
	assert_true(bb_variant_is_live(&s->variants[0]));
	assert_string_equal(s->variants[1].pinned, "/sys/fs/bpf/b");
	assert_int_equal(s->variants[1].id, 0);
	assert_true(bb_variant_is_live(&s->variants[1]));
	assert_string_equal(s->drives[0].kind->with, "live");
	assert_true(s->drives[0].seconds == 2);
	assert_int_equal(s->drives[0].values.n, 0);
	bb_scenario__free(s);
}

static void test_objects_of_variants(void **state)
{
	struct bb_scenario *s = must_parse("name: n\ndrive: [{with: step}]\nvariants:\n"
					   "  - {name: a, object: a.o}\n"
					   "  - {name: b, object: b.o}\n");

	(void)state;
	assert_null(s->object);
	assert_string_equal(s->variants[0].object, "a.o");
	assert_string_equal(s->variants[1].object, "b.o");
	bb_scenario__free(s);
}

struct bad {
	const char *text;
	unsigned int line, col;
	const char *says;
};

#define V "variants: [{name: a}]\n"
#define D "drive: [{with: fake}]\n"
#define NVD "name: n\n" V D
#define DRIVE(d) "name: n\nobject: o\n" V "drive:\n  - {" d "}\n" /* the drive is at 5:5 */
#define VARIANT(v) "name: n\n" D "variants:\n  - {" v "}\n"       /* the variant is at 4:5 */

static const struct bad bad_keys[] = {
	{"varient: []\n" NVD, 1, 1, "unknown key 'varient' (did you mean 'variants'?)"},
	{"colour: []\n" NVD, 1, 1,
	 "unknown key 'colour'; a scenario takes: name, description, object, floor,"},
	{VARIANT("name: a, progam: b"), 4, 15, "unknown key 'progam' (did you mean 'program'?)"},
	{VARIANT("name: a, description: take, then give"), 4, 34,
	 "a text that holds a comma must be quoted"},
	{DRIVE("with: step, stack_dept: 8"), 5, 18,
	 "unknown key 'stack_dept' (did you mean 'stack_depth'?)"},
	{NVD "expect: {drop: 0}\n", 4, 10,
	 "unknown key 'drop' (did you mean 'drops'?); expect takes: drops"},
	{VARIANT("name: a, id: 1, pinned: /p"), 4, 5,
	 "variant 'a' has both an id and a pin; give one of them"},
	{VARIANT("name: a, id: 1, program: b"), 4, 31,
	 "key 'program' is for programs that bpfbench loads; variant 'a' is a live program, named "
	 "by its id"},
	{VARIANT("name: a, pinned: /p, object: b"), 4, 35,
	 "key 'object' is for programs that bpfbench loads"},
	{VARIANT("name: a, pinned: /p, globals: {g: 1}"), 4, 36,
	 "is a live program, named by its pin"},
	{VARIANT("name: a, id: 1, maps: [{name: m, reset: run}]"), 4, 28,
	 "is a live program, named by its id"},
	{VARIANT("name: a, id: 0"), 4, 19, "id must be from 1 to 4294967295"},
	{DRIVE("with: live, workload: w"), 5, 18,
	 "key 'workload' does not belong to 'with: live' but to in-situ, in-situ by attach, "
	 "pipeline, overhead; live takes: with, seconds"},
	{"name: n\nvariants: [{name: a, id: 1}, {name: b}]\ndrive: [{with: live}]\n", 1, 1,
	 "a scenario needs the key 'object'"},
	{DRIVE("with: step, freq_hz: 100"), 5, 18,
	 "key 'freq_hz' does not belong to 'with: step' but to in-situ"},
	{DRIVE("with: in-situ, event: packets, workload: w"), 5, 37,
	 "key 'workload' does not belong to 'event: packets' but to in-situ, in-situ by attach, "
	 "pipeline, overhead; in-situ by packets takes: with, "
	 "inputs, order, event, rate_hz, seconds"},
	{DRIVE("with: in-situ, event: http, inputs: [{hex: '00'}]"), 5, 34,
	 "key 'inputs' does not belong to 'event: http' but to step by test-run, slope, parallel, "
	 "packets, "
	 "in-situ by "
	 "packets"},
	{DRIVE("with: in-situ, event: http, freq_hz: 50"), 5, 34,
	 "but to in-situ, pipeline, overhead; in-situ by http takes: with, event, rate_hz"},
	{DRIVE("with: in-situ, event: attach"), 5, 5, "workload"},
	{DRIVE("with: pipeline, event: packets, workload: w"), 5, 29,
	 "unknown event 'packets'; there are: cpu-clock, task-clock"},
	{DRIVE("with: in-situ, event: pakets"), 5, 28,
	 "unknown event 'pakets' (did you mean 'packets'?)"},
	{DRIVE("with: in-situ, event: packets, rate_hz: 0"), 5, 46,
	 "rate_hz must be from 1 to 100000"},
	{DRIVE("with: step, event: packets"), 5, 18, "key 'event' does not belong to 'with: step'"},
	{DRIVE("with: in-situ, workload: w, samples: 9"), 5, 34,
	 "but to step by page-fault, step by test-run, step by fire, slope, parallel, packets, "
	 "hook, exact "
	 "by "
	 "page-fault, exact by test-run, exact by fire, lines by page-fault, lines by test-run, "
	 "lines by fire, fake; in-situ takes: with, event,"},
	{DRIVE("stack_depth: 8, with: fake"), 5, 6,
	 "key 'stack_depth' does not belong to 'with: fake' but to step by page-fault, exact by "
	 "page-fault, lines by page-fault; fake takes: "
	 "with, samples"},
	{DRIVE("stack_depth: 8, with: step, trigger: test-run"), 5, 6,
	 "key 'stack_depth' does not belong to 'trigger: test-run' but to step by page-fault, "
	 "exact by page-fault, lines by page-fault; step "
	 "by test-run takes: with, "
	 "trigger, caches, inputs, order, samples"},
	{DRIVE("with: step, caches: luke"), 5, 26, "unknown caches 'luke'; there are: hot, cold"},
	{DRIVE("with: slope, caches: cold"), 5, 19,
	 "key 'caches' does not belong to 'with: slope'"},
	{DRIVE("with: step, trigger: test-run, inside: amicable_pairs"), 5, 37,
	 "key 'inside' does not belong to 'trigger: "},
	{DRIVE("with: step, consumer: behind, trigger: test-run"), 5, 18,
	 "key 'consumer' does not belong to 'trigger: "},
	{DRIVE("with: step, inputs: [{name: a, hex: \"00\"}]"), 5, 18,
	 "key 'inputs' does not belong to 'with: step' but to step by test-run"},
	{DRIVE("with: step, trigger: page-fault, inputs: [a]"), 5, 39, "but to step by test-run"},
	{DRIVE("with: in-situ, workload: w, inputs: [a]"), 5, 34,
	 "does not belong to 'with: in-situ' but to step by test-run"},
	{DRIVE("with: in-situ, trigger: test-run"), 5, 21,
	 "but to step by page-fault, step by test-run, step by fire, exact by page-fault, exact by "
	 "test-run, exact by fire, lines by page-fault, lines by test-run, lines by fire; in-situ "
	 "takes"},
	{"name: n\nname: m\n" V D, 2, 1, "key 'name' is given twice; its first value is at 1:7"},
	{VARIANT("name: a, globals: {g: 1, g: 2}"), 4, 31, "key 'g' is given twice"},
	{"? [a]\n: b\n" NVD, 1, 3, "a key must be text, not a list"},
	{V D, 1, 1, "a scenario needs the key 'name'"},
	{"name: n\n" D, 1, 1, "a scenario needs the key 'variants'"},
	{"name: n\n" V, 1, 1, "a scenario needs the key 'drive'"},
	{"\n\nname: n\n" V "drive: [{with: fake}, {with: step}]\n", 3, 1,
	 "needs the key 'object', the file with the BPF programs, for its drive at 5:23"},
	{VARIANT("program: a"), 4, 5, "a variant needs the key 'name'"},
	{DRIVE("trigger: page-fault"), 5, 5,
	 "a drive needs the key 'with', one of: step, slope, parallel, packets, hook, in-situ, "
	 "live, exact, "
	 "lines, "
	 "pipeline, overhead, call, fake"},
	{DRIVE("with: in-situ"), 5, 5, "a drive needs the key 'workload'"},
	{NVD "expect: {}\n", 4, 9, "expect needs the key 'drops'"},
};

static const struct bad bad_names[] = {
	{"name: a/b\n" V D, 1, 7,
	 "name 'a/b' must be letters, digits, '_', '-' and '.', begin with a letter, digit or '_'"},
	{"name: .a\n" V D, 1, 7, "name '.a' must be"},
	{"name: \"\"\n" V D, 1, 7, "name must not be empty"},
	{"name:\n" V D, 1, 6, "name must be a text, not nothing"},
	{"name: ~\n" V D, 1, 7, "name must be a text, not nothing"},
	{"name: [a]\n" V D, 1, 7, "name must be a text, not a list"},
	{"name: \"a\\nb\"\n" V D, 1, 7, "name 'a\\x0ab' must be"},
	{"name: \"a\\e[2Jb\\u009b\"\n" V D, 1, 7, "name 'a\\x1b[2Jb\\xc2\\x9b' must be"},
	{"name: n\xc3\xb6\n" V D, 1, 7, "name 'n\xc3\xb6' must be"},
	{VARIANT("name: a b"), 4, 12, "name 'a b' must be"},
	{"name: n\n" D "variants:\n- name: a\n- name: b\n- name: a\n", 6, 9,
	 "variant 'a' is given twice; the first is at 4:3"},
	{NVD "floor: b\n", 4, 8, "floor 'b' is no variant (did you mean 'a'?); there are: a"},
	{NVD "floor: ''\n", 4, 8, "floor must not be empty"},
	{"name: n\n" D "variants: [{name: empty}, {name: ringbuf}]\nanchor: rinbuf\n", 4, 9,
	 "anchor 'rinbuf' is no variant (did you mean 'ringbuf'?); there are: empty, ringbuf"},
	{"name: n\n" D "variants: [{name: empty}, {name: ringbuf}]\nanchor: nowhere\n", 4, 9,
	 "anchor 'nowhere' is no variant; there are: empty, ringbuf"},
	{DRIVE("with: stp"), 5, 12,
	 "unknown with 'stp' (did you mean 'step'?); there are: step, slope, parallel, packets, "
	 "hook, "
	 "in-situ, live, "
	 "exact, lines, pipeline, overhead, call, fake"},
	{DRIVE("with: [step]"), 5, 12,
	 "with must be one of: step, slope, parallel, packets, hook, in-situ, live, exact, lines, "
	 "pipeline, "
	 "overhead, "
	 "call, fake; not a list"},
	{DRIVE("with: "), 5, 12,
	 "with must be one of: step, slope, parallel, packets, hook, in-situ, live, exact, lines, "
	 "pipeline, "
	 "overhead, "
	 "call, fake; not nothing"},
	{DRIVE("with: step, trigger: page-falt"), 5, 27,
	 "unknown trigger 'page-falt' (did you mean 'page-fault'?)"},
	{DRIVE("with: step, inputs: [a], trigger: test-rum"), 5, 40,
	 "unknown trigger 'test-rum' (did you mean 'test-run'?)"},
	{DRIVE("with: step, trigger: []"), 5, 27,
	 "trigger must be one of: page-fault, test-run, fire; not a list"},
	{DRIVE("with: step, inside: main"), 5, 26,
	 "unknown inside 'main'; there are: amicable_pairs"},
	{DRIVE("with: step, consumer: behnd"), 5, 28,
	 "unknown consumer 'behnd' (did you mean 'behind'?)"},
	{DRIVE("with: fake, floor: b"), 5, 25,
	 "floor 'b' is no variant (did you mean 'a'?); there are: a"},
	{DRIVE("with: fake, variants: [a, b]"), 5, 32,
	 "variants: 'b' is no variant (did you mean 'a'?); there are: a"},
	{DRIVE("with: fake, variants: [a, a]"), 5, 32, "variants lists 'a' twice"},
	{DRIVE("with: in-situ, event: cycles"), 5, 28,
	 "unknown event 'cycles'; there are: cpu-clock, task-clock"},
};

static const struct bad bad_values[] = {
	{DRIVE("with: step, stack_depth: abc"), 5, 31,
	 "stack_depth must be a whole number or a list of whole numbers, not 'abc'"},
	{DRIVE("with: step, stack_depth: [8, 1.5]"), 5, 35,
	 "stack_depth must be a whole number or a list of whole"},
	{DRIVE("with: step, stack_depth: [8, [9]]"), 5, 35, "list of whole numbers, not a list"},
	{DRIVE("with: step, stack_depth: \"8\""), 5, 31, "not the quoted text '8'"},
	{DRIVE("with: step, stack_depth: "), 5, 31, "not nothing"},
	{DRIVE("with: step, stack_depth: {a: 1}"), 5, 31, "not a mapping"},
	{DRIVE("with: step, stack_depth: []"), 5, 31, "stack_depth must not be an empty list"},
	{DRIVE("with: step, stack_depth: [8, 0]"), 5, 35,
	 "stack_depth must be from 1 to 127, not '0'"},
	{DRIVE("with: step, stack_depth: 128"), 5, 31,
	 "stack_depth must be from 1 to 127, not '128'"},
	{DRIVE("with: step, stack_depth: -1"), 5, 31,
	 "stack_depth must be from 1 to 127, not '-1'"},
	{DRIVE("with: step, stack_depth: [8, 9, 8]"), 5, 38, "stack_depth lists 8 twice"},
	{DRIVE("with: in-situ, freq_hz: 100001"), 5, 30,
	 "freq_hz must be from 1 to 100000, not '100001'"},
	{DRIVE("with: in-situ, freq_hz: 18446744073709551617"), 5, 30,
	 "freq_hz must be from 1 to 100000"},
	{DRIVE("with: in-situ, seconds: 0"), 5, 30, "seconds must be from 0.01 to 86400, not '0'"},
	{DRIVE("with: in-situ, seconds: nan"), 5, 30, "seconds must be a number, not 'nan'"},
	{DRIVE("with: in-situ, seconds: 2s"), 5, 30, "seconds must be a number, not '2s'"},
	{DRIVE("with: in-situ, seconds: \"2\""), 5, 30,
	 "seconds must be a number, not the quoted text '2'"},
	{DRIVE("with: in-situ, workload: {}"), 5, 31, "workload must be a text, not a mapping"},
	{DRIVE("with: in-situ, args: -n"), 5, 27, "args must be a list of texts, not '-n'"},
	{DRIVE("with: in-situ, args: []"), 5, 27, "args must not be an empty list"},
	{DRIVE("with: in-situ, args: [a, ~]"), 5, 31, "an argument must be a text, not nothing"},
	{DRIVE("with: fake, variants: a"), 5, 28, "variants must be a list of texts, not 'a'"},
	{DRIVE("with: fake, variants: []"), 5, 28, "variants must not be an empty list"},
	{DRIVE("with: fake, variants: [a, [a]]"), 5, 32,
	 "a variant's name must be a text, not a list"},
	{DRIVE("with: fake, floor: [a]"), 5, 25, "floor must be a text, not a list"},
	{DRIVE("with: fake, samples: 0"), 5, 27, "samples must be from 1 to 100000000, not '0'"},
	{DRIVE("with: fake, samples: [1]"), 5, 27, "samples must be a whole number, not a list"},
	{"loads: 0\n" NVD, 1, 8, "loads must be from 1 to 10000, not '0'"},
	{"loads: many\n" NVD, 1, 8, "loads must be a whole number, not 'many'"},
	{NVD "expect: {drops: -1}\n", 4, 17, "drops must be from 0 to 2147483647, not '-1'"},
	{NVD "expect: 0\n", 4, 9, "expect must be a mapping such as {drops: 0}, not '0'"},
	{NVD "object:\n", 4, 8, "object must be a text, not nothing"},
	{"variants: a\n", 1, 11, "variants must be a list of variants, not 'a'"},
	{"variants: []\n", 1, 11, "variants must not be an empty list"},
	{"variants: [a]\n", 1, 12, "a variant must be a mapping such as {name: ringbuf}, not 'a'"},
	{"drive: {with: fake}\n", 1, 8,
	 "drive must be a list of mappings such as {with: step}, not a mapping"},
	{"drive: []\n", 1, 8, "drive must not be an empty list"},
	{"drive: [fake]\n", 1, 9, "a drive must be a mapping such as {with: step}, not 'fake'"},
	{VARIANT("globals: [g]"), 4, 15, "globals must be a mapping such as {name: 5}, not a list"},
	{VARIANT("globals: {}"), 4, 15, "globals must not be an empty mapping"},
	{VARIANT("globals: {g: x}"), 4, 19,
	 "global 'g' must be a whole number, true or false, not 'x'"},
	{VARIANT("globals: {g: \"true\"}"), 4, 19, "true or false, not the quoted text 'true'"},
	{VARIANT("globals: {g: []}"), 4, 19, "global 'g' must not be an empty list"},
	{VARIANT("name: a, globals: {g: [1, x]}"), 4, 32,
	 "global 'g' must be a whole number, true or false, not 'x'"},
	{VARIANT("name: a, globals: {g: [[1]]}"), 4, 29,
	 "a list of values of global 'g' has numbers"},
	{VARIANT("name: a, globals: {g: [1, 2, 1]}"), 4, 12, "variant 'a.g-1' is given twice"},
	{VARIANT("name: a, globals: {g: [1, 2, 3, 4, 5, 6, 7, 8], "
		 "h: [1, 2, 3, 4, 5, 6, 7, 8, 9]}"),
	 4, 57, "more than 64 combinations"},
	{VARIANT("globals: {g: 9223372036854775808}"), 4, 19,
	 "global 'g' does not fit into 64 bits"},
	{VARIANT("globals: {'': 1}"), 4, 16, "a global needs a name"},
};

/* Errors of libyaml, and of the tree built from it. Of libyaml's own texts, only a word or two are
 * compared. */
static const struct bad bad_yaml[] = {
	{"", 1, 1, "the file is empty"},
	{"# only a comment\n", 1, 1, "the file is empty"},
	{"---\n", 2, 1, "a scenario must be a mapping such as 'name: perf_profiler', not nothing"},
	{"- name\n", 1, 1,
	 "a scenario must be a mapping such as 'name: perf_profiler', not a list"},
	{"just a text\n", 1, 1, "not 'just a text'"},
	{NVD "---\n" NVD, 4, 1, "a second document begins here"},
	{"name: [a\n", 2, 1, "begins at 1:7"},
	{"name: n\n bad: x\n", 2, 5,
	 "check the indentation, and put quotes around a text that holds ': '"},
	{"name:\n\t- x\n", 2, 1, "indent with spaces"},
	{"name: \"abc\n", 2, 1, "quoted scalar"},
	{"name: &x n\n", 1, 7, "anchors (&name) are not supported"},
	{"name: n\nvariants: *x\n", 2, 11, "aliases (*name) are not supported"},
	{"a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n", 1, 4, "anchors (&name) are not supported"},
	{"name: !!str n\n", 1, 7, "tags (!name) are not supported"},
	{"name: \"a\\0b\"\n", 1, 7, "must not hold a NUL"},
	{"name: n\nobject: \xff\n", 2, 9, "UTF-8"},
	{"name: n\nobject: \xc3\xb6\x01\n", 2, 10, "control characters"},
	{"name: [[[[[[[[[[[[[[[[[[\n", 1, 22, "nested more than 16 levels deep"},
};

static void expect_bad(const struct bad *bad)
{
	struct bb_scenario *s = NULL;
	struct bb_err err = {0};
	char where[32];
	int rc = parse(bad->text, &s, &err);

	snprintf(where, sizeof(where), "t.yml:%u:%u: ", bad->line, bad->col);
	if (rc != -EINVAL || err.code != -EINVAL || strncmp(err.msg, where, strlen(where)) ||
	    !strstr(err.msg, bad->says) || strchr(err.msg, '\n'))
		fail_msg("rc %d\n  for:  %s\n  says: %s\n  not:  %s%s", rc, bad->text, err.msg,
			 where, bad->says);
	assert_null(s);
}

#define TEST_BAD(table)                                                                            \
	static void test_##table(void **state)                                                     \
	{                                                                                          \
		(void)state;                                                                       \
		for (size_t i = 0; i < sizeof(table) / sizeof((table)[0]); i++)                    \
			expect_bad(&(table)[i]);                                                   \
	}

TEST_BAD(bad_keys)
TEST_BAD(bad_names)
TEST_BAD(bad_values)
TEST_BAD(bad_yaml)

static void test_nul_byte(void **state)
{
	static const char text[] = "name: n\nobj\0ect: x\n";
	struct bb_scenario *s = NULL;
	struct bb_err err = {0};

	(void)state;
	assert_int_equal(bb_scenario__parse(text, sizeof(text) - 1, "t.yml", &s, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "t.yml:2:4: control characters are not allowed"));
	assert_int_equal(bb_scenario__parse(text, sizeof(text) - 1, "t.yml", &s, NULL), -EINVAL);
}

static void test_byte_order_mark(void **state)
{
	struct bb_scenario *s = must_parse("\xef\xbb\xbf" NVD);
	static const struct bad bad = {"\xef\xbb\xbfnaem: n\n", 1, 1,
				       "unknown key 'naem' (did you mean 'name'?)"};

	(void)state;
	assert_string_equal(s->name, "n");
	bb_scenario__free(s);
	expect_bad(&bad);
}

/* A name of 128 bytes is valid, one of 129 is not. */
static void test_name_length(void **state)
{
	char text[256];
	struct bb_scenario *s;
	struct bad bad = {text, 1, 7, "be at most 128 long"};

	(void)state;
	snprintf(text, sizeof(text), "name: %0128d\n" V D, 1);
	s = must_parse(text);
	assert_int_equal(strlen(s->name), 128);
	bb_scenario__free(s);
	snprintf(text, sizeof(text), "name: %0129d\n" V D, 1);
	expect_bad(&bad);
}

static char *repeat(const char *head, const char *part, size_t n, const char *tail)
{
	size_t len = strlen(head), part_len = strlen(part);
	char *text = malloc(len + n * part_len + strlen(tail) + 1);

	assert_non_null(text);
	memcpy(text, head, len);
	for (size_t i = 0; i < n; i++, len += part_len)
		memcpy(text + len, part, part_len);
	strcpy(text + len, tail);
	return text;
}

static void test_bounds(void **state)
{
	struct bad bad = {.line = 1,
			  .col = 8 + 2 * BB_YAML_MAX_ENTRIES,
			  .says = "a list has more than 1024 items"};
	struct bb_scenario *s = NULL;
	struct bb_err err = {0};
	char *text;

	(void)state;
	bad.text = text = repeat("name: [", "a,", BB_YAML_MAX_ENTRIES + 1, "]\n");
	expect_bad(&bad);
	free(text);
	bad = (struct bad){.line = 17, .col = 1, .says = "more than 16 lines begin with %"};
	bad.text = text = repeat("", "%TAG !a! tag:a\n", 50000, "--- a\n");
	expect_bad(&bad);
	free(text);
	text = repeat(NVD "#", "#", BB_YAML_MAX_BYTES - sizeof(NVD), "\n");
	assert_int_equal(strlen(text), BB_YAML_MAX_BYTES + 1);
	assert_int_equal(parse(text, &s, &err), -EFBIG);
	assert_string_equal(err.msg, "t.yml: larger than 1024 KiB, the limit for a scenario");
	text[BB_YAML_MAX_BYTES] = 0;
	s = must_parse(text);
	bb_scenario__free(s);
	free(text);
}

static void test_many_keys(void **state)
{
	struct bad bad = {.line = 1, .says = "a mapping has more than 1024 keys"};
	char *text = repeat("{", "", 0, ""), *more;
	size_t len = 1;

	(void)state;
	for (int i = 0; i <= BB_YAML_MAX_ENTRIES; i++) {
		char key[16];

		bad.col = (unsigned int)len + 1;
		snprintf(key, sizeof(key), "k%d: 1,", i);
		more = repeat(text, key, 1, "");
		free(text);
		text = more;
		len += strlen(key);
	}
	bad.text = text;
	expect_bad(&bad);
	free(text);
}

/* A list of names that is too long for a message is cut off and ends in "...". */
static void test_many_variants(void **state)
{
	struct bad bad = {.line = 3,
			  .col = 8,
			  .says = "floor 'zzz' is no variant; there are: v0long, v1long, "};
	char text[2048] = "name: n\n" D "floor: zzz\nvariants:\n";
	struct bb_scenario *s = NULL;
	struct bb_err err = {0};

	(void)state;
	for (int i = 0; i < 60; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "- name: v%dlong\n", i);
	bad.text = text;
	expect_bad(&bad);
	parse(text, &s, &err);
	assert_string_equal(err.msg + strlen(err.msg) - 3, "...");
}

/* A copy of a variant gets the drives of that variant, and no others. */
static void test_copies_are_driven(void **state)
{
	struct bb_scenario *s = must_parse("name: n\nvariants: [{name: a}, {name: b}]\ndrive: "
					   "[{with: fake, variants: [a]}, "
					   "{with: fake, variants: [b]}, {with: fake}]\n");
	struct bb_err err = {0};

	(void)state;
	assert_int_equal(bb_scenario__add_variant(s, "copy", "b", NULL, &err), 0);
	assert_int_equal(s->drives[0].n_variants, 1);
	assert_int_equal(s->drives[1].n_variants, 2);
	assert_string_equal(s->drives[1].variants[1], "copy");
	assert_int_equal(s->drives[2].n_variants, 0);
	bb_scenario__free(s);
}

static void test_files(void **state)
{
	char dir[] = "/tmp/bb_test_scenario.XXXXXX", path[64];
	struct bb_scenario *s = NULL;
	struct bb_err err = {0};
	FILE *file;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/x.yml", dir);
	assert_int_equal(bb_scenario__read(path, false, &s, &err), -ENOENT);
	assert_non_null(strstr(err.msg, "x.yml: cannot open the scenario: No such file"));
	assert_int_equal(bb_scenario__read(dir, false, &s, &err), -EISDIR);
	assert_non_null(strstr(err.msg, ": cannot read the scenario: Is a directory"));
	assert_int_equal(bb_scenario__read("/dev/zero", false, &s, &err), -EFBIG);
	assert_null(s);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(all_keys, file) >= 0);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(bb_scenario__read(path, false, &s, &err), 0);
	assert_string_equal(s->path, path);
	assert_string_equal(s->name, "all.keys-1");
	bb_scenario__free(s);
	unlink(path);
	rmdir(dir);
}

static void test_outline(void **state)
{
	static const char text[] = "{name: s, description: d, object: s.bpf.o, variants: [{name: "
				   "a, description: d}],\n"
				   "drive: [{with: step, trigger: test-run, order: random, inputs: "
				   "[{name: f,\n"
				   "flows: 1000, packet: {ipv4: {src: 10.0.0.1, dst: 10.0.0.2}, "
				   "size: 64}}]}]}\n";
	char path[] = "/tmp/bb_test_scenario.XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	for (int is_outline = 0; is_outline < 2; is_outline++) {
		struct bb_scenario *s = NULL;
		struct bb_err err = {0};

		if (bb_scenario__read(path, is_outline, &s, &err))
			fail_msg("%s", err.msg);
		assert_int_equal(s->drives[0].inputs.n, is_outline ? 2 : 1000);
		bb_scenario__free(s);
	}
	unlink(path);
}

/* Reads a scenario of this repository, found beside this source. Returns NULL if it is not
 * there. */
static struct bb_scenario *read_shipped(const char *name)
{
	char path[4096];
	const char *slash = strrchr(__FILE__, '/');
	struct bb_scenario *s = NULL;
	struct bb_err err = {0};

	snprintf(path, sizeof(path), "%.*s/../../../../scenarios/%s.yml",
		 slash ? (int)(slash - __FILE__) : 1, slash ? __FILE__ : ".", name);
	if (access(path, R_OK)) {
		print_message("# skip: %s is not there from this directory\n", path);
		return NULL;
	}
	if (bb_scenario__read(path, false, &s, &err))
		fail_msg("%s", err.msg);
	assert_string_equal(s->name, name);
	return s;
}

static void test_shipped(void **state)
{
	struct bb_scenario *s = read_shipped("perf_profiler");

	(void)state;
	if (!s)
		skip();
	bb_scenario__free(s);
}

/* All 256 source addresses, each once. The frames differ only in the address and the checksums. */
static void test_shipped_fun_xdp(void **state)
{
	struct bb_scenario *s = read_shipped("fun_xdp");
	const struct bb_drive_spec *d;

	(void)state;
	if (!s)
		skip();
	d = &s->drives[0];
	assert_int_equal(s->n_variants, 6);
	assert_string_equal(s->floor, "empty");
	assert_string_equal(s->object, "fun_xdp.bpf.o");
	assert_string_equal(d->kind->by[0], "test-run");
	assert_int_equal(d->inputs.n, 256);
	for (size_t i = 0; i < 256; i++) {
		const struct bb_input *in = &d->inputs.v[i];
		const uint8_t rest[] = {10, 2, 3};
		char name[8];

		snprintf(name, sizeof(name), "%zu", i);
		assert_string_equal(in->name, name);
		assert_int_equal(in->len, 64);
		assert_int_equal(in->data[26], i); /* the first byte of the source address */
		assert_memory_equal(in->data + 27, rest, sizeof(rest));
		assert_true(in->has_retval && !in->is_context && !in->out);
		assert_int_equal(in->retval, 2); /* XDP_PASS of linux/bpf.h */
	}
	bb_scenario__free(s);
}

/* Changes text[*len] (room for `size` bytes) once: cuts it off, flips a bit, or copies or drops a
 * piece. */
static void mutate(struct bb_rng *rng, char *text, size_t *len, size_t size)
{
	static const char special[] = "{}[]:,-?#&*!|>'\"%@`\n\t \\~0a\xff\xc3";
	size_t at = (size_t)bb_rng_below(rng, *len), piece = 1 + (size_t)bb_rng_below(rng, 40);

	if (piece > *len - at)
		piece = *len - at;
	switch (bb_rng_below(rng, 12)) {
	case 0: *len = at ? at : 1; break;
	case 1:
	case 2:
	case 3: text[at] = (char)(text[at] ^ (1 << bb_rng_below(rng, 8))); break;
	case 4:
	case 5:
	case 6:
		text[at] = special[bb_rng_below(rng, sizeof(special))]; /* also the array's NUL */
		break;
	case 7:
	case 8:
	case 9:
		if (*len + piece > size)
			break;
		memmove(text + at + piece, text + at, *len - at);
		*len += piece;
		break;
	default:
		if (piece == *len)
			break;
		memmove(text + at, text + at + piece, *len - at - piece);
		*len -= piece;
		break;
	}
}

/* No text crashes the reader, hangs it or leaks memory (seen by AddressSanitizer). Every error is
 * one line that begins with the place. */
static void test_mutations(void **state)
{
	enum { ROUNDS = 6000 };
	const char *const seeds[] = {perf_profiler, all_keys};
	struct bb_rng rng;
	size_t n_ok = 0;

	(void)state;
	bb_rng_seed(&rng, 20240611);
	for (int round = 0; round < ROUNDS; round++) {
		const char *seed = seeds[round % 2];
		size_t len = strlen(seed), size = 2 * len;
		char *text = malloc(size), *copy;
		struct bb_scenario *s = NULL;
		struct bb_err err = {0};
		int rc;

		assert_non_null(text);
		memcpy(text, seed, len);
		for (uint64_t i = bb_rng_below(&rng, 4) + 1; i; i--)
			mutate(&rng, text, &len, size);
		copy = realloc(text, len); /* without room behind it, for AddressSanitizer */
		assert_non_null(copy);
		rc = bb_scenario__parse(copy, len, "t.yml", &s, &err);
		if (!rc) {
			n_ok++;
			assert_true(s->n_variants && s->n_drives && s->name &&
				    s->drives[0].kind->with);
			bb_scenario__free(s);
		} else if (rc != -EINVAL || s || strncmp(err.msg, "t.yml:", 6) ||
			   strlen(err.msg) < 12 || strpbrk(err.msg, "\n\r\033")) {
			fail_msg("round %d: rc %d, '%s'", round, rc, err.msg);
		}
		free(copy);
	}
	/* Both outcomes must be frequent, or the test would show little. */
	assert_in_range(n_ok, ROUNDS / 100, ROUNDS - ROUNDS / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_perf_profiler),
		cmocka_unit_test(test_drives),
		cmocka_unit_test(test_old_name_of_drive),
		cmocka_unit_test(test_live),
		cmocka_unit_test(test_objects_of_variants),
		cmocka_unit_test(test_all_keys),
		cmocka_unit_test(test_lists_of_globals),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_bad_keys),
		cmocka_unit_test(test_bad_names),
		cmocka_unit_test(test_bad_values),
		cmocka_unit_test(test_bad_yaml),
		cmocka_unit_test(test_nul_byte),
		cmocka_unit_test(test_byte_order_mark),
		cmocka_unit_test(test_name_length),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_many_keys),
		cmocka_unit_test(test_many_variants),
		cmocka_unit_test(test_copies_are_driven),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_outline),
		cmocka_unit_test(test_shipped),
		cmocka_unit_test(test_shipped_fun_xdp),
		cmocka_unit_test(test_mutations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
