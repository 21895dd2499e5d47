/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <jansson.h>

#include "base/json_writer.h"
#include "base/record.h"

/* Writes structs that a struct bb_record describes (base/record.h) as JSON objects, and reads them.
 * A BB_RECORDS member becomes a list of objects, and a BB_STRUCT member an object. */

struct bb_record_reader;

/* How a format writes and reads the BB_OTHER member `key` of the struct that `record` describes. If
 * `key` is NULL, the format calls read() after it has read all members of the struct, for example
 * to check the struct. `write` is then NULL. */
struct bb_record_part {
	const struct bb_record *record;
	const char *key;
	/* Writes the key and the value of the member. `item` is the address of the member. If
	 * `record` gives no offset for the member, `item` is the address of the struct. `whole` is
	 * as in bb_record__write(). */
	void (*write)(const void *whole, const void *item, struct bb_json *w);
	/* Reads the member from `object`, the JSON object of the struct. `item` is as in write()
	 * or, if `key` is NULL, the address of the struct. Returns 0 or -errno with a message.
	 * `read` is NULL if bpfbench does not read the member. */
	int (*read)(struct bb_record_reader *rd, const json_t *object, void *item);
};

struct bb_record_format {
	const char *name; /* name in messages: "a bpfbench run" */
	const struct bb_record_part *parts;
	size_t n_parts;
	/* most bytes of a text, and most objects of a BB_RECORDS list; 0 means no limit */
	size_t max_text, max_items;
};

/* Writes the members of the struct `item` into the JSON object that is open in `w`. `record`
 * describes the struct. `whole` is the outermost struct that contains `item`. */
void bb_record__write(const struct bb_record_format *format, const struct bb_record *record,
		      const void *whole, const void *item, struct bb_json *w);

struct bb_record_reader {
	const struct bb_record_format *format;
	const char *path;
	void *whole;
	struct bb_err *err;
	char where[96]; /* "cases[3].series[0]"; "" at the top */
};

/* Reads the members of the struct `item`, which must have its defaults (bb_record__init()). Ignores
 * unknown keys. Returns 0, or -EINVAL if a known key is missing, has another type or contradicts
 * another key. After an error, the struct owns the members that were read before the error. */
int bb_record__read(struct bb_record_reader *rd, const struct bb_record *record,
		    const json_t *object, void *item);

/* Reads one member that is not BB_OTHER. Returns 0 or -EINVAL. */
int bb_record__read_value(struct bb_record_reader *rd, const struct bb_member *m,
			  const json_t *value, void *item);

/* Returns -EINVAL with the message "path: not a bpfbench run: where.key: ...". Control characters
 * become blanks, so the message is one line. */
int bb_record__complain(const struct bb_record_reader *rd, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Converts a whole number, or a string of bb_json__add_u64(). Returns 0, or -errno without a
 * message. */
int bb_record__to_u64(const json_t *value, uint64_t *ret_count);
