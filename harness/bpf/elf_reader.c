/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/elf_reader.h"

#include <string.h>

static Elf *only_elf(Elf *elf)
{
	if (elf_kind(elf) == ELF_K_ELF)
		return elf;
	elf_end(elf);
	return NULL;
}

Elf *bb_elf__of_memory(const char *elf, size_t len)
{
	elf_version(EV_CURRENT);
	return only_elf(elf_memory((char *)(uintptr_t)elf, len)); /* only read */
}

Elf *bb_elf__of_file(int fd)
{
	elf_version(EV_CURRENT);
	return only_elf(elf_begin(fd, ELF_C_READ_MMAP, NULL));
}

const char *bb_elf__text(Elf *elf, size_t table, uint64_t offset)
{
	const Elf_Data *data = elf_rawdata(elf_getscn(elf, table), NULL);
	const char *text = data ? data->d_buf : NULL;

	return text && offset < data->d_size && !text[data->d_size - 1] ? text + offset : NULL;
}

bool bb_elf__next(Elf *elf, struct bb_elf_part *part)
{
	size_t names;

	part->scn = elf_nextscn(elf, part->scn);
	if (!part->scn)
		return false;
	part->name = NULL;
	if (!gelf_getshdr(part->scn, &part->head))
		part->head = (GElf_Shdr){0};
	else if (!elf_getshdrstrndx(elf, &names))
		part->name = bb_elf__text(elf, names, part->head.sh_name);
	return true;
}

bool bb_elf__find(Elf *elf, const char *name, struct bb_elf_part *ret_part)
{
	*ret_part = (struct bb_elf_part){0};
	while (bb_elf__next(elf, ret_part))
		if (ret_part->name && !strcmp(ret_part->name, name))
			return true;
	return false;
}

size_t bb_elf_part__count(const struct bb_elf_part *part)
{
	return part->head.sh_entsize ? part->head.sh_size / part->head.sh_entsize : 0;
}

bool bb_elf__offset(Elf *elf, uint64_t address, uint64_t *ret_offset)
{
	size_t n;

	if (elf_getphdrnum(elf, &n))
		return false;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(elf, (int)i, &ph) || ph.p_type != PT_LOAD ||
		    address < ph.p_vaddr || address - ph.p_vaddr >= ph.p_filesz)
			continue;
		*ret_offset = address - ph.p_vaddr + ph.p_offset;
		return true;
	}
	return false;
}
