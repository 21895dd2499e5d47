/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan/field.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/parse.h"
#include "plan/map_spec.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define DATUM_MAX_BYTES                                                                            \
	65536 /* a per-CPU value, for one, has at most 32768 (PCPU_MIN_UNIT_SIZE)                  \
	       */

static const char *const resets[] = {"load", "run"};
static const struct bb_kind entry_kind, map_kind;

static int read_datum(const struct bb_reader *r, const struct bb_field *f,
		      const struct bb_yaml *node, void *base)
{
	struct bb_map_datum *datum = (struct bb_map_datum *)(void *)((char *)base + f->offset);
	struct bb_field hex = *f;
	int rc;

	if (node->kind == BB_YAML_MAP)
		return bb_field__self(r, node, f->name, &datum->self);
	if (node->kind == BB_YAML_TEXT && node->quoted) {
		hex.offset += offsetof(struct bb_map_datum, bytes);
		return bb_field__hex(r, &hex, node, base);
	}
	rc = node->kind == BB_YAML_TEXT ? bb_parse_i64(node->text, &datum->number) : -EINVAL;
	if (rc == -ERANGE)
		return bb_yaml__fail(r, node,
				     "%s does not fit into 64 bits with a sign: %s; write its "
				     "bytes in quotes",
				     f->name, bb_yaml__show(node).text);
	if (rc)
		return bb_yaml__fail(r, node,
				     "%s must be a whole number, or bytes in quotes such as \"0a "
				     "00\", not %s",
				     f->name, bb_yaml__show(node).text);
	datum->is_number = true;
	return 0;
}

static int read_entry(const struct bb_reader *r, const struct bb_yaml *node,
		      struct bb_map_entry *entry)
{
	int rc;

	entry->where = (struct bb_where){.line = node->line, .col = node->col};
	rc = bb_kind__read(r, &entry_kind, node, 0, entry);
	if (!rc && !bb_yaml__get(node, "value") == !bb_yaml__get(node, "program"))
		rc = bb_yaml__fail(r, node,
				   "an entry needs either the key 'value' or, in a prog array, the "
				   "key 'program'");
	return rc;
}

static int read_entries(const struct bb_reader *r, const struct bb_field *f,
			const struct bb_yaml *node, void *base)
{
	struct bb_map_spec *spec = base;
	int rc = bb_field__check_list(r, f, node,
				      "entries such as {key: 1, value: 2}; leave it out for an "
				      "empty map");

	if (rc)
		return rc;
	spec->entries = calloc(node->n, sizeof(*spec->entries));
	if (!spec->entries)
		return bb_fail_nomem(r->err);
	for (size_t i = 0; i < node->n && !rc; i++)
		rc = read_entry(r, &node->items[i], &spec->entries[spec->n_entries++]);
	return rc;
}

static const struct bb_field datum_rows[] = {
	{NULL, &bb_type_bytes, BB_BYTES_AT(bb_map_datum, bytes)},
};
static const struct bb_kind datum_kind = {BB_ROWS(bb_map_datum, datum_rows)};

#define DATUM(m)                                                                                   \
	&bb_type_part, BB_AT(bb_map_entry, m), .read = read_datum, .of = &datum_kind, .min = 1,    \
					       .max = DATUM_MAX_BYTES

static const struct bb_field entry_fields[] = {
	{"key", DATUM(key), .required = true},
	{"value", DATUM(value)},
	{"program", &bb_type_text, BB_AT(bb_map_entry, program)},
};

static const struct bb_field map_fields[] = {
	{"name", &bb_type_text, BB_AT(bb_map_spec, name), .required = true},
	{"entries", &bb_type_list, BB_LIST_AT(bb_map_spec, entries, n_entries),
	 .read = read_entries, .of = &entry_kind},
	{"reset", &bb_type_flag, BB_AT(bb_map_spec, each_run), .choices = resets,
	 .n_choices = ARRAY_LEN(resets)},
};

