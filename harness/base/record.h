/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BASE_RECORD_H
#define BB_BASE_RECORD_H

#include "base/std.h"

/*
 * A struct that is stored, described once: its members, their types, and which of them a file may
 * lack. Its defaults, its end, reading and writing (base/record_json.h) follow from the
 * description.
 */
enum bb_member_type {
	BB_NAME,         /* char *, never NULL nor empty */
	BB_TEXT,         /* char *, never NULL in a file; "" by default */
	BB_TEXT_OR_NULL, /* char * */
	BB_CHARS,        /* char [], "" by default */
	BB_COUNT,        /* uint64_t */
	BB_SEED,         /* uint64_t, always as "0x..." */
	BB_U32,          /* uint32_t */
	BB_U32_NOT_0,    /* likewise, 1 or more; 1 by default */
	BB_MOD64,        /* int, -1..63; -1 by default */
	BB_INDEX,        /* int32_t, >= 0; -1: none, by default; BB_IF_SET */
	BB_REAL,         /* double or NAN, the default */
	BB_POSITIVE,     /* likewise, >= 0 */
	BB_SHARE,        /* likewise, 0..1 */
	BB_BOOL,
	BB_NUMBERS, /* struct bb_numbers */
	BB_RECORDS, /* an array of structs that another record describes, with its length */
	BB_OTHER,   /* its owner has functions for it; no default, no end */
};

enum bb_member_presence {
	BB_ALWAYS,
	BB_NEWER,  /* files of older versions lack it: its default */
	BB_IF_SET, /* left out where it has its default */
};

struct bb_member {
	const char *key;
	enum bb_member_type type;
	enum bb_member_presence presence;
	size_t offset;
	/* BB_RECORDS: of the size_t that counts them; BB_CHARS: bytes */
	size_t n_offset;
	const struct bb_record *of; /* BB_RECORDS: the description of each */
	const char *doc;            /* for readers of files; "" where the key says it all */
};

struct bb_record {
	const char *doc; /* of one item */
	size_t size;
	const struct bb_member *members;
	size_t n_members;
	/* of members that are BB_OTHER or not described at all; NULL: there are none */
	void (*init)(void *item);
	void (*done)(void *item);
};

#define BB_MEMBERS(array) (array), sizeof(array) / sizeof((array)[0])

/* A list of numbers; NAN where there is none. */
struct bb_numbers {
	double *x; /* x[n], owned */
	size_t n;
};

/* Append copies of x[n]. 0 or -ENOMEM. */
int bb_numbers__append(struct bb_numbers *list, const double *x, size_t n);

/* The first n of the list into ret_x[n]; NAN for those that it does not have. */
void bb_numbers__copy(const struct bb_numbers *list, double *ret_x, size_t n);

/* Set all members to their defaults; nothing is freed. Texts are NULL until they are read or set.
 */
void bb_record__init(const struct bb_record *record, void *item);

/* Free all that the item owns, and zero it. */
void bb_record__done(const struct bb_record *record, void *item);

/*
 * One item more, with its defaults, at the end of the array `*items` of `*n` (base/grow.h). Valid
 * until the next call; NULL when out of memory.
 */
void *bb_record__append(const struct bb_record *record, void *items, size_t *n);

/* The same at the end of a list in a struct, `list` and `n_list`. */
#define BB_ADD(record, to, list)                                                                   \
	((__typeof__((to)->list))bb_record__append(&(record), &(to)->list, &(to)->n_##list))

#endif
