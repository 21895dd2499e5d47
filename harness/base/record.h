/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/*
 * The types of members of stored structs. The comment on a type names the C type of the member. A
 * struct bb_record describes a stored struct: its members, their types, and which of them a file
 * may lack. From this description the functions below set defaults and free memory, and those of
 * base/record_json.h read and write files.
 */
enum bb_member_type {
	BB_NAME,         /* char *, neither NULL nor empty in a file */
	BB_TEXT,         /* char *, not NULL in a file; default "" */
	BB_TEXT_OR_NULL, /* char *, may be NULL; default NULL */
	BB_CHARS,        /* char [], default "" */
	BB_COUNT,        /* uint64_t */
	BB_SEED,         /* uint64_t, written as "0x..." */
	BB_U32,          /* uint32_t */
	BB_U32_NOT_0,    /* uint32_t >= 1; default 1 */
	BB_MOD64,        /* int, an address modulo 64, or -1 if it is not known; default -1 */
	/* int32_t >= 0; the default -1 means "no index", and is not written */
	BB_INDEX,
	BB_REAL,     /* double; default NAN */
	BB_POSITIVE, /* double >= 0, or NAN; default NAN */
	BB_SHARE,    /* double from 0 to 1, or NAN; default NAN */
	BB_BOOL,
	BB_NUMBERS, /* struct bb_numbers */
	BB_RECORDS, /* pointer to an array of described structs; their number is another member */
	/* functions of the file's format (struct bb_record_part) read and write the member;
	 * bb_record.init() sets its default, and bb_record.done() frees it */
	BB_OTHER,
};

enum bb_member_presence {
	BB_ALWAYS,
	BB_NEWER,  /* files of older versions lack the member, which then has its default */
	BB_IF_SET, /* a member that has its default is not written */
};

struct bb_member {
	const char *key;
	enum bb_member_type type;
	enum bb_member_presence presence;
	size_t offset;
	/* BB_RECORDS: offset of the member with the number of structs in the array. BB_CHARS: size
	 * of the array in bytes. */
	size_t n_offset;
	const struct bb_record *of; /* BB_RECORDS: description of the structs in the array */
	const char *doc;            /* explanation for readers of files; "" if the key is enough */
};

struct bb_record {
	const char *doc; /* explanation of the struct, for readers of files */
	size_t size;
	const struct bb_member *members;
	size_t n_members;
	/* init() sets and done() frees the members that are BB_OTHER or not described; NULL:
	 * there are no such members */
	void (*init)(void *item);
	void (*done)(void *item);
};

#define BB_MEMBERS(array) (array), sizeof(array) / sizeof((array)[0])

/* A list of numbers; NAN marks a missing number. */
struct bb_numbers {
	double *x; /* array x[n], which the struct owns */
	size_t n;
};

/* Appends the numbers x[n] to the list. */
void bb_numbers__append(struct bb_numbers *list, const double *x, size_t n);

/* Copies the first n numbers of the list into ret_x[n], and NAN for missing ones. */
void bb_numbers__copy(const struct bb_numbers *list, double *ret_x, size_t n);

/* Sets each text to NULL and all other members to their defaults. Frees nothing. */
void bb_record__init(const struct bb_record *record, void *item);

/* Frees all memory that the item owns, and zeroes the item. */
void bb_record__done(const struct bb_record *record, void *item);

/* Appends an item with defaults to the array `*items` of `*n` items (see bb_append()). Returns the
 * item, which is valid until the next call. */
void *bb_record__append(const struct bb_record *record, void *items, size_t *n);

/* Appends an item with defaults to the array to->list of to->n_list items. Returns the item. */
#define BB_ADD(record, to, list)                                                                   \
	((__typeof__((to)->list))bb_record__append(&(record), &(to)->list, &(to)->n_##list))
