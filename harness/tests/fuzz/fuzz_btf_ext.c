/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions and lines of a BPF object file (.BTF.ext), placed in its first program. The program
 * is taken from the same bytes, as if the kernel had them; the names are those that clang gives the
 * seeds' sections.
 */
#include "fuzz/fuzz.h"

#include <bpf/btf.h>
#include <elf.h>

#include "bpf/btf_ext.h"
#include "bpf/elf_file.h"

static struct btf *names(void)
{
	static struct btf *btf;

	if (!btf) {
		btf = btf__new_empty();
		for (int i = 0; i < 64; i++) /* any offset is a name */
			btf__add_str(btf, i % 2 ? "xdp" : "perf_event");
	}
	return btf;
}

/* The first function that is a program: its section has another name than .text. */
static const struct bb_elf_symbol *first_program(const struct bb_elf_file *f)
{
	for (size_t i = 0; i < f->n_symbols; i++) {
		const struct bb_elf_symbol *s = &f->symbols[i];

		if (s->type == STT_FUNC && s->section && f->sections[s->section].n &&
		    strcmp(f->sections[s->section].name, ".text"))
			return s;
	}
	return NULL;
}

static void place(const uint8_t *data, size_t size, const struct bb_elf_file *f,
		  const struct bb_elf_symbol *program)
{
	const struct bb_elf_section *s = &f->sections[program->section];
	struct bb_code code = {.n = s->n, .btf = names(), .btf_fd = -1};
	struct bb_err err = {0};

	code.insns = malloc(s->n * sizeof(*code.insns));
	if (!code.insns)
		abort();
	memcpy(code.insns, s->insns, s->n * sizeof(*code.insns));
	if (!bb_btf_ext__read((const char *)data, size, program->name, s->name, &code, &err)) {
		fuzz_touch(code.funcs, code.n_funcs * sizeof(*code.funcs));
		for (uint32_t i = 0; i < code.n_lines; i++)
			if (code.lines[i].insn_off >= code.n)
				abort();
	}
	bb_code__done(&code);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct bb_elf_symbol *program;
	struct bb_elf_file f;

	if (bb_elf_file__open((const char *)data, size, &f, NULL))
		return 0;
	program = first_program(&f);
	if (program)
		place(data, size, &f, program);
	bb_elf_file__close(&f);
	return 0;
}
