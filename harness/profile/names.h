/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PROFILE_NAMES_H
#define BB_PROFILE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#define BB_NO_ID UINT32_MAX

/*
 * Pairs of 64-bit numbers to 32-bit ids: a hash table with open addressing (linear probing, at most
 * half full). Zeroed is empty.
 */
struct bb_idmap_entry {
	uint64_t a, b;
	uint32_t id; /* plus 1; 0: free */
};

struct bb_idmap {
	struct bb_idmap_entry *entries;
	size_t n, size; /* size: 0 or a power of two */
};

/* BB_NO_ID: not there. */
uint32_t bb_idmap__get(const struct bb_idmap *m, uint64_t a, uint64_t b);

/* Set or replace; `id` is not BB_NO_ID. 0 or -ENOMEM. */
int bb_idmap__put(struct bb_idmap *m, uint64_t a, uint64_t b, uint32_t id);

void bb_idmap__done(struct bb_idmap *m);

/* Strings, each kept once and known by its number from 0 on. Zeroed is empty. */
struct bb_names {
	char *text; /* all of them, each with its NUL */
	size_t text_len, text_size;
	size_t *offsets;
	size_t n;
	struct bb_idmap by_hash; /* (hash, index among the names of this hash) */
};

/* The number of text[len], which is new when it was not there. 0 or -ENOMEM. */
int bb_names__add(struct bb_names *names, const char *text, size_t len, uint32_t *ret_id);

/* Valid until the next __add. */
static inline const char *bb_names__text(const struct bb_names *names, uint32_t id)
{
	return names->text + names->offsets[id];
}

/* Append text[len] and a NUL to *all, which grows: where it begins is the old *all_len. 0 or
 * -ENOMEM. */
int bb_text_append(char **all, size_t *all_len, size_t *all_size, const char *text, size_t len);

void bb_names__done(struct bb_names *names);

#endif
