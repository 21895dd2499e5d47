/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "plan/scenario.h"

/*
 * The entries of one map in a file that `bpfbench maps dump --json` wrote. In the file, keys and
 * values are bytes of two hexadecimal digits each:
 *
 *     {"maps": [{"name": "flows", "type": "hash", "entries": {"0a000001": "0100", ...}}]}
 *
 * All keys of a map have the same length, and all its values have the same length.
 */
struct bb_map_table {
	char *name; /* the kernel gives only its first 15 characters */
	/* bytes of each key and of each value, 0 if unknown or if there are none */
	size_t key_size, value_size;
	size_t n; /* number of entries, or of bytes in `keys` if is_raw */
	/* true if `keys` is from a .bin file, so only the map knows the size of a key */
	bool is_raw;
	/* The first n_distinct keys have been compared, and no two of them are equal. */
	size_t n_distinct;
	/* n keys and n values, without gaps; `values` is NULL if the table has only keys */
	uint8_t *keys, *values;
	struct bb_maps_file *file;
};

struct bb_maps_file {
	char *path;     /* for messages */
	uint32_t users; /* number of references; the last bb_maps_file__let_go() frees the file */
	struct bb_map_table *v; /* one table per map */
	size_t n;
};

/* Reads a file of at most BB_MAPS_FILE_MAX bytes. Release it with bb_maps_file__let_go(). The file
 * that was read last stays in memory, because each variant of a scenario reads it again. Returns 0,
 * or -errno with a message that begins with "path:line:column: " if the text is not JSON, and with
 * "path: " otherwise. */
#define BB_MAPS_FILE_MAX ((size_t)256 << 20)
int bb_maps_file__read(const char *path, struct bb_maps_file **ret_file, struct bb_err *err);

/* Parses text[len] instead of a file. `path` is only for messages. */
int bb_maps_file__parse(const char *text, size_t len, const char *path,
			struct bb_maps_file **ret_file, struct bb_err *err);
void bb_maps_file__let_go(struct bb_maps_file *file); /* accepts NULL */

/* Returns the table of the map called `map`, or NULL. */
struct bb_map_table *bb_maps_file__find(const struct bb_maps_file *file, const char *map);
/* Reads the file's table of the map `map`. Release the file with bb_maps_file__let_go(table->file).
 * Returns 0, -EINVAL with a message if the file has no such map, or another -errno. */
int bb_maps_file__read_table(const char *path, const char *map, struct bb_map_table **ret_table,
			     struct bb_err *err);
/* True if the table's name is `map` or its first 15 characters (the kernel keeps no more). */
bool bb_map_table__is_of(const struct bb_map_table *table, const char *map);

/* Returns the first n of the table's indexes, sorted by their keys, and equal keys by index. A 0
 * stands behind them. The caller frees the array. */
uint32_t *bb_map_table__order(struct bb_map_table *table, size_t n);

static inline const uint8_t *bb_map_table__key(const struct bb_map_table *t, size_t index)
{
	return t->keys + index * t->key_size;
}
