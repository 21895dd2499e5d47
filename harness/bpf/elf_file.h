/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <gelf.h>
#include <linux/bpf.h>

#include "base/std.h"

/* A BPF object file as the compiler wrote it: sections, symbols and relocations. */

struct bb_elf_section {
	/* name without the leading '?', which marks programs that are not loaded by default */
	const char *name;
	const char *full_name;
	const char *data;
	size_t bytes;
	const struct bpf_insn *insns; /* NULL if the section has no code */
	uint32_t n;
	/* for each instruction: 1 + the index of the symbol that its relocation names, or 0 if it
	 * has no relocation; NULL if the section has no code or no relocations */
	uint32_t *symbol_of;
};

struct bb_elf_symbol {
	const char *name;
	uint32_t section; /* index of the section that defines the symbol; 0 if none does */
	uint64_t value, bytes;
	unsigned char type; /* STT_* */
};

/* A place in the section ".maps", at the offset `at`, where the file has the address of a symbol.
 * Such a place is the initial value of a map's slot, for example a program in a prog array. */
struct bb_elf_slot {
	uint64_t at;
	uint32_t symbol;
};

struct bb_elf_file {
	Elf *elf; /* owns the names and data of sections and symbols */
	struct bb_elf_section *sections;
	size_t n_sections;
	struct bb_elf_symbol *symbols;
	size_t n_symbols;
	struct bb_elf_slot *slots;
	size_t n_slots;
};

/* Reads the ELF file in elf[len], which must outlive *ret_file. Fails with -EINVAL if it is no ELF
 * file or a broken one. */
int bb_elf_file__open(const char *elf, size_t len, struct bb_elf_file *ret_file,
		      struct bb_err *err);
void bb_elf_file__close(struct bb_elf_file *f);

/* Finds the function that instruction `at` of `section` calls, or whose address it loads, as
 * libbpf's bpf_object__reloc_code() does. *ret_offset is the index of the function's first
 * instruction in section *ret_section. It may be beyond the end of that section. */
void bb_elf_file__callee(const struct bb_elf_file *f, uint32_t section, uint32_t at,
			 uint32_t *ret_section, uint32_t *ret_offset);

const struct bb_elf_section *bb_elf_file__section(const struct bb_elf_file *f, const char *name);

/* The functions from here to bb_elf__offset() read any ELF file with libelf. */

/* Open the ELF file in elf[len], which must stay in memory, or the file `fd`. The caller must call
 * elf_end(). Both functions return NULL if there is no ELF file. */
Elf *bb_elf__of_memory(const char *elf, size_t len);
Elf *bb_elf__of_file(int fd);

/* Returns the string at `offset` in the string table of section number `table`. Returns NULL if
 * there is none, or if the table does not end with a NUL. */
const char *bb_elf__text(Elf *elf, size_t table, uint64_t offset);

struct bb_elf_part {
	Elf_Scn *scn;
	GElf_Shdr head;
	const char *name; /* NULL if it cannot be read */
};

/* Moves *part to the next section, or to the first one if *part is zeroed. Returns false at the
 * end. */
bool bb_elf__next(Elf *elf, struct bb_elf_part *part);

bool bb_elf__find(Elf *elf, const char *name, struct bb_elf_part *ret_part);

size_t bb_elf_part__count(const struct bb_elf_part *part);

/* Converts an address to an offset in the file. Returns false if no loaded segment has the
 * address. */
bool bb_elf__offset(Elf *elf, uint64_t address, uint64_t *ret_offset);

/* Which functions and maps of an object file some of its programs can reach: by using a map, by
 * calls, and by tail calls through prog arrays to which the file gives initial programs. */
struct bb_jumps {
	struct bb_elf_file file;
	uint32_t maps; /* index of the section ".maps", or 0 if there is none */
	/* functions and maps, sorted by section and offset */
	const struct bb_elf_symbol **symbols;
	size_t n;
	/* reached[n]: true if the function or map was reached. todo[n_todo]: indices of reached
	 * symbols whose code or slots are not examined yet. */
	bool *reached;
	size_t *todo, n_todo;
	/* true if the target of a call was not found; every symbol then counts as reached */
	bool is_unknown;
};

/* Reads the object file in elf[len], which must outlive *ret_jumps. If the file is broken, or gives
 * initial programs to no prog array, `symbols` stays empty, and nothing ever counts as reached. */
void bb_jumps__open(const char *elf, size_t len, struct bb_jumps *ret_jumps);
void bb_jumps__close(struct bb_jumps *j);

/* bb_jumps__restart() forgets what was reached. bb_jumps__reach() marks the program or map `name`
 * as reached, and all functions and maps that it can reach. */
void bb_jumps__restart(struct bb_jumps *j);
void bb_jumps__reach(struct bb_jumps *j, const char *name);

/* Returns the name of the first reached function or map at or after index *i in `symbols`, and
 * moves *i behind it. Returns NULL if there is none. */
const char *bb_jumps__next(const struct bb_jumps *j, size_t *i);

/* True if `map` was not reached, so that it need not be created. Always false if the file gives
 * initial programs to no prog array: bb_jumps__open() then lists no functions and maps, so it is
 * not known what was reached. */
bool bb_jumps__is_spare(const struct bb_jumps *j, const char *map);
