/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BPF_ELF_FILE_H
#define BB_BPF_ELF_FILE_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* A BPF object file as the compiler left it: its functions, and the symbols that their calls refer
 * to. */

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

#endif
