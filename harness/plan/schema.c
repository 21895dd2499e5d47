/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The JSON schema of scenario files, made from the tables of keys by which scenarios are read. */
#include <jansson.h>

#include "plan/field.h"

static json_t *choices_of(const struct bb_field *f)
{
	json_t *names = json_array();

	for (size_t i = 0; f->choice ? f->choice(i) != NULL : i < f->n_choices; i++)
		json_array_append_new(names, json_string(f->choice ? f->choice(i) : f->choices[i]));
	return json_pack("{s:o}", "enum", names);
}

static json_t *number(double value)
{
	return value == trunc(value) ? json_integer((json_int_t)value) : json_real(value);
}

static json_t *scalar(const struct bb_field *f, const char *schema)
{
	json_t *value = json_loads(schema, 0, NULL);
	const char *type = json_string_value(json_object_get(value, "type"));

	if (type && (!strcmp(type, "integer") || !strcmp(type, "number")) && f->max > 0) {
		json_object_set_new(value, "minimum", number(f->min));
		json_object_set_new(value, "maximum", number(f->max));
	}
	if (f->type == &bb_type_u32_list) /* the value is one number or a list of numbers */
		value = json_pack("{s:[O,{s:s,s:i,s:b,s:o}]}", "anyOf", value, "type", "array",
				  "minItems", 1, "uniqueItems", !f->may_repeat, "items", value);
	return value;
}

static json_t *value_of(json_t *defs, const struct bb_field *f)
{
	const struct bb_kind *kind = f->mapping ? f->mapping : f->of;
	const char *schema = f->schema ? f->schema : f->type->schema;

	if (f->type == &bb_type_names)
		return json_pack("{s:s,s:o}", "type", "array", "items", choices_of(f));
	if (f->n_choices || f->choice)
		return choices_of(f);
	if (!kind)
		return schema ? scalar(f, schema) : json_object();
	json_t *value = bb_schema__of_kind(defs, kind);
	if (f->type == &bb_type_list && !f->mapping)
		return json_pack("{s:s,s:i,s:o}", "type", "array", "minItems", 1, "items", value);
	return f->schema ? json_pack("{s:[o,o]}", "anyOf", scalar(f, schema), value) : value;
}

/* Returns the keys that a mapping of these modes may have or, if `only_required`, must have. */
static json_t *keys_of(const struct bb_kind *kind, unsigned int mode, bool only_required)
{
	json_t *keys = json_array();

	for (size_t i = 0; i < kind->n_fields; i++) {
		const struct bb_field *f = &kind->fields[i];

		if ((!f->with || (f->with & mode)) && (f->required || !only_required))
			json_array_append_new(keys, json_string(f->name));
	}
	return keys;
}

/* A key with the name of a mode chooses this mode. A mapping must have one of these keys, which
 * decides which other keys are allowed. */
static void add_forms(const struct bb_kind *kind, json_t *properties, json_t *schema)
{
	json_t *rules = json_array(), *one_of = json_array();

	for (size_t i = 0; i < kind->n_modes; i++) {
		const char *name = kind->modes[i].name;

		if (!json_object_get(properties, name))
			continue;
		json_array_append_new(one_of, json_pack("{s:[s]}", "required", name));
		json_array_append_new(rules, json_pack("{s:{s:[s]},s:{s:{s:o}}}", "if", "required",
						       name, "then", "propertyNames", "enum",
						       keys_of(kind, BB_BIT(i), false)));
	}
	json_object_set_new(schema, "anyOf", one_of);
	json_object_set_new(schema, "allOf", rules);
}

static json_t *mapping(json_t *defs, const struct bb_kind *kind)
{
	json_t *properties = json_object(), *schema;

	for (size_t i = 0; i < kind->n_fields; i++)
		json_object_set_new(properties, kind->fields[i].name,
				    value_of(defs, &kind->fields[i]));
	schema = json_pack("{s:s,s:O,s:o,s:b}", "type", "object", "properties", properties,
			   "required", keys_of(kind, 0, true), "additionalProperties", 0);
	if (kind->n_modes)
		add_forms(kind, properties, schema);
	if (kind->rules)
		json_object_set_new(schema, "allOf", kind->rules());
	json_decref(properties);
	return schema;
}

json_t *bb_schema__of_kind(json_t *defs, const struct bb_kind *kind)
{
	const char *space = strrchr(kind->what, ' '), *name = space ? space + 1 : kind->what;
	char ref[64];

	if (!json_object_get(defs, name)) {
		/* an empty object first, so that the kind stands before those that its keys use */
		json_object_set_new(defs, name, json_object());
		json_object_set_new(defs, name, mapping(defs, kind));
	}
	snprintf(ref, sizeof(ref), "#/$defs/%s", name);
	return json_pack("{s:s}", "$ref", ref);
}
