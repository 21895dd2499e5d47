/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

#define BB_NO_ID UINT32_MAX

/* Maps pairs of 64-bit numbers to 32-bit ids. A hash table with linear probing, at most half
 * full. A zeroed bb_idmap is empty. */
struct bb_idmap_entry {
	uint64_t a, b;
	uint32_t id; /* the pair's id plus 1; 0: the entry is free */
};

struct bb_idmap {
	struct bb_idmap_entry *entries;
	size_t n, size; /* n: pairs; size: entries, 0 or a power of two */
};

/* Returns the id of the pair; BB_NO_ID: the pair is not there. */
uint32_t bb_idmap__get(const struct bb_idmap *m, uint64_t a, uint64_t b);

/* Sets or replaces the id of the pair. The id must not be BB_NO_ID. */
void bb_idmap__put(struct bb_idmap *m, uint64_t a, uint64_t b, uint32_t id);

void bb_idmap__done(struct bb_idmap *m);

/* Distinct strings, numbered from 0 on. A zeroed bb_names is empty. */
struct bb_names {
	char *text; /* all strings, each with its NUL */
	size_t text_len, text_size;
	size_t *offsets;
	size_t n;
	struct bb_idmap by_hash; /* key: (hash, index among strings with this hash) */
};

/* Returns the number of the string text[len]. Adds the string if it is new. */
uint32_t bb_names__add(struct bb_names *names, const char *text, size_t len);

/* Returns the string with this number. Valid until the next bb_names__add(). */
static inline const char *bb_names__text(const struct bb_names *names, uint32_t id)
{
	return names->text + names->offsets[id];
}

void bb_names__done(struct bb_names *names);

/* Functions by address, of an ELF file, of the kernel or of a JIT. */
struct bb_symbol {
	uint64_t start, size; /* size in bytes; 0: up to the next symbol */
	size_t name;          /* offset in bb_symtab.text */
	uint32_t rank; /* of several symbols at one address, one with a size is kept; of these, the
			* one with the lowest rank */
};

struct bb_symtab {
	char *text; /* all names, each with its NUL */
	size_t text_len, text_size;
	struct bb_symbol *symbols;
	size_t n, size;
};

void bb_symtab__add(struct bb_symtab *t, uint64_t start, uint64_t size, const char *name,
		    size_t name_len, uint32_t rank);

/* Sorts the symbols, and keeps one per address. Call it between the last bb_symtab__add() and
 * the first bb_symtab__find(). */
void bb_symtab__sort(struct bb_symtab *t);

/* Returns the function that contains the address; NULL: no known function does. */
const struct bb_symbol *bb_symtab__find(const struct bb_symtab *t, uint64_t address);

static inline const char *bb_symtab__name(const struct bb_symtab *t, const struct bb_symbol *s)
{
	return t->text + s->name;
}

void bb_symtab__done(struct bb_symtab *t);

/* Adds the functions of the kernel, its modules and BPF programs from the text of
 * /proc/kallsyms. Ignores other lines, and addresses of 0 (hidden by kernel.kptr_restrict). */
void bb_symtab__add_kallsyms(struct bb_symtab *t, const char *text);

/* Adds the functions of a JIT from the text of a /tmp/perf-PID.map: lines "START SIZE NAME", in
 * hexadecimal. Ignores other lines. */
void bb_symtab__add_perf_map(struct bb_symtab *t, const char *text);

/* The symbols in the files /tmp/perf-PID.map, each read when it is first asked for. A zeroed struct
 * is empty. Anybody can create such a file, so it counts only if it is a regular file that belongs
 * to the process's user or to root. */
struct bb_jit_maps {
	struct bb_symtab *v; /* one per process; empty: the process has no such file */
	size_t n;
	struct bb_idmap by_pid;
};

/* Returns the symbols of the process `pid`, which runs as `uid` (BB_NO_ID: unknown); NULL: the
 * process has no map that counts. Valid until the next call. */
const struct bb_symtab *bb_jit_maps__get(struct bb_jit_maps *maps, uint32_t pid, uint32_t uid);
void bb_jit_maps__done(struct bb_jit_maps *maps);

/* Opens a regular file that belongs to `owner` or to root, as bb_open_regular() does. Returns a
 * descriptor, or -EPERM for a file of somebody else, or another -errno. */
int bb_open_if_trusted(const char *path, int flags, uid_t owner);
