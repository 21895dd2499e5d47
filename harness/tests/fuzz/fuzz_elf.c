/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a BPF object file, as the code that counts instructions does. */
#include "fuzz/fuzz.h"

#include "bpf/elf_file.h"

#define MOST_REACHED 16

static void use_section(const struct bb_elf_file *f, const struct bb_elf_section *s)
{
	fuzz_touch(s->name, strlen(s->name) + 1);
	fuzz_touch(s->full_name, strlen(s->full_name) + 1);
	fuzz_touch(s->data, s->bytes);
	fuzz_touch(s->insns, s->n * sizeof(*s->insns));
	for (uint32_t i = 0; s->symbol_of && i < s->n; i++)
		if (s->symbol_of[i] > f->n_symbols)
			abort();
}

static void follow_jumps(const char *data, size_t size, const struct bb_elf_file *f)
{
	struct bb_jumps j = {0};
	const char *name;

	bb_jumps__open(data, size, &j);
	for (size_t i = 0; j.n && i < f->n_symbols && i < MOST_REACHED; i++) {
		bb_jumps__restart(&j);
		bb_jumps__reach(&j, f->symbols[i].name);
		for (size_t k = 0; (name = bb_jumps__next(&j, &k));)
			fuzz_touch(name, strlen(name) + 1);
	}
	bb_jumps__close(&j);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bb_elf_file f;
	struct bb_err err = {0};

	if (bb_elf_file__open((const char *)data, size, &f, &err))
		return 0;
	for (size_t i = 1; i < f.n_sections; i++)
		use_section(&f, &f.sections[i]);
	for (size_t i = 0; i < f.n_symbols; i++) {
		fuzz_touch(f.symbols[i].name, strlen(f.symbols[i].name) + 1);
		if (f.symbols[i].section >= f.n_sections)
			abort();
	}
	follow_jumps((const char *)data, size, &f);
	bb_elf_file__close(&f);
	return 0;
}
