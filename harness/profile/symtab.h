/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PROFILE_SYMTAB_H
#define BB_PROFILE_SYMTAB_H

#include "base/std.h"

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

void bb_names__done(struct bb_names *names);

/* Functions by address: of an ELF file, of the kernel, of a JIT. */
struct bb_symbol {
	uint64_t start, size; /* size 0: up to the next one */
	size_t name;          /* where in `text` */
	uint32_t rank;        /* of several at one address the lowest rank is the one */
};

struct bb_symtab {
	char *text; /* names, each with its NUL */
	size_t text_len, text_size;
	struct bb_symbol *symbols;
	size_t n, size;
};

int bb_symtab__add(struct bb_symtab *t, uint64_t start, uint64_t size, const char *name,
		   size_t name_len, uint32_t rank);

/* After the last __add and before the first __find: sort, and leave one symbol an address. */
void bb_symtab__sort(struct bb_symtab *t);

/* The function that holds the address; NULL: none does. */
const struct bb_symbol *bb_symtab__find(const struct bb_symtab *t, uint64_t address);

static inline const char *bb_symtab__name(const struct bb_symtab *t, const struct bb_symbol *s)
{
	return t->text + s->name;
}

void bb_symtab__done(struct bb_symtab *t);

/*
 * Functions of the kernel, its modules and BPF programs, from the text of /proc/kallsyms. Other
 * lines are passed over, and so are addresses of 0: kernel.kptr_restrict hides them.
 */
int bb_symtab__add_kallsyms(struct bb_symtab *t, const char *text);

/* The functions that a JIT lists in /tmp/perf-PID.map: lines "START SIZE NAME", hexadecimal. Lines
 * that are none are passed over. */
int bb_symtab__add_perf_map(struct bb_symtab *t, const char *text);

/*
 * The /tmp/perf-PID.map files of processes, read when they are asked for. Zeroed is empty. Anybody
 * may make such a file: it counts if it is a regular file of the process's user or of root.
 */
struct bb_jit_maps {
	struct bb_symtab *v; /* empty: the process has none */
	size_t n;
	struct bb_idmap by_pid;
};

/* NULL when the process, which runs as `uid` (BB_NO_ID: not known), wrote none. Valid until the
 * next. 0 or -ENOMEM. */
int bb_jit_maps__get(struct bb_jit_maps *maps, uint32_t pid, uint32_t uid,
		     const struct bb_symtab **ret_symtab);
void bb_jit_maps__done(struct bb_jit_maps *maps);

#endif
