/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan/field.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool belongs(const struct bb_field *f, unsigned int mode)
{
	return f->name && (!f->with || (f->with & mode));
}

/* The keys that may stand there; names[BB_KIND_MAX_KEYS]. */
static size_t keys_of(const struct bb_kind *kind, unsigned int mode, const char **names)
{
	size_t n = 0;

	for (size_t i = 0; i < kind->n_fields; i++)
		if (belongs(&kind->fields[i], mode))
			names[n++] = kind->fields[i].name;
	return n;
}

static int fail_unknown_key(const struct bb_reader *r, const struct bb_kind *kind,
			    const struct bb_yaml *map, const struct bb_yaml *key, unsigned int mode)
{
	const struct bb_yaml *value = key + 1;
	const char *names[BB_KIND_MAX_KEYS];
	size_t n = keys_of(kind, mode, names);
	const char *hint = "";

	/* {description: reserve, then submit}: to YAML, "then submit" is a key. */
	if (map->flow && bb_yaml__is_nothing(value) && !*value->text)
		hint = "; inside { } a text that holds a comma must be quoted";
	return bb_yaml__fail(r, key, "unknown key %s%s; %s takes: %s%s", bb_yaml__show(key).text,
			     bb_phrase__suggest(key->text, names, n).text, kind->what,
			     bb_phrase__join(names, n).text, hint);
}

static int fail_foreign_key(const struct bb_reader *r, const struct bb_kind *kind,
			    const struct bb_field *f, const struct bb_yaml *key, unsigned int mode)
{
	const char *keys[BB_KIND_MAX_KEYS], *owners[BB_KIND_MAX_KEYS], *label = "", *name = "";
	size_t n_keys = keys_of(kind, mode, keys), n_owners = 0;

	for (size_t i = 0; i < kind->n_modes; i++) {
		if (f->with & BB_BIT(i))
			owners[n_owners++] = kind->modes[i].name;
		if (mode & BB_BIT(i)) {
			label = kind->modes[i].label;
			name = kind->modes[i].name;
		}
	}
	return bb_yaml__fail(r, key, "key '%s' does not belong to '%s' but to %s; %s takes: %s",
			     f->name, label, bb_phrase__join(owners, n_owners).text, name,
			     bb_phrase__join(keys, n_keys).text);
}

static const struct bb_field *find_field(const struct bb_kind *kind, const char *name)
{
	for (size_t i = 0; i < kind->n_fields; i++)
		if (kind->fields[i].name && !strcmp(kind->fields[i].name, name))
			return &kind->fields[i];
	return NULL;
}

int bb_kind__read(const struct bb_reader *r, const struct bb_kind *kind, const struct bb_yaml *node,
		  unsigned int mode, void *base)
{
	assert(kind->n_fields <= BB_KIND_MAX_KEYS && kind->n_modes <= BB_KIND_MAX_KEYS);
	if (node->kind != BB_YAML_MAP)
		return bb_yaml__fail(r, node, "%s must be a mapping such as %s, not %s", kind->what,
				     kind->example, bb_yaml__show(node).text);
	for (size_t i = 0; i < node->n; i++) {
		const struct bb_yaml *key = &node->items[2 * i];
		const struct bb_field *f = find_field(kind, key->text);
		int rc;

		if (!f)
			return fail_unknown_key(r, kind, node, key, mode);
		if (!belongs(f, mode))
			return fail_foreign_key(r, kind, f, key, mode);
		rc = (f->read ? f->read : f->type->read)(r, f, key + 1, base);
		if (rc)
			return rc;
	}
	for (size_t i = 0; i < kind->n_fields; i++) {
		const struct bb_field *f = &kind->fields[i];

		if (f->required && belongs(f, mode) && !bb_yaml__get(node, f->name))
			return bb_yaml__fail(r, node, "%s needs the key '%s'", kind->what, f->name);
	}
	return 0;
}

static int read_keys(const struct bb_reader *r, const struct bb_field *f,
		     const struct bb_yaml *node, void *base)
{
	return bb_kind__read(r, f->of, node, 0, base);
}

const struct bb_type bb_type_keys = {.read = read_keys};

/* Several keys may set one member, which is copied once. */
static bool is_copied(const struct bb_kind *kind, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (kind->fields[k].offset == kind->fields[i].offset &&
		    kind->fields[k].type == kind->fields[i].type)
			return true;
	return false;
}

int bb_kind__copy(const struct bb_kind *kind, const void *from, void *ret_to)
{
	int rc = 0;

	memcpy(ret_to, from, kind->size);
	for (size_t i = 0; i < kind->n_fields; i++) {
		const struct bb_field *f = &kind->fields[i];

		memset((char *)ret_to + f->offset, 0,
		       f->type == &bb_type_part ? f->of->size : f->type->owned_bytes);
	}
	for (size_t i = 0; !rc && i < kind->n_fields; i++) {
		const struct bb_field *f = &kind->fields[i];

		if (f->type->copy && !is_copied(kind, i))
			rc = f->type->copy(f, from, ret_to);
	}
	return rc;
}

void bb_kind__done(const struct bb_kind *kind, void *item)
{
	for (size_t i = 0; i < kind->n_fields; i++)
		if (kind->fields[i].type->done)
			kind->fields[i].type->done(&kind->fields[i], item);
}

static int copy_part(const struct bb_field *f, const void *from, void *to)
{
	return bb_kind__copy(f->of, (const char *)from + f->offset, (char *)to + f->offset);
}

static void free_part(const struct bb_field *f, void *base)
{
	bb_kind__done(f->of, (char *)base + f->offset);
}

static int copy_list(const struct bb_field *f, const void *from, void *to)
{
	const char *items = *(char *const *)((const char *)from + f->offset);
	size_t *n = (size_t *)((char *)to + f->n_offset), size = f->of->size;
	size_t n_items = *(const size_t *)((const char *)from + f->n_offset);
	char *copies = items ? calloc(n_items + 1, size) : NULL;
	int rc = items && !copies ? -ENOMEM : 0;

	*(char **)((char *)to + f->offset) = copies;
	for (*n = 0; !rc && *n < n_items; ++*n)
		rc = bb_kind__copy(f->of, items + *n * size, copies + *n * size);
	return rc;
}

static void free_list(const struct bb_field *f, void *base)
{
	char **items = (char **)((char *)base + f->offset);
	size_t *n = (size_t *)((char *)base + f->n_offset);

	for (size_t i = 0; *items && i < *n; i++)
		bb_kind__done(f->of, *items + i * f->of->size);
	free(*items);
	*items = NULL;
}

static int copy_bytes(const struct bb_field *f, const void *from, void *to)
{
	const char *bytes = *(char *const *)((const char *)from + f->offset);
	size_t n = *(const size_t *)((const char *)from + f->n_offset);
	char *copy = bytes ? malloc(n + 1) : NULL;

	if (copy)
		memcpy(copy, bytes, n);
	*(char **)((char *)to + f->offset) = copy;
	return bytes && !copy ? -ENOMEM : 0;
}

static void free_bytes(const struct bb_field *f, void *base)
{
	char **bytes = (char **)((char *)base + f->offset);

	free(*bytes);
	*bytes = NULL;
}

const struct bb_type bb_type_part = {.copy = copy_part, .done = free_part};
const struct bb_type bb_type_list = {NULL, sizeof(void *), copy_list, free_list};
const struct bb_type bb_type_bytes = {NULL, sizeof(void *), copy_bytes, free_bytes};
