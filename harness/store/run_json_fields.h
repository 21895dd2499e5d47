/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_STORE_RUN_JSON_FIELDS_H
#define BB_STORE_RUN_JSON_FIELDS_H

#include <stddef.h>

/*
 * The scalars of a stored run: each struct's are rows of a table that the writer (run_json.c) and
 * the reader (run_json_read.c) follow. Members that are no scalars (the floor by name, the
 * histogram, lists) have a function in each.
 */
enum bb_json_type {
	BB_JSON_NAME,         /* char *, never NULL nor empty */
	BB_JSON_TEXT,         /* char *, never NULL */
	BB_JSON_TEXT_OR_NULL, /* char * */
	BB_JSON_COUNT,        /* uint64_t */
	BB_JSON_SEED,         /* uint64_t, always as "0x..." */
	BB_JSON_U32,          /* uint32_t */
	BB_JSON_U32_NOT_0,    /* likewise, 1 or more */
	BB_JSON_MOD64,        /* int, -1..63 */
	BB_JSON_REAL,         /* double or NAN */
	BB_JSON_POSITIVE,     /* double >= 0 or NAN */
	BB_JSON_SHARE,        /* double 0..1 or NAN */
	BB_JSON_BOOL,
};

struct bb_json_field {
	const char *key;
	enum bb_json_type type;
	size_t offset;
};

struct bb_json_fields {
	const struct bb_json_field *v;
	size_t n;
	/* NULL, or the first key that older runs do not have: of it and of those behind it, one
	 * that is not there leaves its member at its default (a text that is never NULL: "") */
	const char *first_newer;
};

extern const struct bb_json_fields bb_report_fields, bb_skip_fields, bb_case_fields,
	bb_series_fields, bb_program_fields, bb_comparison_fields, bb_pair_fields,
	bb_counted_fields, bb_counted_case_fields, bb_counted_line_fields, bb_counted_call_fields,
	bb_timed_fields, bb_timed_row_fields, bb_flow_fields;

#endif
