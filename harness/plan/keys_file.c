/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan/keys_file.h"

#include <arpa/inet.h>

#include "base/io.h"
#include "base/parse.h"
#include "plan/field.h"
#include "plan/packet.h"

#define MAX_FIELDS 64u
#define MAX_KEY 512u /* bytes of a key in a .csv file or made from an input */

static const struct column {
	const char *name;
	size_t size;
	bool is_big_endian;
	int family; /* AF_INET or AF_INET6 if the field is an address, 0 if it is a number */
} columns[] = {
	{"u8", 1, false, 0},   {"u16", 2, false, 0},        {"u32", 4, false, 0},
	{"u64", 8, false, 0},  {"u16be", 2, true, 0},       {"u32be", 4, true, 0},
	{"u64be", 8, true, 0}, {"ipv4", 4, false, AF_INET}, {"ipv6", 16, false, AF_INET6},
};

struct csv {
	const char *path;
	unsigned int line;
	const struct column *columns[MAX_FIELDS];
	/* number of types that the first line names; if 0, the fields are hexadecimal bytes */
	size_t n_columns;
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
		const struct column *column = BB_FIND(columns, BB_LEN(columns),
						      !strcmp(field, it->name));

		if (!column || c->n_columns == MAX_FIELDS)
			return fail_line(c, err, "unknown type '%.32s' of a field; there are: %s",
					 field, bb_phrase__join(names, BB_LEN(columns)).text);
		c->columns[c->n_columns++] = column;
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

/* Reads the fields of a line into key[MAX_KEY], one after the other. */
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

int bb_keys_file__parse_csv(char *text, const char *path, struct bb_map_table **ret_keys,
			    struct bb_err *err)
{
	struct csv c = {.path = path};
	struct bb_map_table *t = new_table(path);
	size_t len = 0, all;
	uint8_t key[MAX_KEY];
	FILE *keys = bb_open_memstream((char **)&t->keys, &all);
	char *line;
	int rc = 0;

	while (!rc && (line = strsep(&text, "\n")) && (text || *line)) {
		c.line++;
		line[strcspn(line, "\r")] = '\0';
		if (c.line == 1 && (line[0] == 'u' || line[0] == 'i')) {
			rc = read_header(&c, line, err);
			continue;
		}
		rc = read_line(&c, line, key, &len, err);
		if (!rc && t->n && len != t->key_size)
			rc = fail_line(&c, err, "the key has %zu bytes, those before have %zu", len,
				       t->key_size);
		if (!rc)
			fwrite(key, len, 1, keys);
		t->key_size = len;
		t->n++;
	}
	bb_close_memstream(keys);
	if (!rc && !t->n)
		rc = bb_fail(err, -EINVAL, "%s: the file has no keys", path);
	if (rc)
		bb_maps_file__let_go(t->file);
	else
		*ret_keys = t;
	return rc;
}

int bb_keys_file__read(const char *path, const char *map, struct bb_map_table **ret_keys,
		       struct bb_err *err)
{
	/* the file that was read last, because the next map may name it again */
	static struct bb_maps_file *last;
	const char *dot = strrchr(path, '.');
	struct bb_map_table *t = NULL;
	char *text;
	size_t len;
	int rc = 0;

