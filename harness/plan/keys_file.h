/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "plan/maps_file.h"

/*
 * Reads the keys of the map `map` from a file of at most BB_MAPS_FILE_MAX bytes, into a table
 * without values. Release the table with bb_maps_file__let_go(table->file). The file read last
 * stays in memory, for the next map or variant that names it. The end of the file's name says how
 * the file is written:
 *
 *   .csv   one key per line. A line has fields, separated by commas, which together are the key.
 *          A field is bytes of two hexadecimal digits each. If the first line names types, such
 *          as u32,ipv4,u16be, each field is a number or an address of the type in its column.
 *   .json  a file that `bpfbench maps dump --json` wrote; the keys of its map `map` are taken
 *   .bin   the bytes of all keys, one key after the other; table->is_raw is true
 *
 * Returns 0, or -errno with a message that names the file and, in a .csv, the line.
 */
int bb_keys_file__read(const char *path, const char *map, struct bb_map_table **ret_keys,
		       struct bb_err *err);

/* Makes one key from each input, without repeated keys. `bytes` lists the parts of a key, separated
 * by blanks: "26-29" is the input's bytes from offset 26 to offset 29, "29-26" these bytes in
 * reverse order, "14" one byte, and "=20000000" four constant bytes. Release the table with
 * bb_maps_file__let_go((*ret_keys)->file). Returns 0, or -EINVAL with a message. */
int bb_keys_of_inputs(const struct bb_inputs *inputs, const char *bytes,
		      struct bb_map_table **ret_keys, struct bb_err *err);

/* Reads keys from the text of a .csv file, which is overwritten. `path` is only for messages. */
int bb_keys_file__parse_csv(char *text, const char *path, struct bb_map_table **ret_keys,
			    struct bb_err *err);