static const struct bb_kind entry_kind = {BB_KIND("an entry", "{key: 1, value: 2}", entry_fields),
					  .size = sizeof(struct bb_map_entry)};
static const struct bb_kind map_kind = {
	BB_KIND("a map", "{name: allow, entries: [{key: 1, value: 2}]}", map_fields)};

static void free_spec(struct bb_map_spec *spec)
{
	bb_kind__done(&map_kind, spec);
	free(spec);
}

int bb_map_specs__add(struct bb_map_specs *list, struct bb_map_spec *spec)
{
	struct bb_map_spec **v = bb_append(&list->v, &list->n, sizeof(struct bb_map_spec *));

	if (!v) {
		if (!spec->n_users)
			free_spec(spec);
		return -ENOMEM;
	}
	*v = spec;
	spec->n_users++;
	return 0;
}

int bb_map_specs__inherit(struct bb_map_specs *list, const struct bb_map_specs *from)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < from->n; i++)
		if (!bb_map_specs__find(list, from->v[i]->name))
			rc = bb_map_specs__add(list, from->v[i]);
	return rc;
}

struct bb_map_spec *bb_map_specs__find(const struct bb_map_specs *list, const char *name)
{
	for (size_t i = 0; list && i < list->n; i++)
		if (list->v[i]->name && !strcmp(list->v[i]->name, name))
			return list->v[i];
	return NULL;
}

bool bb_map_specs__call(const struct bb_map_specs *list, const char *program)
{
	for (size_t i = 0; list && i < list->n; i++) {
		const struct bb_map_spec *spec = list->v[i];

		for (size_t k = 0; k < spec->n_entries; k++)
			if (spec->entries[k].program && !strcmp(spec->entries[k].program, program))
				return true;
	}
	return false;
}

void bb_map_specs__done(struct bb_map_specs *list)
{
	for (size_t i = 0; i < list->n; i++)
		if (!--list->v[i]->n_users)
			free_spec(list->v[i]);
	free(list->v);
	*list = (struct bb_map_specs){0};
}

static int read_map(const struct bb_reader *r, const struct bb_yaml *node,
		    struct bb_map_specs *list)
{
	struct bb_map_spec *spec = calloc(1, sizeof(*spec));
	const struct bb_map_spec *first;
	int rc;

	if (!spec || bb_map_specs__add(list, spec))
		return bb_fail_nomem(r->err);
	spec->where = (struct bb_where){.line = node->line, .col = node->col};
	rc = bb_kind__read(r, &map_kind, node, 0, spec);
	if (rc)
		return rc;
	first = bb_map_specs__find(list, spec->name);
	if (first != spec)
		return bb_yaml__fail(r, bb_yaml__get(node, "name"),
				     "map '%s' is given twice; the first is at %u:%u", spec->name,
				     first->where.line, first->where.col);
	return 0;
}

static int read_maps(const struct bb_reader *r, const struct bb_field *f,
		     const struct bb_yaml *node, void *base)
{
	struct bb_map_specs *list = (struct bb_map_specs *)(void *)((char *)base + f->offset);
	int rc = bb_field__check_list(r, f, node,
				      "mappings such as {name: allow, entries: [{key: 1, value: "
				      "2}]}");

	for (size_t i = 0; !rc && i < node->n; i++)
		rc = read_map(r, &node->items[i], list);
	return rc;
}

static int copy_maps(const struct bb_field *f, const void *from, void *to)
{
	return bb_map_specs__inherit((struct bb_map_specs *)(void *)((char *)to + f->offset),
				     (const struct bb_map_specs *)(const void *)((const char *)
											 from +
										 f->offset));
}

static void free_maps(const struct bb_field *f, void *base)
{
	bb_map_specs__done((struct bb_map_specs *)(void *)((char *)base + f->offset));
}

const struct bb_type bb_type_maps = {read_maps, sizeof(struct bb_map_specs), copy_maps, free_maps};
