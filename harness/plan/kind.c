/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan/kind.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

static bool belongs(const struct bb_field *f, unsigned int mode)
{
	return !f->with || (f->with & mode);
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
	return bb_yaml__fail(r->path, key, r->err, "unknown key %s%s; %s takes: %s%s",
			     bb_yaml__show(key).text, bb_phrase__suggest(key->text, names, n).text,
			     kind->what, bb_phrase__join(names, n).text, hint);
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
	return bb_yaml__fail(r->path, key, r->err,
			     "key '%s' does not belong to '%s' but to %s; %s takes: %s", f->name,
			     label, bb_phrase__join(owners, n_owners).text, name,
			     bb_phrase__join(keys, n_keys).text);
}

static const struct bb_field *find_field(const struct bb_kind *kind, const char *name)
{
	for (size_t i = 0; i < kind->n_fields; i++)
		if (!strcmp(kind->fields[i].name, name))
			return &kind->fields[i];
	return NULL;
}

int bb_kind__read(const struct bb_reader *r, const struct bb_kind *kind, const struct bb_yaml *node,
		  unsigned int mode, void *base)
{
	assert(kind->n_fields <= BB_KIND_MAX_KEYS && kind->n_modes <= BB_KIND_MAX_KEYS);
	if (node->kind != BB_YAML_MAP)
		return bb_yaml__fail(r->path, node, r->err,
				     "%s must be a mapping such as %s, not %s", kind->what,
				     kind->example, bb_yaml__show(node).text);
	for (size_t i = 0; i < node->n; i++) {
		const struct bb_yaml *key = &node->items[2 * i];
		const struct bb_field *f = find_field(kind, key->text);
		int rc;

		if (!f)
			return fail_unknown_key(r, kind, node, key, mode);
		if (!belongs(f, mode))
			return fail_foreign_key(r, kind, f, key, mode);
		rc = f->read(r, f, key + 1, base);
		if (rc)
			return rc;
	}
	for (size_t i = 0; i < kind->n_fields; i++) {
		const struct bb_field *f = &kind->fields[i];

		if (f->required && belongs(f, mode) && !bb_yaml__get(node, f->name))
			return bb_yaml__fail(r->path, node, r->err, "%s needs the key '%s'",
					     kind->what, f->name);
	}
	return 0;
}