	if (dot && !strcmp(dot, ".json"))
		return bb_maps_file__read_table(path, map, ret_keys, err);
	if (!dot || (strcmp(dot, ".csv") && strcmp(dot, ".bin")))
		return bb_fail(err, -EINVAL,
			       "%s: a file of keys is called .csv, .json or .bin, which tells its "
			       "form",
			       path);
	if (!last || strcmp(last->path, path)) {
		bb_maps_file__let_go(last);
		last = NULL;
		rc = bb_read_file(path, BB_MAPS_FILE_MAX, &text, &len, err);
		if (rc)
			return rc;
		if (!strcmp(dot, ".csv")) {
			rc = bb_keys_file__parse_csv(text, path, &t, err);
			free(text);
		} else {
			t = new_table(path);
			t->keys = (uint8_t *)text;
			t->is_raw = true;
			t->n = len;
		}
		if (rc)
			return rc;
		last = t->file;
	}
	last->users++;
	*ret_keys = last->v;
	return 0;
}

#define MOST_PARTS 32u

/* A part of a key: bytes of an input, or constant bytes. */
struct part {
	size_t from, to; /* first and last byte in the input; if to < from, the order is reversed */
	uint8_t constant[MAX_KEY];
	size_t n_constant; /* 0 if the part is bytes of the input */
};

static size_t size_of(const struct part *p)
{
	return p->n_constant ? p->n_constant
			     : (p->to < p->from ? p->from - p->to : p->to - p->from) + 1;
}

static bool read_part(const char *text, struct part *p)
{
	uint64_t from = 0, to;
	size_t at;

	if (*text == '=')
		return !bb_parse_hex(text + 1, p->constant, sizeof(p->constant), &p->n_constant,
				     &at) &&
		       p->n_constant;
	if (bb_parse_digits(&text, &from))
		return false;
	to = from;
	if (*text == '-' && (text++, bb_parse_digits(&text, &to)))
		return false;
	p->from = (size_t)from;
	p->to = (size_t)to;
	return !*text && from < BB_FRAME_MAX_BYTES && to < BB_FRAME_MAX_BYTES;
}

static int read_parts(const char *bytes, struct part *parts, size_t *ret_n, size_t *ret_key_size,
		      struct bb_err *err)
{
	char *copy = bb_strdup(bytes), *rest = copy, *item;
	size_t n = 0, size = 0;
	bool ok = true;

	while (ok && (item = strsep(&rest, " "))) {
		if (!*item)
			continue;
		ok = n < MOST_PARTS && read_part(item, &parts[n]);
		size += ok ? size_of(&parts[n++]) : 0;
		ok &= size <= MAX_KEY;
		if (!ok)
			bb_fail(err, -EINVAL,
				"'%.64s' is no part of a key; there are offsets in the packet such "
				"as 26-29, and constant bytes such as =20000000",
				item);
	}
	free(copy);
	if (ok && !n)
		ok = bb_fail(err, -EINVAL, "it names no bytes of the packets") == 0;
	*ret_n = n;
	*ret_key_size = size;
	return ok ? 0 : -EINVAL;
}

static int take_key(const struct bb_input *in, const struct part *parts, size_t n, uint8_t *key,
		    struct bb_err *err)
{
	for (const struct part *p = parts; p < parts + n; key += size_of(p), p++) {
		size_t last = p->from > p->to ? p->from : p->to;

		if (p->n_constant) {
			memcpy(key, p->constant, p->n_constant);
			continue;
		}
		if (last >= in->len)
			return bb_fail(err, -EINVAL, "input '%s' has %zu bytes and no byte %zu",
				       in->name, in->len, last);
		for (size_t i = 0; i < size_of(p); i++)
			key[i] = in->data[p->to < p->from ? p->from - i : p->from + i];
	}
	return 0;
}

/* Removes each key that equals an earlier key. The others keep their order. */
static void drop_repeated(struct bb_map_table *t)
{
	uint32_t *order = bb_map_table__order(t, t->n);
	bool *again = bb_calloc(t->n, sizeof(*again));
	size_t n = 0;

	for (size_t i = 1; i < t->n; i++)
		again[order[i]] = !memcmp(bb_map_table__key(t, order[i - 1]),
					  bb_map_table__key(t, order[i]), t->key_size);
	for (size_t i = 0; i < t->n; i++)
		if (!again[i])
			memmove(t->keys + n++ * t->key_size, bb_map_table__key(t, i), t->key_size);
	t->n = t->n_distinct = n;
	free(again);
	free(order);
}

int bb_keys_of_inputs(const struct bb_inputs *inputs, const char *bytes,
		      struct bb_map_table **ret_keys, struct bb_err *err)
{
	struct part *parts = bb_calloc(MOST_PARTS, sizeof(*parts));
	struct bb_map_table *t = new_table("'from'");
	size_t n = 0;
	int rc = read_parts(bytes, parts, &n, &t->key_size, err);

	t->n = inputs->n;
	t->keys = bb_calloc(t->n, t->key_size);
	for (size_t i = 0; !rc && i < t->n; i++)
		rc = take_key(&inputs->v[i], parts, n, t->keys + i * t->key_size, err);
	if (!rc)
		drop_repeated(t);
	free(parts);
	if (rc)
		bb_maps_file__let_go(t->file);
	else
		*ret_keys = t;
	return rc;
}
