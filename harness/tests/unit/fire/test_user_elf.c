/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs and libraries made to crash their reader, or to keep it busy for hours. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/deadline.h"
#include "fire/user_function.h"

#define SYMBOLS 200000u
#define SEGMENTS 60000u
#define TEXT_BYTES ((size_t)64 << 20)

/* Makes an ELF file with three sections: none, symbols, texts. All functions share one name of
 * TEXT_BYTES, and none is in a segment. Returns its path. */
static const char *hostile_file(char last)
{
	static char path[64];
	const size_t symbols_at = sizeof(Elf64_Ehdr) + SEGMENTS * sizeof(Elf64_Phdr),
		     text_at = symbols_at + SYMBOLS * sizeof(Elf64_Sym),
		     sections_at = text_at + TEXT_BYTES,
		     size = sections_at + 3 * sizeof(Elf64_Shdr);
	int fd = memfd_create("hostile", 0);
	Elf64_Shdr *sections;
	Elf64_Phdr *segments;
	Elf64_Sym *symbols;
	char *file;

	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	file = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(file, MAP_FAILED);
	*(Elf64_Ehdr *)file = (Elf64_Ehdr){
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB,
			    EV_CURRENT},
		.e_type = ET_DYN,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phoff = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = SEGMENTS,
		.e_shoff = sections_at,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 3,
		.e_shstrndx = 2,
	};
	segments = (Elf64_Phdr *)(file + sizeof(Elf64_Ehdr));
	for (size_t i = 0; i < SEGMENTS; i++)
		segments[i].p_type = PT_LOAD;
	symbols = (Elf64_Sym *)(file + symbols_at);
	for (size_t i = 1; i < SYMBOLS; i++)
		symbols[i] = (Elf64_Sym){.st_name = 1,
					 .st_value = 4096,
					 .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)};
	memset(file + text_at, 'a', TEXT_BYTES - 1);
	file[sections_at - 1] = last;
	sections = (Elf64_Shdr *)(file + sections_at);
	sections[1] = (Elf64_Shdr){.sh_name = 1,
				   .sh_type = SHT_SYMTAB,
				   .sh_offset = symbols_at,
				   .sh_size = text_at - symbols_at,
				   .sh_link = 2,
				   .sh_entsize = sizeof(Elf64_Sym)};
	sections[2] = (Elf64_Shdr){.sh_name = 1,
				   .sh_type = SHT_STRTAB,
				   .sh_offset = text_at,
				   .sh_size = TEXT_BYTES};
	munmap(file, size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return path;
}

/* Searching for the end of each name anew would take hours. */
static void test_names_without_an_end(void **state)
{
	struct bb_user_target q = {.function = "work"};
	struct bb_user_addresses *addresses = NULL;
	struct bb_err err = {0};

	(void)state;
	strcpy(q.path, hostile_file('a'));
	assert_int_equal(bb_user_elf__find(&q, &addresses, &err), -ESRCH);
	assert_non_null(strstr(err.msg, "has no function 'work'"));
}

/* If reading a file takes hours anyway, the budget ends it. */
static void test_budget(void **state)
{
	struct bb_user_target q = {.function = "a*"};
	struct bb_user_addresses *addresses = NULL;
	struct bb_deadline budget;
	struct bb_err err = {0};

	(void)state;
	strcpy(q.path, hostile_file('\0'));
	bb_deadline__begin(&budget, 0.05);
	assert_int_equal(bb_user_elf__find(&q, &addresses, &err), -ETIME);
	bb_deadline__end(&budget);
	assert_non_null(strstr(err.msg, "the budget was over before libelf could read it"));
}

/* Opening a FIFO does not wait for a writer. */
static void test_regular_files_only(void **state)
{
	char dir[] = "/tmp/bb-user-elf-XXXXXX";
	struct bb_user_target q = {.function = "work"};
	struct bb_user_addresses *addresses = NULL;
	struct bb_err err = {0};

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(q.path, sizeof(q.path), "%s/fifo", dir);
	assert_int_equal(mkfifo(q.path, 0600), 0);
	assert_int_equal(bb_user_elf__find(&q, &addresses, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "not a regular file"));
	unlink(q.path);
	rmdir(dir);
}

/* A hostile file may take over the child that reads it, so the child's reply is checked. */
static void test_reply(void **state)
{
	struct bb_user_prototype prototype = {.n = 1, .parameters = {BB_VALUE_FLOAT}};
	struct bb_user_addresses *p = calloc(1, sizeof(*p));

	(void)state;
	assert_int_equal(bb_user_prototype__check(&prototype), 0);
	prototype.parameters[0] = BB_N_USER_VALUES;
	assert_int_equal(bb_user_prototype__check(&prototype), -EBADMSG);
	prototype.n = BB_MOST_PARAMETERS + 1;
	assert_int_equal(bb_user_prototype__check(&prototype), -EBADMSG);
	assert_non_null(p);
	assert_int_equal(bb_user_addresses__check(p), -EBADMSG);
	p->n = 2;
	p->cookies[1] = 1;
	assert_int_equal(bb_user_addresses__check(p), 0);
	p->cookies[1] = 2;
	assert_int_equal(bb_user_addresses__check(p), -EBADMSG);
	p->n = BB_MOST_ADDRESSES + 1;
	assert_int_equal(bb_user_addresses__check(p), -EBADMSG);
	free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_without_an_end),
		cmocka_unit_test(test_budget),
		cmocka_unit_test(test_regular_files_only),
		cmocka_unit_test(test_reply),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
