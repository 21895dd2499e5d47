/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/elf_file.h"

#include <elf.h>

#include "base/insn.h"

static int say_broken(struct bb_err *err)
{
	int why = elf_errno();

	return bb_fail(err, -EINVAL, "the object file is broken: %s",
		       why ? elf_errmsg(why) : "a name in it has no end");
}

static int read_symbols(struct bb_elf_file *f, const struct bb_elf_part *part, struct bb_err *err)
{
	Elf_Data *data = elf_getdata(part->scn, NULL);
	size_t n = bb_elf_part__count(part);

	if (f->symbols || !data)
		return f->symbols ? 0 : say_broken(err);
	f->symbols = bb_calloc(n, sizeof(*f->symbols));
	for (size_t i = 0; i < n; i++) {
		struct bb_elf_symbol *s = &f->symbols[i];
		GElf_Sym sym;

		if (!gelf_getsym(data, (int)i, &sym))
			return say_broken(err);
		s->name = bb_elf__text(f->elf, part->head.sh_link, sym.st_name);
		if (!s->name)
			return say_broken(err);
		s->section = sym.st_shndx < f->n_sections ? sym.st_shndx : 0;
		s->value = sym.st_value;
		s->bytes = sym.st_size;
		s->type = GELF_ST_TYPE(sym.st_info);
		f->n_symbols++;
	}
	return 0;
}

static int read_relocations(struct bb_elf_file *f, const struct bb_elf_part *part,
			    struct bb_err *err)
{
	Elf_Data *data = elf_getdata(part->scn, NULL);
	size_t n = bb_elf_part__count(part);

	if (!data || part->head.sh_info >= f->n_sections)
		return say_broken(err);
	struct bb_elf_section *s = &f->sections[part->head.sh_info];
	bool is_maps = s->name && !strcmp(s->name, ".maps");
	if ((!s->insns && !is_maps) || s->symbol_of)
		return 0;
	s->symbol_of = bb_calloc(s->n, sizeof(*s->symbol_of));
	for (size_t i = 0; i < n; i++) {
		uint64_t at, symbol;
		GElf_Rel rel;

		if (!gelf_getrel(data, (int)i, &rel))
			return say_broken(err);
		at = rel.r_offset / sizeof(struct bpf_insn);
		symbol = GELF_R_SYM(rel.r_info);
		if (symbol >= f->n_symbols)
			continue;
		if (at < s->n)
			s->symbol_of[at] = (uint32_t)symbol + 1;
		else if (is_maps) {
			BB_PUSH(f->slots, f->n_slots,
				(struct bb_elf_slot){rel.r_offset, (uint32_t)symbol});
		}
	}
	return 0;
}

static int read_section(struct bb_elf_file *f, const struct bb_elf_part *part, struct bb_err *err)
{
	struct bb_elf_section *s = &f->sections[elf_ndxscn(part->scn)];
	Elf_Data *data;

	s->full_name = part->name;
	if (!s->full_name)
		return say_broken(err);
	s->name = s->full_name + (s->full_name[0] == '?');
	if (part->head.sh_type != SHT_PROGBITS)
		return 0;
	data = elf_getdata(part->scn, NULL);
	if (!data || !data->d_buf)
		return 0;
	s->data = data->d_buf;
	s->bytes = data->d_size;
	if (part->head.sh_flags & SHF_EXECINSTR) {
		if ((uintptr_t)data->d_buf % _Alignof(struct bpf_insn))
			return bb_fail(err, -EINVAL,
				       "the object file is broken: section %s is misaligned",
				       s->full_name);
		s->insns = data->d_buf;
		s->n = (uint32_t)(data->d_size / sizeof(struct bpf_insn));
	}
	return 0;
}

