/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

#define BB_NO_ID UINT32_MAX

/* Maps pairs of 64-bit numbers to 32-bit ids: a hash table with linear probing, at most half full.
 * A zeroed bb_idmap is empty. */
struct bb_idmap_entry {
	uint64_t a, b;
	uint32_t id; /* id of the pair, plus 1; 0 if the entry is free */
};

struct bb_idmap {
	struct bb_idmap_entry *entries;
	size_t n, size; /* number of pairs, number of entries (0 or a power of two) */
};

/* Returns BB_NO_ID if the map does not have the pair (a, b). */
uint32_t bb_idmap__get(const struct bb_idmap *m, uint64_t a, uint64_t b);

/* Sets or replaces the id of the pair (a, b), which must not be BB_NO_ID. */
void bb_idmap__put(struct bb_idmap *m, uint64_t a, uint64_t b, uint32_t id);

void bb_idmap__done(struct bb_idmap *m);

/* Distinct strings, numbered from 0 on. A zeroed bb_names is empty. */
struct bb_names {
	char *text; /* all strings, each with its NUL */
	size_t text_len, text_size;
	size_t *offsets; /* where each string begins in `text` */
	size_t n;
	/* (hash of a string, index among the strings with this hash) -> number of the string */
	struct bb_idmap by_hash;
};

/* Returns the number of the string text[len] or up to a NUL. Adds the string if it is new. */
uint32_t bb_names__add(struct bb_names *names, const char *text, size_t len);

/* The string is valid until the next bb_names__add(). */
static inline const char *bb_names__text(const struct bb_names *names, uint32_t id)
{
	return names->text + names->offsets[id];
}

void bb_names__done(struct bb_names *names);

/* Functions by address, of an ELF file, of the kernel or of a JIT. Add them, sort once, then look
 * addresses up. A zeroed bb_symtab is empty. */
struct bb_symbol {
	uint64_t start, size; /* bytes; 0 if the function reaches to the next symbol */
	size_t name;          /* offset in bb_symtab.text */
	/* bb_symtab__sort() keeps one symbol at an address: with a size, then of the lowest rank */
	uint32_t rank;
};

struct bb_symtab {
	char *text;
	size_t text_len, text_size;
	struct bb_symbol *symbols;
	size_t n;
};

void bb_symtab__add(struct bb_symtab *t, uint64_t start, uint64_t size, const char *name,
		    size_t name_len, uint32_t rank);

/* Keeps one symbol for each address. Call it after the last bb_symtab__add() and before the first
 * bb_symtab__find(). */
void bb_symtab__sort(struct bb_symtab *t);

/* Returns the function that contains the address, or NULL. */
const struct bb_symbol *bb_symtab__find(const struct bb_symtab *t, uint64_t address);

static inline const char *bb_symtab__name(const struct bb_symtab *t, const struct bb_symbol *s)
{
	return t->text + s->name;
}

void bb_symtab__done(struct bb_symtab *t);

/* Adds the functions of the kernel, its modules and BPF programs from the text of /proc/kallsyms.
 * Ignores data symbols, and addresses of 0 (hidden by kernel.kptr_restrict). */
void bb_symtab__add_kallsyms(struct bb_symtab *t, const char *text);

/* Adds the functions of a JIT from the text of a /tmp/perf-PID.map: lines "START SIZE NAME", in
 * hexadecimal. Ignores malformed lines. */
void bb_symtab__add_perf_map(struct bb_symtab *t, const char *text);

/* The symbols in the files /tmp/perf-PID.map, in which JITs name their functions. Anybody can
 * create such a file, so it is trusted only if it is a regular file that belongs to the process's
 * user or to root. A zeroed bb_jit_maps is empty. */
struct bb_jit_maps {
	struct bb_symtab *v; /* one for each process; empty if no trusted file was found */
	size_t n;
	struct bb_idmap by_pid; /* (pid, 0) -> index in `v` */
};

/* Returns the JIT's symbols of the process, whose user is `uid` (BB_NO_ID if unknown), or NULL if
 * it has no trusted file. Valid until the next call. */
const struct bb_symtab *bb_jit_maps__get(struct bb_jit_maps *maps, uint32_t pid, uint32_t uid);
void bb_jit_maps__done(struct bb_jit_maps *maps);

/* Opens a regular file that belongs to `owner` or to root, with the flags of bb_open_regular().
 * Returns a descriptor, or -errno. -EPERM means that another user owns it. */
int bb_open_if_trusted(const char *path, int flags, uid_t owner);
