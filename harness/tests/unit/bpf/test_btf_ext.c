/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The readers of object files get damaged objects: every few bytes changed, or cut off anywhere.
 * They must succeed or report an error, and all that they return stays within the program.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <bpf/btf.h>
#include <elf.h>
#include <errno.h>
#include <unistd.h>

#include "base/io.h"
#include "base/rng.h"
#include "bpf/code.h"
#include "bpf/elf_file.h"
#include "base/insn.h"
#include "exact/source.h"
#include "unit/bpf_testing.h"

#define TRUTH "tests/bpf/exact_truth.bpf.o"
#define MOST_INSNS 4096u
#define SECONDS 300u /* a test that takes longer is in an endless loop */

/* The program that is looked for, linked as the kernel would get it. */
struct prog {
	char *elf;
	size_t len;
	const char *program, *section;
	struct btf *btf;
	struct bpf_insn *insns;
	uint32_t n;
};

/* Finds a function by name. If `name` is NULL, finds the function that begins at instruction
 * `first` of `section`. */
static const struct bb_elf_symbol *find_function(const struct bb_elf_file *f, const char *name,
						 uint32_t section, uint32_t first)
{
	for (size_t i = 0; i < f->n_symbols; i++) {
		const struct bb_elf_symbol *s = &f->symbols[i];

		if (s->type == STT_FUNC && s->section &&
		    (name ? !strcmp(s->name, name)
			  : s->section == section && s->value == first * sizeof(struct bpf_insn)))
			return s;
	}
	fail_msg("no function %s at %u", name ? name : "", first);
	return NULL;
}

static uint32_t append(struct prog *s, const struct bb_elf_file *f,
		       const struct bb_elf_symbol *function)
{
	uint32_t at = s->n;

	assert_true(at + function->bytes / sizeof(*s->insns) <= MOST_INSNS);
	memcpy(s->insns + at, (const char *)f->sections[function->section].insns + function->value,
	       function->bytes);
	s->n += (uint32_t)(function->bytes / sizeof(*s->insns));
	return at;
}

/* Links as libbpf does: the called functions follow the program in the order of the calls. One
 * level of calls is enough here. */
static void link_program(struct prog *s)
{
	const struct bb_elf_symbol *program, *known[8];
	struct bb_elf_file f;
	struct bb_err err = {0};
	uint32_t n, at[8], n_known = 0;

	assert_int_equal(bb_elf_file__open(s->elf, s->len, &f, &err), 0);
	s->insns = calloc(MOST_INSNS, sizeof(*s->insns));
	assert_non_null(s->insns);
	program = find_function(&f, s->program, 0, 0);
	append(s, &f, program);
	n = s->n;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t in_file = (uint32_t)(program->value / sizeof(struct bpf_insn)) + i, k = 0;
		const uint32_t *symbols = f.sections[program->section].symbol_of;
		const struct bb_elf_symbol *symbol, *called;

		if (!bb_insn_is_function_call(&s->insns[i]) || !symbols || !symbols[in_file])
			continue;
		symbol = &f.symbols[symbols[in_file] - 1];
		called = find_function(&f, NULL, symbol->section,
				       (uint32_t)((int64_t)(symbol->value /
							    sizeof(struct bpf_insn)) +
						  s->insns[i].imm + 1));
		while (k < n_known && known[k] != called)
			k++;
		if (k == n_known) {
			assert_true(n_known < 8);
			known[n_known] = called;
			at[n_known++] = append(s, &f, called);
		}
		s->insns[i].imm = (int32_t)(at[k] - i - 1);
	}
	bb_elf_file__close(&f);
}

static struct prog open_prog(const char *object, const char *program, const char *section)
{
	struct prog s = {.program = program, .section = section};
	struct bb_err err = {0};
	char path[4096];

	if (bb_read_file(built(object, path, sizeof(path)), 1U << 24, &s.elf, &s.len, &err))
		fail_msg("%s", err.msg);
	s.btf = btf__parse(path, NULL);
	assert_non_null(s.btf);
	link_program(&s);
	return s;
}

static void done(struct prog *s)
{
	btf__free(s->btf);
	free(s->insns);
	free(s->elf);
}

/* Reads `elf`. If that succeeds, every function and line must be within the program, and the text
 * of every line must be readable. */
static int read_changed(const struct prog *s, const char *elf, size_t len)
{
	struct bb_code code = {.name = "fuzzed", .n = s->n, .btf = s->btf, .btf_fd = -1};
	struct bb_err err = {0};
	int rc;

	code.insns = malloc(s->n * sizeof(*code.insns));
	assert_non_null(code.insns);
	memcpy(code.insns, s->insns, s->n * sizeof(*code.insns));
	rc = bb_btf_ext__read(elf, len, s->program, s->section, &code, &err);
	if (rc) {
		assert_true(rc == -EINVAL || rc == -ENOTSUP);
		assert_true(err.msg[0]);
	} else {
		for (uint32_t i = 0; i < code.n_funcs; i++)
			assert_true(code.funcs[i].insn_off < code.n);
		for (uint32_t i = 0; i < code.n_lines; i++) {
			assert_true(code.lines[i].insn_off < code.n);
			bb_code__text(&code, code.lines[i].file_name_off);
		}
	}
	bb_code__done(&code);
	return rc;
}

/* One function with many lines, and one that calls another. */
static const struct {
	const char *object, *program, *section;
} progs[] = {{"bpf/fun_xdp.bpf.o", "v3", "xdp"}, {TRUTH, "static_calls", "xdp"}};