int bb_elf_file__open(const char *elf, size_t len, struct bb_elf_file *ret_file, struct bb_err *err)
{
	struct bb_elf_file f = {0};
	int rc = 0;

	f.elf = bb_elf__of_memory(elf, len);
	if (!f.elf || elf_getshdrnum(f.elf, &f.n_sections))
		rc = say_broken(err);
	else
		f.sections = bb_calloc(f.n_sections, sizeof(*f.sections));
	/* pass 2 needs the sections and symbols that passes 0 and 1 have read */
	for (int pass = 0; !rc && pass < 3; pass++)
		for (struct bb_elf_part p = {0}; !rc && bb_elf__next(f.elf, &p);)
			if (pass == 0)
				rc = read_section(&f, &p, err);
			else if (pass == 1 && p.head.sh_type == SHT_SYMTAB)
				rc = read_symbols(&f, &p, err);
			else if (pass == 2 && p.head.sh_type == SHT_REL)
				rc = read_relocations(&f, &p, err);
	if (rc)
		bb_elf_file__close(&f);
	else
		*ret_file = f;
	return rc;
}

void bb_elf_file__close(struct bb_elf_file *f)
{
	for (size_t i = 0; f->sections && i < f->n_sections; i++)
		free(f->sections[i].symbol_of);
	free(f->sections);
	free(f->symbols);
	free(f->slots);
	elf_end(f->elf);
	*f = (struct bb_elf_file){0};
}

const struct bb_elf_section *bb_elf_file__section(const struct bb_elf_file *f, const char *name)
{
	return BB_FIND(f->sections, f->n_sections, it->name && !strcmp(it->name, name));
}

void bb_elf_file__callee(const struct bb_elf_file *f, uint32_t section, uint32_t at,
			 uint32_t *ret_section, uint32_t *ret_offset)
{
	const struct bb_elf_section *s = &f->sections[section];
	uint32_t symbol = s->symbol_of ? s->symbol_of[at] : 0;
	int64_t imm = s->insns[at].imm, offset = at + 1 + imm;

	*ret_section = section;
	if (symbol) {
		const struct bb_elf_symbol *sym = &f->symbols[symbol - 1];

		*ret_section = sym->section;
		offset = bb_insn_is_call(&s->insns[at])
				 ? (int64_t)(sym->value / sizeof(struct bpf_insn)) + imm + 1
				 : ((int64_t)sym->value + imm) / (int64_t)sizeof(struct bpf_insn);
	}
	*ret_offset = offset < 0 || offset > UINT32_MAX ? UINT32_MAX : (uint32_t)offset;
}

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
	/* the cast removes `const`, which is safe because libelf only reads the memory */
	return only_elf(elf_memory((char *)(uintptr_t)elf, len));
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

#define NOWHERE SIZE_MAX

static int by_offset(const void *a, const void *b)
{
	const struct bb_elf_symbol *const *x = a, *const *y = b;

	return BB_ORDER((*x)->section, (*y)->section) ?: BB_ORDER((*x)->value, (*y)->value);
}

static size_t find_symbol(const struct bb_jumps *j, uint32_t section, uint64_t at)
{
	const struct bb_elf_symbol here = {.section = section, .value = at}, *key = &here;
	size_t n = BB_N_LEADING(j->symbols, j->n, by_offset(it, &key) <= 0);

	if (!n || j->symbols[n - 1]->section != section ||
	    at - j->symbols[n - 1]->value >= j->symbols[n - 1]->bytes)
		return NOWHERE;
	return n - 1;
}

static void mark_reached(struct bb_jumps *j, size_t symbol)
{
	if (symbol == NOWHERE)
		j->is_unknown = true;
	if (symbol == NOWHERE || j->reached[symbol])
		return;
	j->reached[symbol] = true;
	j->todo[j->n_todo++] = symbol;
}

