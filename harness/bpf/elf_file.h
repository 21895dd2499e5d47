/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <gelf.h>
#include <linux/bpf.h>

#include "base/std.h"

/* A BPF object file as the compiler wrote it: sections, symbols and relocations. */

struct bb_elf_section {
	/* the section's name without a leading '?', which marks programs that are not loaded by
	 * default */
	const char *name;
	const char *full_name;
	const char *data;
	size_t bytes;
	const struct bpf_insn *insns; /* insns[n]; NULL if the section has no code */
	uint32_t n;
	/* symbol_of[n]: for each instruction, the index of the symbol in its relocation, plus 1; 0
	 * means that it has no relocation; NULL if the section has no relocations */
	uint32_t *symbol_of;
};

struct bb_elf_symbol {
	const char *name;
	uint32_t section; /* index of the section that defines the symbol; 0: no section does */
	uint64_t value, bytes;
	unsigned char type; /* STT_* */
};

/* A pointer to a symbol in the section ".maps", such as a filled slot of a prog array. */
struct bb_elf_slot {
	uint64_t at; /* offset of the pointer in the section, in bytes */
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

/* Reads elf[len], which must outlive *ret_file. Returns 0, or -EINVAL if it is no ELF file or is
 * broken. */
int bb_elf_file__open(const char *elf, size_t len, struct bb_elf_file *ret_file,
		      struct bb_err *err);
void bb_elf_file__close(struct bb_elf_file *f);

/* Finds the function that the instruction at index `at` of `section` calls, or whose address it
 * loads, as libbpf's bpf_object__reloc_code() does. Returns the section of that function, and the
 * index of its first instruction, which may be beyond the section's end. */
void bb_elf_file__callee(const struct bb_elf_file *f, uint32_t section, uint32_t at,
			 uint32_t *ret_section, uint32_t *ret_offset);

/* Returns the section with this name; NULL if there is none. */
const struct bb_elf_section *bb_elf_file__section(const struct bb_elf_file *f, const char *name);

/* The functions below read any ELF file, one section after the other, by libelf. */

/* bb_elf__of_memory() opens elf[len], which must stay in memory; bb_elf__of_file() opens the file
 * with the descriptor `fd`. The caller must call elf_end(). Both return NULL for anything but an
 * ELF file. */
Elf *bb_elf__of_memory(const char *elf, size_t len);
Elf *bb_elf__of_file(int fd);

/* Returns the string at `offset` of the string table in section `table`. NULL if the offset is too
 * large or the table does not end with a NUL; checking the table's end is quicker than checking the
 * end of each string. */
const char *bb_elf__text(Elf *elf, size_t table, uint64_t offset);

/* One section of an ELF file. */
struct bb_elf_part {
	Elf_Scn *scn;
	GElf_Shdr head;
	const char *name; /* NULL if it cannot be read */
};

/* Moves *part to the next section, or to the first one if *part is zeroed. Returns false if there
 * are no more sections. */
bool bb_elf__next(Elf *elf, struct bb_elf_part *part);

/* Finds the first section with this name. Returns false if there is none. */
bool bb_elf__find(Elf *elf, const char *name, struct bb_elf_part *ret_part);

/* Returns the number of entries of a symbol or relocation table. */
size_t bb_elf_part__count(const struct bb_elf_part *part);

/* Converts an address to an offset in the file. Returns false if no loaded segment has the
 * address. */
bool bb_elf__offset(Elf *elf, uint64_t address, uint64_t *ret_offset);

/* The programs that a program of an object file can reach: by calls of functions, and by tail
 * calls through prog arrays that the file fills. */
struct bb_jumps {
	struct bb_elf_file file;
	uint32_t maps; /* index of the section ".maps"; 0 if there is none */
	/* functions and maps, sorted by section and offset */
	const struct bb_elf_symbol **symbols;
	size_t n;
	/* reached[i] is true if symbols[i] is reached. `todo` lists reached symbols that have
	 * not been examined yet. */
	bool *reached;
	size_t *todo, n_todo;
	/* true if the target of a call was not found; every symbol then counts as reached */
	bool is_unknown;
};

/* Reads elf[len], which must outlive *ret_jumps. If the file is broken or fills no prog array, no
 * function or map ever counts as reached. */
void bb_jumps__open(const char *elf, size_t len, struct bb_jumps *ret_jumps);
void bb_jumps__close(struct bb_jumps *j);

/* bb_jumps__restart() marks all symbols as not reached. bb_jumps__reach() marks the program or
 * map `name`, and all that can be reached from it. */
void bb_jumps__restart(struct bb_jumps *j);
void bb_jumps__reach(struct bb_jumps *j, const char *name);

/* Iterates over the reached functions and maps: returns the name of the first one from index *i on,
 * and sets *i to the index after it. NULL if there are no more. */
const char *bb_jumps__next(const struct bb_jumps *j, size_t *i);

/* True if none of the reached functions uses `map`. Always false if no prog array of the file has
 * initial programs. */
bool bb_jumps__is_spare(const struct bb_jumps *j, const char *map);
