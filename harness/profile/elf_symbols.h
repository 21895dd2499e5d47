/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PROFILE_ELF_SYMBOLS_H
#define BB_PROFILE_ELF_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The functions and lines of addresses in an ELF file, by its symbol table and its debug
 * information, which may be in another file (found by build id or debug link). The file comes from
 * others and may be damaged: reading is bounded, but libdw may still fail on it; symbolize.c
 * therefore uses this in a process without rights. Nothing is opened by name.
 */
struct bb_elf_symbols;

/* How much of the file is to be trusted. */
enum bb_elf_depth { BB_ELF_NOTHING, BB_ELF_SYMBOLS, BB_ELF_DWARF };

#define BB_ELF_MAX_FRAMES 32 /* functions inlined into each other at one address */

/* One function at an address. Strings belong to the bb_elf_symbols. */
struct bb_elf_frame {
	const char *function;
	const char *file; /* NULL: not known */
	uint32_t line;
	/* of the function, as the file numbers addresses; 0 for inlined ones */
	uint64_t start;
	uint64_t distance; /* of the address from there */
	bool is_inlined;
};

/*
 * Of the open file `fd` (a copy is made). NULL: not an ELF file that can be read, or no memory.
 * Files with debug information are asked for over `socket` (debug_files.h), and checked; -1: there
 * are none.
 */
struct bb_elf_symbols *bb_elf_symbols__open(int fd, enum bb_elf_depth depth, int socket);

/* The address (as bb_elf_symbols__find takes it) of the byte at `offset` of the file; false: it is
 * in no segment. */
bool bb_elf_symbols__address(const struct bb_elf_symbols *s, uint64_t offset,
			     uint64_t *ret_address);

/*
 * The functions at that address, outermost first: that of the symbol table or DWARF, then the
 * functions inlined into it. Their number, 0 when nothing is known.
 */
size_t bb_elf_symbols__find(struct bb_elf_symbols *s, uint64_t address,
			    struct bb_elf_frame ret_frames[BB_ELF_MAX_FRAMES]);

void bb_elf_symbols__free(struct bb_elf_symbols *s);

#endif
