/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BASE_RECORD_JSON_H
#define BB_BASE_RECORD_JSON_H

#include <jansson.h>

#include "base/err.h"
#include "base/json_writer.h"
#include "base/record.h"

/* Records (base/record.h) as JSON: an object of each, a list of each BB_RECORDS. */

struct bb_record_reader;

/* A member that is BB_OTHER, or with the key NULL a check of what was read of an item. */
struct bb_record_part {
	const struct bb_record *record;
	const char *key;
	/* Write it, with its key. 0 or -ENOMEM. */
	int (*write)(const void *whole, const void *item, struct bb_json *w);
	/* `object` is the item's. NULL: it is not read. */
	int (*read)(struct bb_record_reader *rd, const json_t *object, void *item);
};

struct bb_record_format {
	const char *name; /* "a bpfbench run", for messages */
	const struct bb_record_part *parts;
	size_t n_parts;
	size_t max_text, max_items; /* of a text, bytes; of an array; 0: any */
};

/* Members of the object that is open in `w`. 0 or -ENOMEM. `whole` is for parts. */
int bb_record__write(const struct bb_record_format *format, const struct bb_record *record,
		     const void *whole, const void *item, struct bb_json *w);

struct bb_record_reader {
	const struct bb_record_format *format;
	const char *path; /* of the file, for messages */
	void *whole;      /* for parts */
	struct bb_err *err;
	char where[96]; /* "cases[3].series[0]", "" at the top */
};

/*
 * Read the members of an item that has its defaults. Keys that are not known are passed over; a
 * known one that is missing, mistyped or at odds with another is -EINVAL. What was read by then is
 * the item's.
 */
int bb_record__read(struct bb_record_reader *rd, const struct bb_record *record,
		    const json_t *object, void *item);

/* Read one member that is not BB_OTHER. */
int bb_record__read_value(struct bb_record_reader *rd, const struct bb_member *m,
			  const json_t *value, void *item);

/* -EINVAL with "path: not a bpfbench run: where.key: ..." on one line, whatever the file had in it.
 */
int bb_record__complain(const struct bb_record_reader *rd, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* A count: a whole number, or a string of one where it is too large for some readers. 0 or -EINVAL.
 */
int bb_record__to_u64(const json_t *value, uint64_t *ret_count);

#endif
