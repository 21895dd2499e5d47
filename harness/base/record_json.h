/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <jansson.h>

#include "base/json_writer.h"
#include "base/record.h"

/* Records (base/record.h) as JSON objects. A BB_RECORDS member is a list of objects. */

struct bb_record_reader;

/* Functions of a format for one BB_OTHER member. `item` points to the member, or to the whole item
 * if the member has no offset. If `key` is NULL, read() checks an item after all its members were
 * read. */
struct bb_record_part {
	const struct bb_record *record;
	const char *key;
	/* Writes the key and the value of the member. `whole` is as in bb_record__write(). */
	void (*write)(const void *whole, const void *item, struct bb_json *w);
	/* Reads the member from `object`, the JSON object of the item. NULL if it is not read. */
	int (*read)(struct bb_record_reader *rd, const json_t *object, void *item);
};

struct bb_record_format {
	const char *name; /* name in messages: "a bpfbench run" */
	const struct bb_record_part *parts;
	size_t n_parts;
	size_t max_text, max_items; /* bytes of a text, items of an array; 0 means no limit */
};

/* Writes the members of `item` into the object that is open in `w`. `whole` is the outermost struct
 * that contains the item. */
void bb_record__write(const struct bb_record_format *format, const struct bb_record *record,
		      const void *whole, const void *item, struct bb_json *w);

struct bb_record_reader {
	const struct bb_record_format *format;
	const char *path;
	void *whole;
	struct bb_err *err;
	char where[96]; /* "cases[3].series[0]"; "" at the top */
};

/* Reads the members of `item`, which must have its defaults. Ignores unknown keys. Returns -EINVAL
 * if a known key is missing, has another type or contradicts another key. After an error, the item
 * owns the members that were read before. */
int bb_record__read(struct bb_record_reader *rd, const struct bb_record *record,
		    const json_t *object, void *item);

/* Reads one member that is not BB_OTHER. Returns 0 or -EINVAL. */
int bb_record__read_value(struct bb_record_reader *rd, const struct bb_member *m,
			  const json_t *value, void *item);

/* Returns -EINVAL with the message "path: not a bpfbench run: where.key: ...". Control characters
 * become blanks, so the message is one line. */
int bb_record__complain(const struct bb_record_reader *rd, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Converts a whole number, or a string of bb_json__add_u64(). */
int bb_record__to_u64(const json_t *value, uint64_t *ret_count);
