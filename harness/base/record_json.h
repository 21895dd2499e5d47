/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <jansson.h>

#include "base/json_writer.h"
#include "base/record.h"

/* Records (base/record.h) as JSON: each record is an object, each BB_RECORDS member a list of
 * objects. */

struct bb_record_reader;

/* Functions of a format for one BB_OTHER member. If `key` is NULL, read() checks a whole item
 * after its members were read. */
struct bb_record_part {
	const struct bb_record *record;
	const char *key;
	/* Writes the key and the value of the member. `whole` is what bb_record__write() was
	 * given. */
	void (*write)(const void *whole, const void *item, struct bb_json *w);
	/* Reads the member of `item` from `object`, the JSON of the item. NULL: the member is
	 * not read. */
	int (*read)(struct bb_record_reader *rd, const json_t *object, void *item);
};

struct bb_record_format {
	const char *name; /* a word for such a file in messages: "a bpfbench run" */
	const struct bb_record_part *parts;
	size_t n_parts;
	size_t max_text, max_items; /* limits: bytes of a text, items of an array; 0: no limit */
};

/* Writes the members of `item` into the object that is open in `w`. `whole` is the struct that
 * holds the item, at any depth; the format's functions get it. */
void bb_record__write(const struct bb_record_format *format, const struct bb_record *record,
		      const void *whole, const void *item, struct bb_json *w);

struct bb_record_reader {
	const struct bb_record_format *format;
	const char *path; /* path of the file, for messages */
	void *whole;      /* for the format's functions */
	struct bb_err *err;
	char where[96]; /* where the item is in the file, for messages: "cases[3].series[0]"; "" at
			   the top */
};

/* Reads the members from `object` into an item that has its defaults. Unknown keys are ignored.
 * Returns -EINVAL if a known key is missing, has another type or contradicts another key. After an
 * error, the item owns what was read before. */
int bb_record__read(struct bb_record_reader *rd, const struct bb_record *record,
		    const json_t *object, void *item);

/* Reads the value of one member that is not BB_OTHER. Returns 0 or -EINVAL. */
int bb_record__read_value(struct bb_record_reader *rd, const struct bb_member *m,
			  const json_t *value, void *item);

/* Returns -EINVAL with "path: not a bpfbench run: where.key: ..." on one line, whatever the file
 * contains. */
int bb_record__complain(const struct bb_record_reader *rd, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Converts JSON to a count: a whole number, or a string for a number that is too large for some
 * readers. Returns 0 or -EINVAL. */
int bb_record__to_u64(const json_t *value, uint64_t *ret_count);
