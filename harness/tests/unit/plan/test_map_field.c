/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The key `maps` of a scenario: every form, every error with its place, and which variant gets
 * which maps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>

#include "plan/scenario.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* The maps are in line 5. The first one's "{" is in column 8, the key after its name in column
 * 18. */
#define HEAD "name: n\nobject: o\nvariants: [{name: a}]\ndrive: [{with: step}]\n"
#define MAPS(list) HEAD "maps: [" list "]\n"
#define ENTRIES(list)                                                                              \
	MAPS("{name: m, entries: [" list "]}") /* the first entry's "{" is in column 28 */

static struct bb_scenario *must_parse(const char *text)
{
	struct bb_scenario *s = NULL;
	struct bb_err err = {0};

	if (bb_scenario__parse(text, strlen(text), "t.yml", &s, &err))
		fail_msg("%s", err.msg);
	return s;
}

static void test_forms(void **state)
{
	struct bb_scenario *s = must_parse(ENTRIES("{key: 0x0a000001, value: -1}, {value: \"01 "
						   "00\", key: \"0a:00 0001\"}, "
						   "{key: 3, program: tail_b}"));
	const struct bb_map_specs *maps = &s->variants[0].maps;
	const struct bb_map_entry *e;

	(void)state;
	assert_int_equal(maps->n, 1);
	assert_string_equal(maps->v[0].name, "m");
	assert_false(maps->v[0].each_run);
	assert_int_equal(maps->v[0].n_entries, 3);
	e = maps->v[0].entries;
	assert_true(e[0].key.is_number && e[0].value.is_number);
	assert_int_equal(e[0].key.number, 0x0a000001);
	assert_int_equal(e[0].value.number, -1);
	assert_false(e[1].key.is_number || e[1].value.is_number);
	assert_int_equal(e[1].key.bytes.len, 4);
	assert_memory_equal(e[1].key.bytes.data, "\x0a\0\0\1", 4);
	assert_int_equal(e[1].value.bytes.len, 2);
	assert_memory_equal(e[1].value.bytes.data, "\1\0", 2);
	assert_null(e[0].program);
	assert_string_equal(e[2].program, "tail_b");
	assert_int_equal(e[2].where.line, 5);
	bb_scenario__free(s);
}

/* Sizes and flags apply to every variant. */
static void test_shape(void **state)
{
	struct bb_scenario *s = must_parse("name: n\nobject: o\nvariants: [{name: a}, {name: "
					   "b}]\ndrive: [{with: step}]\nmaps: "
					   "[{name: m, max_entries: 5, value_size: 8, flags: "
					   "[no_prealloc, mmapable], per_cpu: yes, inner: "
					   "{max_entries: 7, flags: []}}, {name: n}]\n");
	const struct bb_map_spec *m = bb_map_specs__find(&s->variants[1].maps, "m");

	(void)state;
	assert_int_equal(m->shape.max_entries, 5);
	assert_int_equal(m->shape.value_size, 8);
	assert_int_equal(m->shape.flags, BPF_F_NO_PREALLOC | BPF_F_MMAPABLE);
	assert_true(m->shape.per_cpu);
	assert_int_equal(m->inner.max_entries, 7);
	assert_int_equal(m->inner.value_size, 0);
	assert_true(m->inner.has_flags);
	assert_true(bb_map_spec__has_shape(m));
	assert_false(bb_map_spec__has_contents(m));
	assert_false(bb_map_spec__has_shape(bb_map_specs__find(&s->variants[0].maps, "n")));
	bb_scenario__free(s);
}

/* True if both lists name the same map entry of the scenario. */
static bool are_one(const struct bb_map_specs *a, const struct bb_map_specs *b, const char *name)
{
	const struct bb_map_spec *x = bb_map_specs__find(a, name), *y = bb_map_specs__find(b, name);

	assert_non_null(x);
	assert_non_null(y);
	assert_int_equal(x->n_entries, y->n_entries);
	return x->where.line == y->where.line && x->where.col == y->where.col;
}

/* A variant has its own maps and all others of the scenario, in whatever order the file lists them.
 * A copy of a variant has the same. */
static void test_variants(void **state)
{
	struct bb_scenario *s = must_parse("name: n\nobject: o\nvariants:\n  - {name: a}\n"
					   "  - {name: b, maps: [{name: y, reset: run}, {name: "
					   "z}]}\n"
					   "maps: [{name: x, reset: load}, {name: y}]\ndrive: "
					   "[{with: step}]\n");
	const struct bb_map_specs *a, *b, *copy;
	struct bb_err err = {0};

	(void)state;
	assert_int_equal(bb_scenario__add_variant(s, "c", "b", NULL, &err), 0);
	a = &s->variants[0].maps;
	b = &s->variants[1].maps;
	copy = &s->variants[2].maps;
	assert_int_equal(a->n, 2);
	assert_int_equal(b->n, 3);
	assert_int_equal(copy->n, 3);
	assert_true(are_one(a, b, "x"));
	assert_false(are_one(a, b, "y"));
	for (size_t i = 0; i < 3; i++)
		assert_true(are_one(copy, b, copy->v[i].name));
	assert_true(bb_map_specs__find(b, "y")->each_run);
	assert_false(bb_map_specs__find(a, "y")->each_run);
	assert_null(bb_map_specs__find(a, "z"));
	assert_null(bb_map_specs__find(NULL, "z"));
	bb_scenario__free(s);
}

