/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "plan/maps_file.h"

/*
 * Reads the keys of a map from a file of at most BB_MAPS_FILE_MAX bytes, into a table without
 * values. bb_maps_file__let_go(table->file) releases it. Keeps the last file in memory. The file's
 * name tells the form:
 *
 *   .csv   one key per line, in fields. A field holds bytes, two hexadecimal digits each. If the
 *          first line names types (u32,ipv4,u16be), fields are numbers or addresses of these types.
 *   .json  the map called `map` in a file as `bpfbench maps dump --json` writes it
 *   .bin   the bytes of all keys; table->is_raw is true
 *
 * Returns 0, or -errno with a message that names the file and, in a .csv, the line.
 */
int bb_keys_file__read(const char *path, const char *map, struct bb_map_table **ret_keys,
		       struct bb_err *err);

/*
 * Makes a key from bytes of each input, in the order of the inputs. Leaves out repeated keys.
 * `bytes` lists the parts of a key, separated by blanks: "26-29" is the bytes from offset 26 to 29,
 * "29-26" the same bytes in reverse order, "14" one byte, and "=20000000" constant bytes. Returns
 * -EINVAL with a message that says what is wrong with `bytes`, or which input is too short.
 */
int bb_keys_of_inputs(const struct bb_inputs *inputs, const char *bytes,
		      struct bb_map_table **ret_keys, struct bb_err *err);

/* Reads the text of a .csv, and changes this text. `path` is only for messages. */
int bb_keys_file__parse_csv(char *text, const char *path, struct bb_map_table **ret_keys,
			    struct bb_err *err);
