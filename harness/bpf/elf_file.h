/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BPF_ELF_FILE_H
#define BB_BPF_ELF_FILE_H

#include <gelf.h>
#include <linux/bpf.h>

#include "base/err.h"
#include "base/std.h"

/* A BPF object file as the compiler left it: its functions, and the symbols that they call. */

struct bb_elf_section {
	const char *name; /* without the '?' of programs that are not loaded by default */
	const char *full_name;
	const char *data;
	size_t bytes;
	const struct bpf_insn *insns; /* NULL: no code */
	uint32_t n;
	/* by instruction: the symbol that it is relocated by, plus 1; NULL: none at all */
	uint32_t *symbol_of;
};

struct bb_elf_symbol {
	const char *name;
	uint32_t section; /* 0: in none */
	uint64_t value, bytes;
	unsigned char type; /* STT_* */
};

/* A pointer in the section ".maps", as a slot of a prog array has it. */
struct bb_elf_slot {
	uint64_t at; /* offset in the section */
	uint32_t symbol;
};

struct bb_elf_file {
	void *elf; /* owns the texts above */
	struct bb_elf_section *sections;
	size_t n_sections;
	struct bb_elf_symbol *symbols;
	size_t n_symbols;
	struct bb_elf_slot *slots;
	size_t n_slots;
};

/* `elf` outlives the file. -EINVAL: not an ELF file, or a broken one. */
int bb_elf_file__open(const char *elf, size_t len, struct bb_elf_file *ret_file,
		      struct bb_err *err);
void bb_elf_file__close(struct bb_elf_file *f);

/*
 * The function that the call, or the load of a function's address, at instruction `at` of a section
 * is of, as libbpf's bpf_object__reloc_code() finds it: a section and an instruction there, which
 * may be beyond its end.
 */
void bb_elf_file__callee(const struct bb_elf_file *f, uint32_t section, uint32_t at,
			 uint32_t *ret_section, uint32_t *ret_offset);

/* The section of that name, NULL: there is none. */
const struct bb_elf_section *bb_elf_file__section(const struct bb_elf_file *f, const char *name);

/* The parts of an ELF file of libelf's, one after the other. */

/* elf[len], which stays; or the open file. NULL: it is no ELF file. elf_end() it. */
Elf *bb_elf__of_memory(const char *elf, size_t len);
Elf *bb_elf__of_file(int fd);

/* The text at `offset` of the string table in section `table`. NULL: there is none; nor is there in
 * a table that does not end with a NUL, as all do: so each text is found at once. */
const char *bb_elf__text(Elf *elf, size_t table, uint64_t offset);

struct bb_elf_part {
	Elf_Scn *scn;
	GElf_Shdr head;
	const char *name; /* NULL: it cannot be read */
};

/* The next section after *part, which is zeroed for the first one; false: it was the last. */
bool bb_elf__next(Elf *elf, struct bb_elf_part *part);

/* The first section of that name; false: there is none. */
bool bb_elf__find(Elf *elf, const char *name, struct bb_elf_part *ret_part);

/* The entries of a table of symbols or relocations. */
size_t bb_elf_part__count(const struct bb_elf_part *part);

/* Where in the file the byte with that address is; false: in no part of it that is loaded. */
bool bb_elf__offset(Elf *elf, uint64_t address, uint64_t *ret_offset);

/*
 * The programs that a program of an object file can get to: by tail calls through prog arrays whose
 * slots the file fills, by calls of functions, and on from there.
 */
struct bb_jumps {
	struct bb_elf_file file;
	uint32_t maps; /* the section ".maps"; 0: there is none */
	/* functions and maps: sorted by section and offset */
	const struct bb_elf_symbol **symbols;
	size_t n;
	/* by symbol: the program gets there. `todo` lists those that were not looked through yet */
	bool *reached;
	size_t *todo, n_todo;
	/* the code has a call that leads nowhere: all could be reached */
	bool is_unknown;
};

/* `elf` outlives the jumps. A file that is broken fills no slots, and where none is filled nothing
 * is reached. 0 or -ENOMEM. */
int bb_jumps__open(const char *elf, size_t len, struct bb_jumps *ret_jumps);
void bb_jumps__close(struct bb_jumps *j);

/* Forget what is reached. Then: the program or map of that name is, and all that it leads to. */
void bb_jumps__restart(struct bb_jumps *j);
void bb_jumps__reach(struct bb_jumps *j, const char *name);

/* The i-th name that is reached, of a function or a map; NULL: there are no more. *i goes on. */
const char *bb_jumps__next(const struct bb_jumps *j, size_t *i);

/* Does the file fill slots of that map, and is nothing of it reached? */
bool bb_jumps__is_spare(const struct bb_jumps *j, const char *map);

#endif
