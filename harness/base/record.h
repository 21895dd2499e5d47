/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* A struct bb_record describes the members of a struct that is stored in a file. The functions
 * below use it to set defaults and free memory. base/record_json.h uses it to read and write JSON
 * files, and store/history_db.c to read and write history.db. These are the types of members, each
 * with its C type. */
enum bb_member_type {
	BB_NAME,         /* char *, neither NULL nor empty in a file */
	BB_TEXT,         /* char *, not NULL in a file; default "" */
	BB_TEXT_OR_NULL, /* char *; default NULL */
	BB_CHARS,        /* char [], default "" */
	BB_COUNT,        /* uint64_t */
	BB_SEED,         /* uint64_t, written as "0x..." */
	BB_U32,          /* uint32_t */
	BB_U32_NOT_0,    /* uint32_t >= 1; default 1 */
	BB_MOD64,        /* int, an address modulo 64; default -1, not known */
	/* int32_t or uint32_t, an index up to INT32_MAX; default -1, no index, which only a
	 * BB_IF_SET member may have when it is written */
	BB_INDEX,
	BB_REAL,     /* double; default NAN */
	BB_POSITIVE, /* double >= 0, or NAN; default NAN */
	BB_SHARE,    /* double from 0 to 1, or NAN; default NAN */
	BB_BOOL,
	BB_NUMBERS, /* struct bb_numbers */
	BB_RECORDS, /* pointer to an array of described structs */
	BB_STRUCT,  /* a described struct */
	/* pointer to a described struct; default NULL, which only a BB_IF_SET member may have when
	 * it is written */
	BB_STRUCT_OR_NULL,
	/* In JSON, functions of the file's format (struct bb_record_part) read and write the
	 * member. In history.db, it is the number of the row. bb_record.init() sets its default,
	 * and bb_record.done() frees it. */
	BB_OTHER,
};

enum bb_member_presence {
	BB_ALWAYS,
	BB_NEWER,  /* missing in older files, and then has its default */
	BB_IF_SET, /* not written if it has its default */
};

struct bb_member {
	const char *key;
	enum bb_member_type type;
	enum bb_member_presence presence;
	size_t offset, size; /* of the member, in bytes */
	size_t n_offset;     /* BB_RECORDS: offset of the array's length */
	/* of BB_RECORDS, BB_STRUCT and BB_STRUCT_OR_NULL: the structs. BB_INDEX: the structs in the
	 * array that it is an index of, or NULL */
	const struct bb_record *of;
	/* for readers of files; "" if the key is enough. NULL only if a BB_OTHER member of JSON */
	const char *doc;
};

struct bb_record {
	const char *doc;
	size_t size;
	const struct bb_member *members;
	size_t n_members;
	/* Set and free the members that are BB_OTHER or not described. NULL if there are none. */
	void (*init)(void *item);
	void (*done)(void *item);
};

/* Rows of the member `member` of struct `of`. */
#define BB_ROW_OF(of, key, type, presence, member, record, doc)                                    \
	{                                                                                          \
		key, type, presence, offsetof(struct of, member),                                  \
			sizeof(((struct of *)NULL)->member), 0, record, doc                        \
	}
#define BB_ROW(of, key, type, presence, member, doc)                                               \
	BB_ROW_OF(of, key, type, presence, member, NULL, doc)
/* The row of the BB_RECORDS member `array` of struct `of`, which has n_##array items. */
#define BB_LIST(of, key, presence, array, record, doc)                                             \
	{                                                                                          \
		key, BB_RECORDS, presence, offsetof(struct of, array),                             \
			sizeof(((struct of *)NULL)->array), offsetof(struct of, n_##array),        \
			&(record), doc                                                             \
	}
/* Defines of##_record, the description of struct `of`. */
#define BB_RECORD(of, its_members, its_init, its_done, its_doc)                                    \
	const struct bb_record of##_record = {its_doc,     sizeof(struct of),                      \
					      its_members, BB_LEN(its_members),                    \
					      its_init,    its_done}

struct bb_numbers {
	double *x; /* x[n], owned; NAN marks a missing number */
	size_t n;
};

void bb_numbers__append(struct bb_numbers *list, const double *x, size_t n);

/* Copies the first n numbers of the list, and NAN for missing ones. */
void bb_numbers__copy(const struct bb_numbers *list, double *ret_x, size_t n);

/* Sets each text to NULL and all other members to their defaults. Frees nothing. */
void bb_record__init(const struct bb_record *record, void *item);

/* Frees all memory that the item owns, and zeroes the item. */
void bb_record__done(const struct bb_record *record, void *item);

/* Appends an item with defaults to the array `*items` (bb_append()). Returns the item, which is
 * valid until the next call. */
void *bb_record__append(const struct bb_record *record, void *items, size_t *n);

/* Appends an item with defaults to the array to->list of to->n_list items. Returns the item. */
#define BB_ADD(record, to, list)                                                                   \
	((__typeof__((to)->list))bb_record__append(&(record), &(to)->list, &(to)->n_##list))