/* An entry that is added to a list is not added to the list that it inherits from. */
static void test_added_entry(void **state)
{
	struct bb_scenario *s = must_parse("{name: n, object: o, variants: [{name: a}], maps: "
					   "[{name: m, entries: [{key: 1, value: 2}]}], drive: "
					   "[{with: step}]}");
	struct bb_map_entry entry = {.key.number = 3, .value.number = 4};
	struct bb_map_specs list = {0};

	(void)state;
	bb_map_specs__inherit(&list, &s->maps, &s->arena);
	bb_map_specs__add_entry(&list, "other", &entry, &s->arena);
	assert_int_equal(list.v[0].n_entries, 1);
	bb_map_specs__add_entry(&list, "m", &entry, &s->arena);
	assert_int_equal(list.v[0].n_entries, 2);
	assert_int_equal(list.v[0].entries[0].key.number, 1);
	assert_int_equal(list.v[0].entries[1].key.number, 3);
	assert_int_equal(s->maps.v[0].n_entries, 1);
	assert_int_equal(s->variants[0].maps.v[0].n_entries, 1);
	bb_scenario__free(s);
}

static void test_programs_called(void **state)
{
	struct bb_scenario *s = must_parse(ENTRIES("{key: 0, program: t}, {key: 1, program: u}"));

	(void)state;
	assert_true(bb_map_specs__call(&s->variants[0].maps, "u"));
	assert_false(bb_map_specs__call(&s->variants[0].maps, "m"));
	assert_false(bb_map_specs__call(NULL, "u"));
	bb_scenario__free(s);
}