/* The undamaged objects can be read. Otherwise the tests below would test nothing. */
static void test_as_built(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(progs) / sizeof(progs[0]); i++) {
		struct prog s = open_prog(progs[i].object, progs[i].program, progs[i].section);
		struct bb_code code = {.name = "whole",
				       .n = s.n,
				       .insns = s.insns,
				       .btf = s.btf,
				       .btf_fd = -1};
		struct bb_err err = {0};

		if (bb_btf_ext__read(s.elf, s.len, s.program, s.section, &code, &err))
			fail_msg("%s: %s", s.program, err.msg);
		assert_int_equal(code.n_funcs, 1 + i);
		assert_true(code.n_lines >= code.n_funcs);
		free(code.funcs);
		free(code.lines);
		done(&s);
	}
}

/* Changes one byte at a time, in bytes [from, to), every `stride` bytes. Adds the number of refused
 * objects to `refused`. */
static void change_bytes(const struct prog *s, size_t from, size_t to, size_t stride,
			 unsigned int *refused)
{
	static const uint8_t changes[] = {0x01, 0x08, 0x80, 0xff};
	char *copy = malloc(s->len);

	assert_non_null(copy);
	for (size_t at = from; at < to && at < s->len; at += stride)
		for (size_t k = 0; k < sizeof(changes); k++) {
			memcpy(copy, s->elf, s->len);
			copy[at] = (char)(copy[at] ^ changes[k]);
			*refused += read_changed(s, copy, s->len) != 0;
		}
	free(copy);
}

static void test_changed(void **state)
{
	(void)state;
	alarm(SECONDS);
	for (size_t i = 0; i < sizeof(progs) / sizeof(progs[0]); i++) {
		struct prog s = open_prog(progs[i].object, progs[i].program, progs[i].section);
		const struct bb_elf_section *ext;
		struct bb_elf_file f;
		struct bb_err err = {0};
		unsigned int refused = 0;
		size_t at;

		assert_int_equal(bb_elf_file__open(s.elf, s.len, &f, &err), 0);
		ext = bb_elf_file__section(&f, ".BTF.ext");
		assert_non_null(ext);
		at = (size_t)(ext->data - s.elf);
		assert_true(at < s.len);
		change_bytes(&s, at, at + (ext->bytes < 600 ? ext->bytes : 600), 1, &refused);
		change_bytes(&s, 0, sizeof(Elf64_Ehdr), 1, &refused);
		/* The section headers, symbols and names are in the last bytes. */
		change_bytes(&s, s.len - (s.len < 8192 ? s.len : 8192), s.len, 1, &refused);
		change_bytes(&s, sizeof(Elf64_Ehdr), s.len, 7, &refused);
		assert_true(refused > 20);
		bb_elf_file__close(&f);
		done(&s);
	}
	alarm(0);
}

static void test_cut_off(void **state)
{
	(void)state;
	alarm(SECONDS);
	for (size_t i = 0; i < sizeof(progs) / sizeof(progs[0]); i++) {
		struct prog s = open_prog(progs[i].object, progs[i].program, progs[i].section);

		for (size_t len = 0; len < s.len; len += len < 200 ? 1 : 37) {
			/* Exactly `len` bytes, so that a sanitizer sees a read beyond them. */
			char *copy = malloc(len ? len : 1);

			assert_non_null(copy);
			memcpy(copy, s.elf, len);
			read_changed(&s, copy, len);
			free(copy);
		}
		done(&s);
	}
	alarm(0);
}

/* Random damage of up to 8 bytes, the same in every run of the test. */
static void test_random(void **state)
{
	struct prog s = open_prog(TRUTH, "static_calls", "xdp");
	char *copy = malloc(s.len);
	struct bb_rng rng;

	(void)state;
	assert_non_null(copy);
	bb_rng_seed(&rng, 1);
	alarm(SECONDS);
	for (int round = 0; round < 3000; round++) {
		memcpy(copy, s.elf, s.len);
		for (uint64_t k = 1 + bb_rng_below(&rng, 8); k; k--)
			copy[bb_rng_below(&rng, s.len)] = (char)bb_rng_below(&rng, 256);
		read_changed(&s, copy, s.len);
	}
	alarm(0);
	free(copy);
	done(&s);
}

/* A program that calls itself, linked as if each call were of another function. It has more lines
 * than the file. */
static void test_one_place_for_many(void **state)
{
	enum { COPIES = 16 };
	static const struct bpf_insn call = {.code = BPF_JMP | BPF_CALL,
					     .src_reg = BPF_PSEUDO_CALL,
					     .imm = -1};
	struct prog s = open_prog(progs[0].object, progs[0].program, progs[0].section);
	const struct bb_elf_symbol *program;
	const struct bb_elf_section *section;
	struct bb_elf_file f;
	struct bb_err err = {0};
	uint32_t n = s.n;

	(void)state;
	assert_true(COPIES * n <= MOST_INSNS);
	assert_int_equal(bb_elf_file__open(s.elf, s.len, &f, &err), 0);
	program = find_function(&f, s.program, 0, 0);
	section = &f.sections[program->section];
	memcpy(s.elf + (section->data - s.elf) + program->value, &call, sizeof(call));
	for (uint32_t k = 0; k < COPIES; k++) {
		memmove(s.insns + k * n, s.insns, n * sizeof(*s.insns));
		s.insns[k * n] = call;
		s.insns[k * n].imm += k + 1 < COPIES ? (int32_t)n : 0;
	}
	bb_elf_file__close(&f);
	s.n = COPIES * n;
	assert_int_equal(read_changed(&s, s.elf, s.len), -EINVAL);
	done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_built),
		cmocka_unit_test(test_changed),
		cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_one_place_for_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
