/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "plan/scenario.h"

/*
 * Contents of maps as JSON, as `bpfbench maps dump --json` writes them. Keys and values are bytes
 * in hexadecimal:
 *
 *     {"maps": [{"name": "flows", "type": "hash", "entries": {"0a000001": "0100", ...}}]}
 *
 * All keys of a map have one length, and so have all values.
 */
struct bb_map_table {
	char *name; /* name of the map; the kernel keeps only the first 15 characters */
	size_t key_size, value_size; /* bytes; 0: there are no entries */
	size_t n;
	bool is_raw; /* `keys` has n bytes in all; the size of a key is known only from the map */
	size_t n_distinct;      /* the first n_distinct keys are known to be distinct */
	uint8_t *keys, *values; /* n keys and n values, without gaps */
	struct bb_maps_file *file;
};

struct bb_maps_file {
	char *path; /* for messages */
	uint32_t users;
	struct bb_map_table *v;
	size_t n;
};

/*
 * Reads a file of at most BB_MAPS_FILE_MAX bytes. Keeps the last file in memory, because each
 * variant of a scenario asks for it. bb_maps_file__let_go() releases the file. Returns -EINVAL with
 * a message. The message begins with "path:line:column: " if the text is not JSON. Otherwise it
 * begins with "path: ", and names the map and the key if the fault is in one of them.
 */
#define BB_MAPS_FILE_MAX ((size_t)256 << 20)
int bb_maps_file__read(const char *path, struct bb_maps_file **ret_file, struct bb_err *err);

/* Reads a text in memory; `path` is only for messages. */
int bb_maps_file__parse(const char *text, size_t len, const char *path,
			struct bb_maps_file **ret_file, struct bb_err *err);
void bb_maps_file__let_go(struct bb_maps_file *file); /* accepts NULL */

/* Returns the table of a map, or NULL. A table named by the first 15 characters of the map's name
 * is found too. */
struct bb_map_table *bb_maps_file__find(const struct bb_maps_file *file, const char *map);
/* Reads the file, and returns its table of the map in *ret_table. Release the file with
 * bb_maps_file__let_go(table->file). Returns -EINVAL with a message if the file has no such map. */
int bb_maps_file__read_table(const char *path, const char *map, struct bb_map_table **ret_table,
			     struct bb_err *err);
/* True if this table may belong to a map called `map`. */
bool bb_map_table__is_of(const struct bb_map_table *table, const char *map);
