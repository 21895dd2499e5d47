/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/jumps.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/insn.h"

#define NOWHERE SIZE_MAX

static int by_place(const void *a, const void *b)
{
	const struct bb_elf_symbol *x = *(const struct bb_elf_symbol *const *)a,
				   *y = *(const struct bb_elf_symbol *const *)b;

	if (x->section != y->section)
		return x->section < y->section ? -1 : 1;
	return x->value < y->value ? -1 : x->value > y->value;
}

/* The function or map that holds this byte of the section. */
static size_t find(const struct bb_jumps *j, uint32_t section, uint64_t at)
{
	const struct bb_elf_symbol here = {.section = section, .value = at}, *key = &here;
	size_t from = 0, to = j->n;

	while (from < to) { /* the first beyond it */
		size_t middle = from + (to - from) / 2;

		if (by_place(&j->symbols[middle], &key) > 0)
			to = middle;
		else
			from = middle + 1;
	}
	if (!from || j->symbols[from - 1]->section != section ||
	    at - j->symbols[from - 1]->value >= j->symbols[from - 1]->bytes)
		return NOWHERE;
	return from - 1;
}

static void reach(struct bb_jumps *j, size_t symbol)
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
		reach(j, find(j, j->maps, symbol->value + (uint32_t)s->insns[at].imm));
	} else if (symbol ? j->file.sections[symbol->section].insns != NULL
			  : bb_insn_is_function_call(&s->insns[at])) {
		bb_elf_file__callee(&j->file, section, at, &to_section, &to);
		reach(j, find(j, to_section, (uint64_t)to * sizeof(struct bpf_insn)));
	}
}

void bb_jumps__reach(struct bb_jumps *j, const char *name)
{
	for (size_t i = 0; i < j->n; i++)
		if (!strcmp(j->symbols[i]->name, name))
			reach(j, i);
	while (j->n_todo) {
		const struct bb_elf_symbol *s = j->symbols[j->todo[--j->n_todo]];
		const struct bb_elf_section *code = &j->file.sections[s->section];
		uint64_t first = s->value / sizeof(struct bpf_insn),
			 end = (s->value + s->bytes) / sizeof(struct bpf_insn);

		for (uint64_t i = first; s->section != j->maps && i < end && i < code->n; i++)
			if (!bb_insn_is_second_half(code->insns, (uint32_t)i))
				look_at_insn(j, s->section, (uint32_t)i);
		for (size_t i = 0; s->section == j->maps && i < j->file.n_slots; i++) {
			const struct bb_elf_slot *slot = &j->file.slots[i];
			const struct bb_elf_symbol *to = &j->file.symbols[slot->symbol];

			/* a map in a map is no jump */
			if (slot->at - s->value < s->bytes && to->type == STT_FUNC)
				reach(j, find(j, to->section, to->value));
		}
	}
}

void bb_jumps__restart(struct bb_jumps *j)
{
	memset(j->reached, 0, j->n);
	j->is_unknown = false;
}

const char *bb_jumps__next(const struct bb_jumps *j, size_t *i)
{
	while (*i < j->n && !j->reached[*i] && !j->is_unknown)
		++*i;
	return *i < j->n ? j->symbols[(*i)++]->name : NULL;
}

bool bb_jumps__any(const struct bb_jumps *j)
{
	for (size_t i = 0; i < j->file.n_slots; i++)
		if (j->file.symbols[j->file.slots[i].symbol].type == STT_FUNC)
			return true;
	return false;
}

bool bb_jumps__is_spare(const struct bb_jumps *j, const char *map)
{
	for (size_t i = 0; i < j->n; i++)
		if (j->symbols[i]->section == j->maps && !strcmp(j->symbols[i]->name, map))
			return !j->reached[i] && !j->is_unknown;
	return false;
}

int bb_jumps__open(const char *elf, size_t len, struct bb_jumps *ret_jumps)
{
	const struct bb_elf_section *maps;
	struct bb_jumps j = {0};

	if (bb_elf_file__open(elf, len, &j.file, NULL))
		return 0;
	maps = bb_elf_file__section(&j.file, ".maps");
	j.maps = maps ? (uint32_t)(maps - j.file.sections) : 0;
	j.symbols = calloc(j.file.n_symbols + 1, sizeof(*j.symbols));
	j.reached = calloc(j.file.n_symbols + 1, sizeof(*j.reached));
	j.todo = calloc(j.file.n_symbols + 1, sizeof(*j.todo));
	if (!j.symbols || !j.reached || !j.todo) {
		bb_jumps__close(&j);
		return -ENOMEM;
	}
	for (size_t i = 0; i < j.file.n_symbols; i++) {
		const struct bb_elf_symbol *s = &j.file.symbols[i];
		bool is_function = s->type == STT_FUNC && j.file.sections[s->section].insns;

		if (s->bytes && s->section && (s->section == j.maps || is_function))
			j.symbols[j.n++] = s;
	}
	qsort(j.symbols, j.n, sizeof(*j.symbols), by_place);
	*ret_jumps = j;
	return 0;
}

void bb_jumps__close(struct bb_jumps *j)
{
	free(j->symbols);
	free(j->reached);
	free(j->todo);
	bb_elf_file__close(&j->file);
	*j = (struct bb_jumps){0};
}