static void look_at_insn(struct bb_jumps *j, uint32_t section, uint32_t at)
{
	const struct bb_elf_section *s = &j->file.sections[section];
	uint32_t of = s->symbol_of ? s->symbol_of[at] : 0, to_section, to;
	const struct bb_elf_symbol *symbol = of ? &j->file.symbols[of - 1] : NULL;

	if (symbol && symbol->section == j->maps && j->maps) {
		mark_reached(j,
			     find_symbol(j, j->maps, symbol->value + (uint32_t)s->insns[at].imm));
	} else if (symbol ? j->file.sections[symbol->section].insns != NULL
			  : bb_insn_is_function_call(&s->insns[at])) {
		bb_elf_file__callee(&j->file, section, at, &to_section, &to);
		mark_reached(j, find_symbol(j, to_section, (uint64_t)to * sizeof(struct bpf_insn)));
	}
}

void bb_jumps__reach(struct bb_jumps *j, const char *name)
{
	for (size_t i = 0; i < j->n; i++)
		if (!strcmp(j->symbols[i]->name, name))
			mark_reached(j, i);
	while (j->n_todo) {
		const struct bb_elf_symbol *s = j->symbols[j->todo[--j->n_todo]];
		const struct bb_elf_section *code = &j->file.sections[s->section];
		uint64_t first = s->value / sizeof(struct bpf_insn),
			 end = (s->value + s->bytes) / sizeof(struct bpf_insn);

		for (uint64_t i = first; s->section != j->maps && i < end && i < code->n;
		     i += bb_insn_slots(&code->insns[i]))
			look_at_insn(j, s->section, (uint32_t)i);
		for (size_t i = 0; s->section == j->maps && i < j->file.n_slots; i++) {
			const struct bb_elf_slot *slot = &j->file.slots[i];
			const struct bb_elf_symbol *to = &j->file.symbols[slot->symbol];

			/* a slot of a map of maps holds an inner map, to which no program jumps */
			if (slot->at - s->value < s->bytes && to->type == STT_FUNC)
				mark_reached(j, find_symbol(j, to->section, to->value));
		}
	}
}

void bb_jumps__restart(struct bb_jumps *j)
{
	if (j->n)
		memset(j->reached, 0, j->n);
	j->is_unknown = false;
}

const char *bb_jumps__next(const struct bb_jumps *j, size_t *i)
{
	while (*i < j->n && !j->reached[*i] && !j->is_unknown)
		++*i;
	return *i < j->n ? j->symbols[(*i)++]->name : NULL;
}

bool bb_jumps__is_spare(const struct bb_jumps *j, const char *map)
{
	const struct bb_elf_symbol **s =
		BB_FIND(j->symbols, j->n, (*it)->section == j->maps && !strcmp((*it)->name, map));

	return s && !j->reached[s - j->symbols] && !j->is_unknown;
}

void bb_jumps__open(const char *elf, size_t len, struct bb_jumps *ret_jumps)
{
	const struct bb_elf_section *maps;
	struct bb_jumps j = {0};

	if (bb_elf_file__open(elf, len, &j.file, NULL))
		return;
	maps = bb_elf_file__section(&j.file, ".maps");
	j.maps = maps ? (uint32_t)(maps - j.file.sections) : 0;
	j.symbols = bb_calloc(j.file.n_symbols, sizeof(*j.symbols));
	j.reached = bb_calloc(j.file.n_symbols, sizeof(*j.reached));
	j.todo = bb_calloc(j.file.n_symbols, sizeof(*j.todo));
	bool has_jumps = BB_ANY(j.file.slots, j.file.n_slots,
				j.file.symbols[it->symbol].type == STT_FUNC);
	for (size_t i = 0; has_jumps && i < j.file.n_symbols; i++) {
		const struct bb_elf_symbol *s = &j.file.symbols[i];
		bool is_function = s->type == STT_FUNC && j.file.sections[s->section].insns;

		if (s->bytes && s->section && (s->section == j.maps || is_function))
			j.symbols[j.n++] = s;
	}
	qsort(j.symbols, j.n, sizeof(*j.symbols), by_offset);
	*ret_jumps = j;
}

void bb_jumps__close(struct bb_jumps *j)
{
	free(j->symbols);
	free(j->reached);
	free(j->todo);
	bb_elf_file__close(&j->file);
	*j = (struct bb_jumps){0};
}