static const struct {
	const char *text;
	unsigned int line, col;
	const char *says;
} bad[] = {
	{HEAD "maps: 5\n", 5, 7,
	 "maps must be a list of mappings such as {name: allow, entries: [{key: 1, value: 2}]}, "
	 "not '5'"},
	{HEAD "maps: []\n", 5, 7, "maps must not be an empty list"},
	{MAPS("x"), 5, 8, "a map must be a mapping such as"},
	{MAPS("[[a]]"), 5, 8, "a map must be a mapping such as"},
	{MAPS("[a, b]"), 5, 8, "a map must be a mapping such as"},
	{MAPS("{reset: run}"), 5, 8, "a map needs the key 'name'"},
	{MAPS("{name: [], reset: run}"), 5, 15, "name must be a text, not a list"},
	{MAPS("{name: m}, {name: n}, {name: m}"), 5, 37,
	 "map 'm' is given twice; the first is at 5:8"},
	{MAPS("{name: m, reset: runs}"), 5, 25,
	 "unknown reset 'runs' (did you mean 'run'?); there are: load, run"},
	{MAPS("{name: m, reset: []}"), 5, 25, "reset must be one of: load, run; not a list"},
	{MAPS("{name: m, entry: []}"), 5, 18,
	 "unknown key 'entry'; a map takes: name, entries, fill, file, max_entries, value_size, "
	 "flags, per_cpu, inner, reset"},
	{MAPS("{name: m, max_entries: 0}"), 5, 31, "max_entries must be from 1 to 4294967295"},
	{MAPS("{name: m, value_size: -1}"), 5, 30, "value_size must be from 1 to 4294967295"},
	{MAPS("{name: m, flags: no_prealloc}"), 5, 25, "flags must be a list"},
	{MAPS("{name: m, flags: [no_preallo]}"), 5, 26,
	 "unknown flags 'no_preallo' (did you mean 'no_prealloc'?); there are: no_prealloc, "},
	{MAPS("{name: m, inner: {entries: 5}}"), 5, 26,
	 "unknown key 'entries'; inner takes: max_entries, value_size, flags"},
	{MAPS("{name: m, entries: {}}"), 5, 27,
	 "entries must be a list of entries such as {key: 1, value: 2}"},
	{MAPS("{name: m, entries: []}"), 5, 27, "entries must not be an empty list"},
	{MAPS("{name: m, fill: {key: random}}"), 5, 24, "fill needs the key 'count'"},
	{MAPS("{name: m, fill: {count: 0}}"), 5, 32, "count must be"},
	{MAPS("{name: m, fill: {count: [5, 5]}}"), 5, 36, "count lists 5 twice"},
	{MAPS("{name: m, fill: {count: []}}"), 5, 32, "count must not be an empty list"},
	{MAPS("{name: m, fill: {count: [1, 16777217]}}"), 5, 36, "count must be"},
	{MAPS("{name: m, fill: {count: 5, key: any}}"), 5, 40,
	 "unknown key 'any'; there are: sequential, random"},
	{MAPS("{name: m, fill: {count: 5, prefixes: [0]}}"), 5, 46, "prefixes"},
	{MAPS("{name: m, fill: {count: 5, key: {}}}"), 5, 40, "key takes either 'file', or 'from'"},
	{MAPS("{name: m, fill: {count: 5, key: {file: k.txt}}}"), 5, 47,
	 "k.txt: a file of keys is called .csv, .json or .bin"},
	{MAPS("{name: m, fill: {count: 5, key: {file: none.csv}}}"), 5, 47, "none.csv"},
	{MAPS("{name: m, fill: {count: 5, key: {file: a.csv, bytes: 1-2}}}"), 5, 40,
	 "key takes either 'file', or 'from' and 'bytes'"},
	{MAPS("{name: m, fill: {count: 5, key: {bytes: 1-2}}}"), 5, 40,
	 "key takes either 'file', or 'from' and 'bytes'"},
	{MAPS("{name: m, fill: {count: 5, key: {from: [{name: a, packet: {size: 60}}], bytes: "
	      "58-60}}}"),
	 5, 87, "bytes: input 'a' has 60 bytes and no byte 60"},
	{ENTRIES("1"), 5, 28, "an entry must be a mapping such as {key: 1, value: 2}, not '1'"},
	{ENTRIES("{key: 1}"), 5, 28,
	 "an entry needs either the key 'value' or, in a prog array, the key 'program'"},
	{ENTRIES("{key: 1, value: 2, program: p}"), 5, 28,
	 "an entry needs either the key 'value' or"},
	{ENTRIES("{value: 1}"), 5, 28, "an entry needs the key 'key'"},
	{ENTRIES("{key: 1, valu: 2}"), 5, 37,
	 "unknown key 'valu' (did you mean 'value'?); an entry takes: key, value, program"},
	{ENTRIES("{key: 1.5, value: 2}"), 5, 34,
	 "key must be a whole number, or bytes in quotes such as \"0a 00\", not '1.5'"},
	{ENTRIES("{key: 0a 00, value: 2}"), 5, 34,
	 "key must be a whole number, or bytes in quotes"},
	{ENTRIES("{key: [], value: 2}"), 5, 34, "not a list"},
	{ENTRIES("{key: , value: 2}"), 5, 34, "not nothing"},
	{ENTRIES("{key: 1, value: 9223372036854775808}"), 5, 44,
	 "value does not fit into 64 bits with a sign: '9223372036854775808'"},
	{ENTRIES("{key: \"0\", value: 2}"), 5, 34,
	 "key: bytes of two hexadecimal digits each are expected; character 2 is"},
	{ENTRIES("{key: \"\", value: 2}"), 5, 34, "key has 0 bytes; it must have from 1 to 65536"},
	{ENTRIES("{key: 1, program: []}"), 5, 46, "program must be a text, not a list"},
	{"name: n\nobject: o\nvariants: [{name: a, maps: [{name: m, reset: run}]}]\n"
	 "drive:\n  - {with: step}\n  - {with: in-situ, workload: w}\n",
	 3, 29,
	 "map 'm' with 'reset: run' needs a drive that fires each run on its own, 'with: step'; "
	 "the drive at 6:5 is in-situ"},
	{"name: n\nobject: o\nvariants: [{name: a}]\ndrive: [{with: in-situ, workload: w}]\n"
	 "maps: [{name: l}, {name: m, reset: run}]\n",
	 5, 19, "map 'm' with 'reset: run' needs"},
};

static void test_bad(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct bb_scenario *s = NULL;
		struct bb_err err = {0};
		char where[64];
		int rc = bb_scenario__parse(bad[i].text, strlen(bad[i].text), "t.yml", &s, &err);

		snprintf(where, sizeof(where), "t.yml:%u:%u: ", bad[i].line, bad[i].col);
		if (rc != -EINVAL || strncmp(err.msg, where, strlen(where)) ||
		    !strstr(err.msg, bad[i].says))
			fail_msg("rc %d\n  for:  %s\n  says: %s\n  not:  %s%s", rc, bad[i].text,
				 err.msg, where, bad[i].says);
		assert_null(s);
	}
}

/* `reset: load` is allowed with every drive, also in situ. */
static void test_reset_load_goes_with_all(void **state)
{
	(void)state;
	bb_scenario__free(must_parse("name: n\nobject: o\nvariants: [{name: a}]\nmaps: [{name: m, "
				     "reset: load}]\n"
				     "drive: [{with: in-situ, workload: w}, {with: step}]\n"));
	bb_scenario__free(must_parse("name: n\nvariants: [{name: a}]\nmaps: [{name: m, reset: "
				     "run}]\ndrive: [{with: fake}]\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_variants),
		cmocka_unit_test(test_added_entry),
		cmocka_unit_test(test_programs_called),
		cmocka_unit_test(test_shape),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_reset_load_goes_with_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
