/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the functions and lines of a BPF object file (.BTF.ext) and maps them to its first program.
 * The program's final code and the names come from the same bytes.
 */
#include "fuzz/fuzz.h"

#include <bpf/btf.h>
#include <elf.h>

#include "bpf/code.h"
#include "bpf/elf_file.h"

/* Returns a BTF with the file's names and without types, because this target does not test libbpf
 * (bpfbench lets libbpf read whole BTF in a child process first). NULL: the file has no BTF. */
static struct btf *names_of(const struct bb_elf_file *f)
{
	const struct bb_elf_section *s = bb_elf_file__section(f, ".BTF");
	struct btf_header from, *to;
	struct btf *btf = NULL;
	char *data;

	if (!s || s->bytes < sizeof(from))
		return NULL;
	memcpy(&from, s->data, sizeof(from));
	if (from.hdr_len > s->bytes || from.str_off > s->bytes - from.hdr_len ||
	    from.str_len > s->bytes - from.hdr_len - from.str_off)
		return NULL;
	data = calloc(1, sizeof(*to) + from.str_len);
	if (!data)
		abort();
	to = (struct btf_header *)(void *)data;
	*to = (struct btf_header){
		.magic = BTF_MAGIC,
		.version = BTF_VERSION,
		.hdr_len = sizeof(*to),
		.str_len = from.str_len,
	};
	memcpy(to + 1, s->data + from.hdr_len + from.str_off, from.str_len);
	btf = btf__new(data, (__u32)(sizeof(*to) + from.str_len));
	free(data);
	return btf;
}

/* Returns the first function that is a program: its section is not .text. */
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

/* Takes the program's code and appends .text, as libbpf does if the program calls a function in it.
 */
static void take_code(const struct bb_elf_file *f, const struct bb_elf_symbol *program,
		      struct bb_code *code)
{
	const struct bb_elf_section *s = &f->sections[program->section],
				    *text = bb_elf_file__section(f, ".text");
	uint64_t at = program->value / sizeof(*code->insns),
		 n = program->bytes / sizeof(*code->insns);
	uint32_t n_text = text ? text->n : 0;

	if (at > s->n || n > s->n - at)
		return;
	code->insns = calloc(n + n_text + 1, sizeof(*code->insns));
	if (!code->insns)
		abort();
	memcpy(code->insns, s->insns + at, n * sizeof(*code->insns));
	code->n = (uint32_t)n;
	for (uint64_t i = 0; i < n && n_text; i++) {
		struct bpf_insn *insn = &code->insns[i];

		if (insn->code != (BPF_JMP | BPF_CALL) || insn->src_reg != BPF_PSEUDO_CALL)
			continue;
		memcpy(code->insns + n, text->insns, n_text * sizeof(*code->insns));
		insn->imm = (__s32)(n - i - 1);
		code->n += n_text;
		break;
	}
}

static void place(const uint8_t *data, size_t size, const struct bb_elf_file *f,
		  const struct bb_elf_symbol *program, const struct btf *btf)
{
	struct bb_code code = {.btf = btf, .btf_fd = -1};
	struct bb_err err = {0};

	take_code(f, program, &code);
	if (code.n && !bb_btf_ext__read((const char *)data, size, program->name,
					f->sections[program->section].name, &code, &err)) {
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
	struct btf *btf;

	if (bb_elf_file__open((const char *)data, size, &f, NULL))
		return 0;
	program = first_program(&f);
	btf = names_of(&f);
	if (program && btf)
		place(data, size, &f, program, btf);
	btf__free(btf);
	bb_elf_file__close(&f);
	return 0;
}
