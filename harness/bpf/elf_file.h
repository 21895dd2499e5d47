/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <gelf.h>
#include <linux/bpf.h>

#include "base/std.h"

/* A BPF object file as the compiler wrote it: sections, symbols and relocations. */

struct bb_elf_section {
	/* without the leading '?' of programs that are not loaded by default */
	const char *name;
	const char *full_name;
	const char *data;
	size_t bytes;
	const struct bpf_insn *insns; /* NULL if the section has no code */
	uint32_t n;
	/* by instruction: 1 + index of the symbol in its relocation, 0 if it has none; may be
	 * NULL */
	uint32_t *symbol_of;
};

struct bb_elf_symbol {
	const char *name;
	uint32_t section; /* index of the section that defines the symbol; 0 if none does */
	uint64_t value, bytes;
	unsigned char type; /* STT_* */
};

/* A pointer in the section ".maps" to a symbol, such as a program in a slot of a prog array. */
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

/* Reads elf[len], which must outlive *ret_file. Fails with -EINVAL if it is no ELF file or is
 * broken. */
int bb_elf_file__open(const char *elf, size_t len, struct bb_elf_file *ret_file,
		      struct bb_err *err);
void bb_elf_file__close(struct bb_elf_file *f);

/* Finds the function that instruction `at` of `section` calls or takes the address of, as libbpf's
 * bpf_object__reloc_code() does. *ret_offset is its first instruction, and may be beyond the
 * section's end. */
void bb_elf_file__callee(const struct bb_elf_file *f, uint32_t section, uint32_t at,
			 uint32_t *ret_section, uint32_t *ret_offset);

const struct bb_elf_section *bb_elf_file__section(const struct bb_elf_file *f, const char *name);

/* The functions below read any ELF file by libelf. */

/* Open elf[len], which must stay in memory, or the file `fd`. The caller must call elf_end(). Both
 * return NULL if it is not an ELF file. */
Elf *bb_elf__of_memory(const char *elf, size_t len);
Elf *bb_elf__of_file(int fd);

/* Returns the string at `offset` of the string table in section `table`, or NULL. The table must
 * end with a NUL. */
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

/* Converts an address to an offset in the file. Returns false if no loaded segment has it. */
bool bb_elf__offset(Elf *elf, uint64_t address, uint64_t *ret_offset);

/* The functions and maps that a program can reach by calls, and by tail calls through prog arrays
 * that the object file fills. */
struct bb_jumps {
	struct bb_elf_file file;
	uint32_t maps;
	/* functions and maps, sorted by section and offset */
	const struct bb_elf_symbol **symbols;
	size_t n;
	/* `todo` lists reached symbols whose code or slots are not examined yet */
	bool *reached;
	size_t *todo, n_todo;
	/* true if the target of a call was not found; every symbol then counts as reached */
	bool is_unknown;
};

/* Reads elf[len], which must outlive *ret_jumps. Nothing ever counts as reached if the file is
 * broken or fills no prog array. */
void bb_jumps__open(const char *elf, size_t len, struct bb_jumps *ret_jumps);
void bb_jumps__close(struct bb_jumps *j);

/* bb_jumps__restart() forgets all that was reached. bb_jumps__reach() marks the program or map
 * `name`, and all that it can reach. */
void bb_jumps__restart(struct bb_jumps *j);
void bb_jumps__reach(struct bb_jumps *j, const char *name);

/* Returns the name of the next reached function or map from index *i on, and moves *i behind it.
 * Returns NULL at the end. */
const char *bb_jumps__next(const struct bb_jumps *j, size_t *i);

/* True if none of the reached functions uses `map`. Always false if no prog array of the file has
 * initial programs. */
bool bb_jumps__is_spare(const struct bb_jumps *j, const char *map);
