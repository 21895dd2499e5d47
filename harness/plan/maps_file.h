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
	char *name; /* name of the map; the kernel gives only its first 15 characters */
	/* size of each key and of each value in bytes. Both are 0 if the map has no entries or
	 * `is_raw` is true; value_size is 0 in a table that has only keys. */
	size_t key_size, value_size;
	size_t n;    /* number of entries; if is_raw, number of bytes in `keys` */
	bool is_raw; /* true: `keys` is from a .bin file, so only the map knows the size of a key */
	/* number of keys, from the first on, that have been compared; no two of them are equal */
	size_t n_distinct;
	/* n keys and n values, without gaps; `values` is NULL if the table has only keys */
	uint8_t *keys, *values;
	struct bb_maps_file *file; /* the file that owns this table */
};

struct bb_maps_file {
	char *path;     /* path of the file, for messages */
	uint32_t users; /* number of references; the last bb_maps_file__let_go() frees the file */
	struct bb_map_table *v; /* v[n], one table per map */
	size_t n;
};

/*
 * Reads a file of at most BB_MAPS_FILE_MAX bytes. Release the file with bb_maps_file__let_go(). The
 * file that was read last stays in memory, because each variant of a scenario reads the file of its
 * maps again. Returns 0, or -errno with a message. The message begins with "path:line:column: " if
 * the text is not JSON. Otherwise it begins with "path: ", and names the map and the key that are
 * wrong.
 */
#define BB_MAPS_FILE_MAX ((size_t)256 << 20)
int bb_maps_file__read(const char *path, struct bb_maps_file **ret_file, struct bb_err *err);

/* Does the same as bb_maps_file__read(), but with the text of the file in memory, text[len]. `path`
 * is only for messages. */
int bb_maps_file__parse(const char *text, size_t len, const char *path,
			struct bb_maps_file **ret_file, struct bb_err *err);
void bb_maps_file__let_go(struct bb_maps_file *file); /* does nothing if `file` is NULL */

/* Returns the table of the map called `map` (bb_map_table__is_of()); NULL if there is none. */
struct bb_map_table *bb_maps_file__find(const struct bb_maps_file *file, const char *map);
/* Reads the file, and stores its table of the map `map` in `*ret_table`. Release the file with
 * bb_maps_file__let_go(table->file). Returns 0; -EINVAL with a message if the file has no such
 * map; or an error of bb_maps_file__read(). */
int bb_maps_file__read_table(const char *path, const char *map, struct bb_map_table **ret_table,
			     struct bb_err *err);
/* True if the table is of a map called `map`: its name is `map` or the first 15 characters of
 * `map`, because the kernel keeps no more characters of a name. */
bool bb_map_table__is_of(const struct bb_map_table *table, const char *map);
