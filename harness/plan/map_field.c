/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan/map_field.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "plan/bytes_field.h"
#include "plan/kind.h"
#include "plan/map_spec.h"
#include "plan/self_field.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define DATUM_MAX_BYTES                                                                            \
	65536 /* a per-CPU value, for one, has at most 32768 (PCPU_MIN_UNIT_SIZE)                  \
	       */

enum { PER_LOAD, PER_RUN };

static const char *const resets[] = {[PER_LOAD] = "load", [PER_RUN] = "run"};
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
		return bb_yaml__fail(r->path, node, r->err,
				     "%s does not fit into 64 bits with a sign: %s; write its "
				     "bytes in quotes",
				     f->name, bb_yaml__show(node).text);
	if (rc)
		return bb_yaml__fail(r->path, node, r->err,
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
		rc = bb_yaml__fail(r->path, node, r->err,
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

static int read_reset(const struct bb_reader *r, const struct bb_field *f,
		      const struct bb_yaml *node, void *base)
{
	struct bb_map_spec *spec = base;
	size_t i = 0;
	int rc = bb_field__choose(r, f, node, &i);

	if (!rc)
		spec->each_run = i == PER_RUN;
	return rc;
}

static const struct bb_field entry_fields[] = {
	{"key", read_datum, .offset = offsetof(struct bb_map_entry, key), .required = true,
	 .min = 1, .max = DATUM_MAX_BYTES},
	{"value", read_datum, .offset = offsetof(struct bb_map_entry, value), .min = 1,
	 .max = DATUM_MAX_BYTES},
	{"program", bb_field__text, .offset = offsetof(struct bb_map_entry, program)},
};

static const struct bb_field map_fields[] = {
	{"name", bb_field__text, .offset = offsetof(struct bb_map_spec, name), .required = true},
	{"entries", read_entries, .offset = offsetof(struct bb_map_spec, entries)},
	{"reset", read_reset, .offset = offsetof(struct bb_map_spec, each_run), .choices = resets,
	 .n_choices = ARRAY_LEN(resets)},
};

static const struct bb_kind entry_kind = {BB_KIND("an entry", "{key: 1, value: 2}", entry_fields)};
static const struct bb_kind map_kind = {
	BB_KIND("a map", "{name: allow, entries: [{key: 1, value: 2}]}", map_fields)};

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
		return bb_yaml__fail(r->path, bb_yaml__get(node, "name"), r->err,
				     "map '%s' is given twice; the first is at %u:%u", spec->name,
				     first->where.line, first->where.col);
	return 0;
}

int bb_field__maps(const struct bb_reader *r, const struct bb_field *f, const struct bb_yaml *node,
		   void *base)
{
	struct bb_map_specs *list = (struct bb_map_specs *)(void *)((char *)base + f->offset);
	int rc = bb_field__check_list(r, f, node,
				      "mappings such as {name: allow, entries: [{key: 1, value: "
				      "2}]}");

	for (size_t i = 0; !rc && i < node->n; i++)
		rc = read_map(r, &node->items[i], list);
	return rc;
}
