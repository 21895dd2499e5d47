/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * damage KIND SEED IN OUT: writes the ELF object IN (64 bit, this machine's byte order) to OUT with
 * damage of that kind at random places:
 *
 *   flip     1 to 64 bytes anywhere
 *   cut      the end of the file is missing
 *   header   1 to 4 bytes of the ELF header
 *   section  1 to 4 fields of section headers get another number
 *   strings  bytes of string tables: names with control characters, or without an end
 *   btf      bytes of .BTF and .BTF.ext
 *   code     bytes of executable sections: also instructions that no verifier accepts
 *   symbols  bytes of the symbol table
 *
 * The same seed makes the same file.
 */
#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BYTES (64 << 20)

static uint64_t state;

/* Returns a random number below n, n > 0: splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t draw(uint64_t n)
{
	uint64_t z = (state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return (z ^ (z >> 31)) % n;
}

struct file {
	uint8_t *bytes;
	size_t size;
};

static void damage_range(struct file *f, size_t from, size_t size)
{
	uint64_t n = 1 + draw(size < 64 ? size : 64);

	for (uint64_t i = 0; i < n; i++)
		f->bytes[from + draw(size)] = (uint8_t)draw(256);
}

static void flip(struct file *f)
{
	damage_range(f, 0, f->size);
}

static void cut(struct file *f)
{
	f->size = draw(f->size);
}

static void header(struct file *f)
{
	for (uint64_t n = 1 + draw(4); n; n--)
		f->bytes[draw(sizeof(Elf64_Ehdr))] = (uint8_t)draw(256);
}

/* The i-th section header. Needs a valid ELF file. */
static Elf64_Shdr *section_at(struct file *f, size_t i)
{
	const Elf64_Ehdr *elf = (const void *)f->bytes;

	return (Elf64_Shdr *)(f->bytes + elf->e_shoff) + i;
}

static void section(struct file *f)
{
	static const uint64_t numbers[] = {0,          1,          7,          64,        0xffff,
					   0x7fffffff, 0xffffffff, 1ULL << 40, UINT64_MAX};
	size_t sections = ((const Elf64_Ehdr *)f->bytes)->e_shnum;

	for (uint64_t n = 1 + draw(4); n; n--) {
		uint8_t *at = (uint8_t *)section_at(f, draw(sections));
		uint64_t value = numbers[draw(sizeof(numbers) / sizeof(numbers[0]))];

		switch (draw(8)) {
		case 0:
			memcpy(at + offsetof(Elf64_Shdr, sh_name), &value, sizeof(Elf64_Word));
			break;
		case 1: /* small numbers, because most of these are known types */
			value = draw(20);
			memcpy(at + offsetof(Elf64_Shdr, sh_type), &value, sizeof(Elf64_Word));
			break;
		case 2: memcpy(at + offsetof(Elf64_Shdr, sh_offset), &value, sizeof(value)); break;
		case 3: memcpy(at + offsetof(Elf64_Shdr, sh_size), &value, sizeof(value)); break;
		case 4:
			value = draw(sections + 1);
			memcpy(at + offsetof(Elf64_Shdr, sh_link), &value, sizeof(Elf64_Word));
			break;
		case 5:
			value = draw(sections + 1);
			memcpy(at + offsetof(Elf64_Shdr, sh_info), &value, sizeof(Elf64_Word));
			break;
		case 6: memcpy(at + offsetof(Elf64_Shdr, sh_entsize), &value, sizeof(value)); break;
		default: memcpy(at + offsetof(Elf64_Shdr, sh_flags), &value, sizeof(value));
		}
	}
}

static int is_strings(const struct file *f, const Elf64_Shdr *s, const char *name)
{
	(void)f, (void)name;
	return s->sh_type == SHT_STRTAB;
}

static int is_btf(const struct file *f, const Elf64_Shdr *s, const char *name)
{
	(void)f, (void)s;
	return !strncmp(name, ".BTF", 4);
}

static int is_code(const struct file *f, const Elf64_Shdr *s, const char *name)
{
	(void)f, (void)name;
	return s->sh_type == SHT_PROGBITS && s->sh_flags & SHF_EXECINSTR;
}

static int is_symbols(const struct file *f, const Elf64_Shdr *s, const char *name)
{
	(void)f, (void)name;
	return s->sh_type == SHT_SYMTAB;
}

/* Damages one of the sections for which is() is true, or the whole file if there is none. */
static void damage_section(struct file *f,
			   int (*is)(const struct file *, const Elf64_Shdr *, const char *))
{
	const Elf64_Ehdr *elf = (const void *)f->bytes;
	const Elf64_Shdr *names = section_at(f, elf->e_shstrndx), *found = NULL;
	uint64_t seen = 0;

	for (size_t i = 1; i < elf->e_shnum; i++) {
		const Elf64_Shdr *s = section_at(f, i);

		if (s->sh_size && is(f, s, (char *)f->bytes + names->sh_offset + s->sh_name) &&
		    !draw(++seen))
			found = s;
	}
	if (found)
		damage_range(f, found->sh_offset, found->sh_size);
	else
		flip(f);
}

static void strings(struct file *f)
{
	damage_section(f, is_strings);
}

static void btf(struct file *f)
{
	damage_section(f, is_btf);
}

static void code(struct file *f)
{
	damage_section(f, is_code);
}

static void symbols(struct file *f)
{
	damage_section(f, is_symbols);
}

static const struct {
	const char *name;
	void (*damage)(struct file *f);
} kinds[] = {
	{"flip", flip},       {"cut", cut}, {"header", header}, {"section", section},
	{"strings", strings}, {"btf", btf}, {"code", code},     {"symbols", symbols},
};

static int fail(const char *what)
{
	perror(what);
	return 1;
}

static int write_to(const char *path, const struct file *f)
{
	FILE *out = fopen(path, "wb");

	if (!out)
		return fail(path);
	if (fwrite(f->bytes, 1, f->size, out) != f->size || fclose(out))
		return fail(path);
	return 0;
}

int main(int argc, char **argv)
{
	struct file f = {0};
	FILE *in;
	int rc = 2;

	if (argc != 5) {
		fprintf(stderr, "Usage: damage KIND SEED IN OUT\n");
		return 2;
	}
	in = fopen(argv[3], "rb");
	if (!in)
		return fail(argv[3]);
	f.bytes = malloc(MAX_BYTES);
	if (!f.bytes)
		return fail("malloc");
	f.size = fread(f.bytes, 1, MAX_BYTES, in);
	fclose(in);
	if (f.size < sizeof(Elf64_Ehdr)) {
		fprintf(stderr, "damage: %s: not an ELF object\n", argv[3]);
		return 1;
	}
	state = strtoull(argv[2], NULL, 10);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].name, argv[1]))
			continue;
		kinds[i].damage(&f);
		rc = write_to(argv[4], &f);
	}
	free(f.bytes);
	return rc;
}
