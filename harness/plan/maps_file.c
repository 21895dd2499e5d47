/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan/maps_file.h"

#include <jansson.h>

#include "base/io.h"
#include "base/parse.h"

#define SHORT_NAME 15u /* the kernel keeps this many characters of a map's name */

/* Appends the bytes of a key or value, the text `hex`, to `*all`, and sets *size to their number.
 * Fails if an earlier key or value has another size. `what` ("key" or "value") and `key` are for
 * messages. */
static int read_bytes(const struct bb_map_table *t, const char *what, const char *key,
		      const char *hex, size_t *size, uint8_t **all, struct bb_err *err)
{
	size_t room = strlen(hex) / 2 + 1, len = 0, at = 0;
	uint8_t *bytes = bb_calloc(1, room);
	int rc = bb_parse_hex(hex, bytes, room, &len, &at);

	if (rc || !len)
		rc = bb_fail(err, -EINVAL,
			     "%s: map '%s', key \"%.64s\": the %s is not bytes of two hexadecimal "
			     "digits each",
			     t->file->path, t->name, key, what);
	else if (t->n && len != *size)
		rc = bb_fail(err, -EINVAL,
			     "%s: map '%s', key \"%.64s\": the %s has %zu bytes, those before have "
			     "%zu",
			     t->file->path, t->name, key, what, len, *size);
	else
		memcpy(*all + t->n * len, bytes, len);
	*size = len;
	free(bytes);
	return rc;
}

static int read_map(struct bb_maps_file *file, json_t *map, struct bb_err *err)
{
	const char *name = json_string_value(json_object_get(map, "name"));
	json_t *entries = json_object_get(map, "entries"), *value;
	size_t n = json_object_size(entries);
	const char *key;

	if (!name || !*name || !json_is_object(entries))
		return bb_fail(err, -EINVAL,
			       "%s: each of \"maps\" needs a \"name\" and an object \"entries\", "
			       "as "
			       "`bpfbench maps dump --json` writes them",
			       file->path);
	if (BB_ANY(file->v, file->n, !strcmp(it->name, name)))
		return bb_fail(err, -EINVAL, "%s: two maps are named '%s'", file->path, name);
	struct bb_map_table *t = bb_append(&file->v, &file->n, sizeof(*t));
	*t = (struct bb_map_table){.name = bb_strdup(name), .file = file};
	json_object_foreach(entries, key, value)
	{
		const char *hex = json_string_value(value);

		if (!hex)
			return bb_fail(err, -EINVAL,
				       "%s: map '%s', key \"%.64s\": the value must be a text of "
				       "hexadecimal bytes",
				       file->path, name, key);
		if (!t->n) {
			t->keys = bb_calloc(n, strlen(key) / 2 + 1);
			t->values = bb_calloc(n, strlen(hex) / 2 + 1);
		}
		int rc = read_bytes(t, "key", key, key, &t->key_size, &t->keys, err);
		rc = rc ? rc : read_bytes(t, "value", key, hex, &t->value_size, &t->values, err);
		if (rc)
			return rc;
		t->n++;
	}
	return 0;
}

int bb_maps_file__parse(const char *text, size_t len, const char *path,
			struct bb_maps_file **ret_file, struct bb_err *err)
{
	struct bb_maps_file *file = bb_calloc(1, sizeof(*file));
	json_error_t at;
	json_t *root, *maps;
	int rc = 0;

	file->path = bb_strdup(path);
	file->users = 1;
	root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &at);
	maps = json_object_get(root, "maps");
	if (!root)
		rc = bb_fail(err, -EINVAL, "%s:%d:%d: %s", path, at.line, at.column, at.text);
	else if (!json_is_array(maps))
		rc = bb_fail(err, -EINVAL,
			     "%s: it has no list \"maps\", as `bpfbench maps dump --json` writes "
			     "it",
			     path);
	for (size_t i = 0; !rc && i < json_array_size(maps); i++)
		rc = read_map(file, json_array_get(maps, i), err);
	json_decref(root);
	if (rc)
		bb_maps_file__let_go(file);
	else
		*ret_file = file;
	return rc;
}

int bb_maps_file__read(const char *path, struct bb_maps_file **ret_file, struct bb_err *err)
{
	static struct bb_maps_file *last;
	char *text = NULL;
	size_t len;
	int rc;

	if (!last || strcmp(last->path, path)) {
		bb_maps_file__let_go(last);
		last = NULL;
		rc = bb_read_file(path, BB_MAPS_FILE_MAX, &text, &len, err);
		rc = rc ? rc : bb_maps_file__parse(text, len, path, &last, err);
		free(text);
		if (rc)
			return rc;
	}
	last->users++;
	*ret_file = last;
	return 0;
}

void bb_maps_file__let_go(struct bb_maps_file *file)
{
	if (!file || --file->users)
		return;
	for (size_t i = 0; i < file->n; i++) {
		free(file->v[i].name);
		free(file->v[i].keys);
		free(file->v[i].values);
	}
	free(file->v);
	free(file->path);
	free(file);
}

bool bb_map_table__is_of(const struct bb_map_table *table, const char *map)
{
	return !strcmp(table->name, map) ||
	       (strlen(table->name) == SHORT_NAME && !strncmp(table->name, map, SHORT_NAME));
}

static int by_key(const void *a, const void *b, void *table)
{
	const struct bb_map_table *t = table;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return memcmp(bb_map_table__key(t, x), bb_map_table__key(t, y), t->key_size)
		       ?: BB_ORDER(x, y);
}

uint32_t *bb_map_table__order(struct bb_map_table *table, size_t n)
{
	uint32_t *order = bb_calloc(n + 1, sizeof(*order));

	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof(*order), by_key, table);
	return order;
}

struct bb_map_table *bb_maps_file__find(const struct bb_maps_file *file, const char *map)
{
	return BB_FIND(file->v, file->n, bb_map_table__is_of(it, map));
}

int bb_maps_file__read_table(const char *path, const char *map, struct bb_map_table **ret_table,
			     struct bb_err *err)
{
	struct bb_maps_file *file;
	int rc = bb_maps_file__read(path, &file, err);

	if (rc)
		return rc;
	*ret_table = bb_maps_file__find(file, map);
	if (*ret_table)
		return 0;
	bb_maps_file__let_go(file);
	return bb_fail(err, -EINVAL, "%s has no map '%s'", path, map);
}
