/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <jansson.h>

#include "base/json_writer.h"
#include "base/record.h"

/* Records (base/record.h) as JSON: a record is an object, a BB_RECORDS member a list of objects. */

struct bb_record_reader;

/* The functions of a format for one BB_OTHER member, to which `item` points. If the member has no
 * offset, `item` is the whole item. If `key` is NULL, read() is called after all members of an item
 * were read, to check the item. */
struct bb_record_part {
	const struct bb_record *record;
	const char *key;
	/* Writes the key and the value of the member. `whole` is the argument `whole` of
	 * bb_record__write(). */
	void (*write)(const void *whole, const void *item, struct bb_json *w);
	/* Reads the member of `item` from `object`, which is the JSON object of the item. NULL: the
	 * member is not read. */
	int (*read)(struct bb_record_reader *rd, const json_t *object, void *item);
};

struct bb_record_format {
	const char *name; /* name of the format in messages: "a bpfbench run" */
	const struct bb_record_part *parts;
	size_t n_parts;
	size_t max_text, max_items; /* limits: bytes of a text, items of an array; 0: no limit */
};

/* Writes the members of `item` into the object that is open in `w`. `whole` is the outermost
 * struct that contains the item, and is passed to the functions of the format. */
void bb_record__write(const struct bb_record_format *format, const struct bb_record *record,
		      const void *whole, const void *item, struct bb_json *w);

struct bb_record_reader {
	const struct bb_record_format *format;
	const char *path; /* path of the file, for messages */
	void *whole;      /* outermost struct that is read, for the functions of the format */
	struct bb_err *err;
	char where[96]; /* item in the file, for messages: "cases[3].series[0]"; "" at the top */
};

/* Reads the members of `item` from `object`. The item must have its defaults (bb_record__init()).
 * Unknown keys are ignored. Returns -EINVAL if a known key is missing, has another type or
 * contradicts another key. After an error, the item owns the members that were read before. */
int bb_record__read(struct bb_record_reader *rd, const struct bb_record *record,
		    const json_t *object, void *item);

/* Reads the value of one member that is not BB_OTHER. Returns 0 or -EINVAL. */
int bb_record__read_value(struct bb_record_reader *rd, const struct bb_member *m,
			  const json_t *value, void *item);

/* Returns -EINVAL with the message "path: not a bpfbench run: where.key: ...". Control characters
 * become blanks, so the message is one line. */
int bb_record__complain(const struct bb_record_reader *rd, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Converts a JSON value to a count. The value is a whole number, or a string as bb_json__add_u64()
 * writes it. Returns 0 or -EINVAL. */
int bb_record__to_u64(const json_t *value, uint64_t *ret_count);
