/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run_schema PARTS: prints results/schema.json, made from the descriptions in report/records.c.
 * PARTS (run_schema.json in this folder) has the schemas of members with a format of their own.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "store/run_json.h"

static json_t *parts;

static const struct {
	const char *name;
	const struct bb_record *record;
} named[] = {
	{"report", &bb_report_record},
	{"skip", &bb_skip_record},
	{"program", &bb_program_record},
	{"comparison", &bb_comparison_record},
	{"pair", &bb_pair_record},
	{"counted", &bb_counted_record},
	{"counted_case", &bb_counted_case_record},
	{"counted_line", &bb_counted_line_record},
	{"counted_call", &bb_counted_call_record},
	{"timed", &bb_timed_record},
	{"timed_call", &bb_timed_call_record},
	{"timed_row", &bb_timed_row_record},
	{"case", &bb_case_record},
	{"series", &bb_series_record},
	{"class", &bb_class_record},
	{"flow", &bb_ring_use_record},
	{"in_vain", &bb_in_vain_record},
};

static const char *const types[] = {
	[BB_NAME] = "name",         [BB_TEXT] = "text",   [BB_TEXT_OR_NULL] = "text_or_null",
	[BB_COUNT] = "count",       [BB_SEED] = "seed",   [BB_U32] = "u32",
	[BB_U32_NOT_0] = "u32",     [BB_MOD64] = "mod64", [BB_REAL] = "number_or_null",
	[BB_POSITIVE] = "positive", [BB_SHARE] = "share", [BB_BOOL] = "bool",
	[BB_NUMBERS] = "numbers",
};

static const char *name_of(const struct bb_record *record)
{
	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++)
		if (named[i].record == record)
			return named[i].name;
	fputs("run_schema: a record without a name: add it to the table\n", stderr);
	exit(1);
}

static json_t *reference(const char *name)
{
	return json_pack("{s:o}", "$ref", json_sprintf("#/$defs/%s", name));
}

static json_t *type_of(const struct bb_member *m)
{
	if (m->type == BB_RECORDS)
		return json_pack("{s:s, s:o}", "type", "array", "items", reference(name_of(m->of)));
	if (m->type == BB_STRUCT || m->type == BB_STRUCT_OR_NULL)
		return reference(name_of(m->of));
	if (m->type == BB_TEXT)
		return json_pack("{s:s}", "type", "string");
	if (m->type == BB_BOOL)
		return json_pack("{s:s}", "type", "boolean");
	return reference(types[m->type]);
}

/* Adds the properties of a member that has a format of its own, from PARTS. */
static void add_part(const char *record, const struct bb_member *m, json_t *properties)
{
	char key[100];
	json_t *part;

	/* "hist", the samples, has the same format in all records */
	snprintf(key, sizeof(key), "%s.%s", strcmp(m->key, "hist") ? record : "series", m->key);
	part = json_object_get(json_object_get(parts, "parts"), key);
	if (!part) {
		fprintf(stderr, "run_schema: no part %s in the file of parts\n", key);
		exit(1);
	}
	json_object_update(properties, part);
}

/* The properties of metrics, whose names are in tables of their own. */
static json_t *metrics(const struct bb_metric_def *defs, size_t n, const char *type)
{
	json_t *properties = json_object();

	for (size_t i = 0; i < n; i++) {
		json_t *one = reference(type);

		json_object_set_new(one, "description", json_string(defs[i].doc));
		json_object_set_new(properties, defs[i].name, one);
	}
	return properties;
}

static json_t *describe(const struct bb_record *record, json_t *schema)
{
	json_t *properties = json_object_get(schema, "properties"),
	       *required = json_object_get(schema, "required");

	for (size_t i = 0; i < record->n_members; i++) {
		const struct bb_member *m = &record->members[i];
		json_t *property;

		if (m->type == BB_OTHER) {
			add_part(name_of(record), m, properties);
			continue;
		}
		property = type_of(m);
		if (*m->doc)
			json_object_set_new(property, "description", json_string(m->doc));
		json_object_set_new(properties, m->key, property);
		if (m->presence == BB_ALWAYS)
			json_array_append_new(required, json_string(m->key));
	}
	if (record == &bb_case_record)
		json_object_set_new(json_object_get(properties, "summary"), "properties",
				    metrics(bb_metrics, bb_n_metrics, "estimate"));
	if (record == &bb_program_record)
		json_object_set_new(json_object_get(properties, "static"), "properties",
				    metrics(bb_static_metrics, bb_n_static_metrics,
					    "whole_or_null"));
	return schema;
}

int main(int argc, char **argv)
{
	json_t *schema, *defs;

	parts = argc == 2 ? json_load_file(argv[1], 0, NULL) : NULL;
	if (!parts) {
		fputs("usage: run_schema run_schema.json\n", stderr);
		return 2;
	}
	schema = json_pack("{s:s, s:s, s:s, s:s, s:[s, s], s:{s:{s:s}, s:{s:i}}}", "$schema",
			   "https://json-schema.org/draft/2020-12/schema", "title",
			   "A run stored by bpfbench (format bpfbench-run, version 1)",
			   "description",
			   "Absent is null, never 0. Whole numbers above 2^53 are strings "
			   "\"0x...\". Times "
			   "are in the unit that ends the key's name. Keys that are not listed may "
			   "be added "
			   "by newer versions and are to be passed over. Those that are not "
			   "required are "
			   "absent where they say nothing, and in runs of older versions.",
			   "type", "object", "required", "format", "version", "properties",
			   "format", "const", BB_RUN_FORMAT, "version", "const", BB_RUN_VERSION);
	describe(&bb_report_record, schema);
	defs = json_deep_copy(json_object_get(parts, "$defs"));
	for (size_t i = 1; i < sizeof(named) / sizeof(named[0]); i++)
		json_object_set_new(defs, named[i].name,
				    describe(named[i].record,
					     json_pack("{s:s, s:s, s:[], s:{}}", "type", "object",
						       "description", named[i].record->doc,
						       "required", "properties")));
	json_object_set_new(schema, "$defs", defs);
	json_dumpf(schema, stdout, JSON_INDENT(1));
	putchar('\n');
	json_decref(schema);
	json_decref(parts);
	return 0;
}
