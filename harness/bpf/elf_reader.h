/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BPF_ELF_READER_H
#define BB_BPF_ELF_READER_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
