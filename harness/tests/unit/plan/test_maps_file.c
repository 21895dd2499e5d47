/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files with the contents of maps, and the key `file` of a map. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plan/maps_file.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define MAP(entries) "{\"maps\": [{\"name\": \"flows\", \"entries\": " entries "}]}"

static void test_table(void **state)
{
	static const char text[] = "{\"maps\": [{\"name\": \"a_name_of_fiftee\", \"entries\": "
				   "{}},\n"
				   "{\"name\": \"a_name_of_15_ch\", \"type\": \"hash\", "
				   "\"entries\": "
				   "{\"01 02\": \"0a\", \"0304\": \"0b\"}}]}";
	struct bb_maps_file *file;
	struct bb_err err = {0};
	struct bb_map_table *t;

	(void)state;
	if (bb_maps_file__parse(text, strlen(text), "f.json", &file, &err))
		fail_msg("%s", err.msg);
	t = bb_maps_file__find(file, "a_name_of_15_characters");
	assert_non_null(t);
	assert_int_equal(t->n, 2);
	assert_int_equal(t->key_size, 2);
	assert_int_equal(t->value_size, 1);
	assert_memory_equal(t->keys, "\1\2\3\4", 4);
	assert_memory_equal(t->values, "\12\13", 2);
	assert_ptr_equal(bb_maps_file__find(file, "a_name_of_fiftee"), &file->v[0]);
	assert_int_equal(file->v[0].n, 0);
	assert_null(bb_maps_file__find(file, "a_name_of_fifteen"));
	bb_maps_file__let_go(file);
}

static void test_bad_files(void **state)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{"", "f.json:1:0: "},
		{"{\"maps\": [\n{\"name\" 1}]}", "f.json:2:9: ':' expected"},
		{"[]", "f.json: it has no list \"maps\""},
		{"{\"maps\": {}}", "f.json: it has no list \"maps\""},
		{"{\"maps\": [1]}", "f.json: each of \"maps\" needs a \"name\""},
		{"{\"maps\": [{\"name\": \"m\"}]}", "f.json: each of \"maps\" needs a \"name\""},
		{"{\"maps\": [{\"name\": \"m\", \"entries\": {}}, {\"name\": \"m\", \"entries\": "
		 "{}}]}",
		 "f.json: two maps are named 'm'"},
		{MAP("{\"01\": \"02\",\n\"01\": \"03\"}"), "f.json:2:4: duplicate object key"},
		{MAP("{\"0\": \"02\"}"), "map 'flows', key \"0\": the key is not bytes"},
		{MAP("{\"\": \"02\"}"), "map 'flows', key \"\": the key is not bytes"},
		{MAP("{\"01\": \"xx\"}"), "map 'flows', key \"01\": the value is not bytes"},
		{MAP("{\"01\": 2}"), "map 'flows', key \"01\": the value must be a text"},
		{MAP("{\"01\": \"02\", \"0203\": \"02\"}"), "key \"0203\": the key has 2 bytes, "
							    "those before have 1"},
		{MAP("{\"01\": \"02\", \"02\": \"0203\"}"), "key \"02\": the value has 2 bytes, "
							    "those before have 1"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct bb_maps_file *file;
		struct bb_err err = {0};

		assert_int_equal(bb_maps_file__parse(bad[i].text, strlen(bad[i].text), "f.json",
						     &file, &err),
				 -EINVAL);
		if (!strstr(err.msg, bad[i].says))
			fail_msg("not '%s': %s", bad[i].says, err.msg);
	}
}

static struct bb_scenario *parse(const char *maps, struct bb_err *err)
{
	struct bb_scenario *s = NULL;
	char text[512];

	snprintf(text, sizeof(text),
		 "name: n\nobject: o\nvariants: [{name: a}, {name: b}]\ndrive: [{with: step}]\n"
		 "maps: [%s]\n",
		 maps);
	bb_scenario__parse(text, strlen(text), "t.yml", &s, err);
	return s;
}

/* All variants share the table of a file. It is freed after the last of them. */
static void test_key(void **state)
{
	static const struct {
		const char *maps, *says;
	} bad[] = {
		{"{name: flows, file: none.json}", "t.yml:5:28: none.json: "},
		{"{name: flows, file: []}", "t.yml:5:28: file must be the name of a file"},
		{"{name: floes, file: maps_file.json}", "has no map 'floes'"},
	};
	char folder[] = "/tmp/bb_maps_file_XXXXXX";
	struct bb_err err = {0};
	struct bb_scenario *s;
	FILE *out;

	(void)state;
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
	out = fopen("maps_file.json", "w");
	assert_non_null(out);
	fputs(MAP("{\"01\": \"02\"}"), out);
	assert_int_equal(fclose(out), 0);

	s = parse("{file: maps_file.json, name: flows}", &err);
	if (!s)
		fail_msg("%s", err.msg);
	assert_ptr_equal(s->variants[0].maps.v[0].table, s->variants[1].maps.v[0].table);
	assert_int_equal(s->variants[0].maps.v[0].table->n, 1);
	bb_scenario__free(s);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		assert_null(parse(bad[i].maps, &err));
		if (!strstr(err.msg, bad[i].says))
			fail_msg("not '%s': %s", bad[i].says, err.msg);
	}
	unlink("maps_file.json");
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_bad_files),
		cmocka_unit_test(test_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
