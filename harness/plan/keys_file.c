/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan/keys_file.h"

#include <arpa/inet.h>

#include "base/io.h"
#include "base/parse.h"
#include "plan/field.h"

#define MAX_FIELDS 64u
#define MAX_KEY 512u /* most bytes of a key in a .csv */

static const struct column {
	const char *name;
	size_t size;
	bool is_big_endian;
	int family; /* AF_INET or AF_INET6: an address; 0: a number */
} columns[] = {
	{"u8", 1, false, 0},   {"u16", 2, false, 0},        {"u32", 4, false, 0},
	{"u64", 8, false, 0},  {"u16be", 2, true, 0},       {"u32be", 4, true, 0},
	{"u64be", 8, true, 0}, {"ipv4", 4, false, AF_INET}, {"ipv6", 16, false, AF_INET6},
};

struct csv {
	const char *path;
	unsigned int line;
	const struct column *columns[MAX_FIELDS];
	size_t n_columns; /* 0: fields are hexadecimal bytes */
};

static struct bb_map_table *new_table(const char *path)
{
	struct bb_maps_file *file = bb_calloc(1, sizeof(*file));
	struct bb_map_table *t = bb_append(&file->v, &file->n, sizeof(*t));

	file->path = bb_strdup(path);
	file->users = 1;
	*t = (struct bb_map_table){.name = bb_strdup(""), .file = file};
	return t;
}

#define fail_line(c, err, fmt, ...)                                                                \
	bb_fail(err, -EINVAL, "%s:%u: " fmt, (c)->path, (c)->line, ##__VA_ARGS__)

static int read_header(struct csv *c, char *line, struct bb_err *err)
{
	const char *names[BB_LEN(columns)];
	char *field;

	for (size_t i = 0; i < BB_LEN(columns); i++)
		names[i] = columns[i].name;
	while ((field = strsep(&line, ","))) {
		size_t i = 0;

		while (i < BB_LEN(columns) && strcmp(field, names[i]))
			i++;
		if (i == BB_LEN(columns) || c->n_columns == MAX_FIELDS)
			return fail_line(c, err, "unknown type '%.32s' of a field; there are: %s",
					 field, bb_phrase__join(names, BB_LEN(columns)).text);
		c->columns[c->n_columns++] = &columns[i];
	}
	return 0;
}

static bool read_field(const struct column *column, const char *text, uint8_t *dest)
{
	uint64_t number = 0;

	if (column->family)
		return inet_pton(column->family, text, dest) == 1;
	if (bb_parse_u64(text, &number) ||
	    (column->size < sizeof(number) && number >> (8 * column->size)))
		return false;
	if (column->is_big_endian)
		number = __builtin_bswap64(number) >> (64 - 8 * column->size);
	memcpy(dest, &number, column->size);
	return true;
}

/* Reads the fields of a line, one after the other, into key[MAX_KEY]. */
static int read_line(const struct csv *c, char *line, uint8_t *key, size_t *ret_len,
		     struct bb_err *err)
{
	size_t len = 0, n = 0, at = 0, part;
	char *field;

	while ((field = strsep(&line, ","))) {
		const struct column *column = n < c->n_columns ? c->columns[n] : NULL;

		field += strspn(field, " \t");
		field[strcspn(field, column ? " \t\r" : "\r")] = '\0';
		n++;
		if (c->n_columns && n > c->n_columns)
			break;
		if (!column && (bb_parse_hex(field, key + len, MAX_KEY - len, &part, &at) || !part))
			return fail_line(c, err,
					 "field %zu, '%.64s', is not bytes of two hexadecimal "
					 "digits; for numbers, name their types in the first line, "
					 "such as u32,u16be",
					 n, field);
		if (column &&
		    (len + column->size > MAX_KEY || !read_field(column, field, key + len)))
			return fail_line(c, err, "field %zu, '%.64s', is no %s", n, field,
					 column->name);
		len += column ? column->size : part;
	}
	if (c->n_columns && n != c->n_columns)
		return fail_line(c, err, "it has %s fields than the first line has types, %zu",
				 n < c->n_columns ? "fewer" : "more", c->n_columns);
	*ret_len = len;
	return 0;
}

static int parse_lines(struct csv *c, char *text, struct bb_map_table *t, struct bb_err *err)
{
	size_t len = 0, all;
	uint8_t key[MAX_KEY];
	FILE *keys = bb_open_memstream((char **)&t->keys, &all);
	char *line;
	int rc = 0;

	while (!rc && (line = strsep(&text, "\n")) && (text || *line)) {
		c->line++;
		line[strcspn(line, "\r")] = '\0';
		if (c->line == 1 && (line[0] == 'u' || line[0] == 'i')) {
			rc = read_header(c, line, err);
			continue;
		}
		rc = read_line(c, line, key, &len, err);
		if (!rc && t->n && len != t->key_size)
			rc = fail_line(c, err, "the key has %zu bytes, those before have %zu", len,
				       t->key_size);
		if (!rc)
			fwrite(key, len, 1, keys);
		t->key_size = len;
		t->n++;
	}
	bb_close_memstream(keys);
	if (!rc && !t->n)
		return bb_fail(err, -EINVAL, "%s: the file has no keys", c->path);
	return rc;
}

int bb_keys_file__parse_csv(char *text, const char *path, struct bb_map_table **ret_keys,
			    struct bb_err *err)
{
	struct csv c = {.path = path};
	struct bb_map_table *t = new_table(path);
	int rc = parse_lines(&c, text, t, err);

	if (rc)
		bb_maps_file__let_go(t->file);
	else
		*ret_keys = t;
	return rc;
}

int bb_keys_file__read(const char *path, const char *map, struct bb_map_table **ret_keys,
		       struct bb_err *err)
{
	static struct bb_maps_file *last; /* kept for the next map or variant */
	const char *dot = strrchr(path, '.');
	char *text;
	size_t len;
	int rc;

	if (dot && !strcmp(dot, ".json"))
		return bb_maps_file__read_table(path, map, ret_keys, err);
	if (!dot || (strcmp(dot, ".csv") && strcmp(dot, ".bin")))
		return bb_fail(err, -EINVAL,
			       "%s: a file of keys is called .csv, .json or .bin, which tells its "
			       "form",
			       path);
	if (!last || strcmp(last->path, path)) {
		struct bb_map_table *t;

		bb_maps_file__let_go(last);
		last = NULL;
		rc = bb_read_file(path, BB_MAPS_FILE_MAX, &text, &len, err);
		if (rc)
			return rc;
		if (!strcmp(dot, ".csv")) {
			rc = bb_keys_file__parse_csv(text, path, &t, err);
			free(text);
			if (rc)
				return rc;
		} else {
			t = new_table(path);
			t->keys = (uint8_t *)text;
			t->is_raw = true;
			t->n = len;
		}
		last = t->file;
	}
	last->users++;
	*ret_keys = last->v;
	return 0;
}
