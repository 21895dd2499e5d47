/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/code.h"

#include <bpf/btf.h>
#include <elf.h>

#include "bpf/elf_file.h"
#include "base/insn.h"

void bb_code__done(struct bb_code *c)
{
	free(c->insns);
	free(c->funcs);
	free(c->lines);
	*c = (struct bb_code){.btf_fd = -1};
}

int bb_code__check(const struct bb_code *c, struct bb_err *err)
{
	if (c->type == BPF_PROG_TYPE_EXT)
		return bb_fail(err, -ENOTSUP,
			       "'%s' replaces a function of another program; count that program "
			       "instead",
			       c->name);
	for (uint32_t i = 0; i < c->n; i += bb_insn_slots(&c->insns[i]))
		if (bb_insn_is_kfunc_call(&c->insns[i]) && c->insns[i].off)
			return bb_fail(err, -ENOTSUP,
				       "instruction %u of '%s' calls a function of a kernel "
				       "module; such programs cannot be loaded a second time",
				       i, c->name);
	return 0;
}

bool bb_code__calls(const struct bb_code *c, const int32_t *helpers, size_t n)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (bb_insn_is_helper_call(&c->insns[i]) &&
		    BB_ANY(helpers, n, *it == c->insns[i].imm))
			return true;
	return false;
}

bool bb_code__calls_kfuncs(const struct bb_code *c)
{
	return BB_ANY(c->insns, c->n, bb_insn_is_kfunc_call(it));
}

const char *bb_btf_name(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = btf && id ? btf__type_by_id(btf, id) : NULL;
	const char *name = t ? btf__name_by_offset(btf, t->name_off) : NULL;

	return name && *name ? name : NULL;
}

const char *bb_code__text(const struct bb_code *code, uint32_t offset)
{
	const char *text = btf__name_by_offset(code->btf, offset);

	return text ? text : "";
}

char *bb_line_source(const struct btf *btf, const struct bpf_line_info *line)
{
	const char *text = btf__name_by_offset(btf, line->line_off);
	const char *file = btf__name_by_offset(btf, line->file_name_off);

	return bb_asprintf("%s:%u %s", file ? basename(file) : "?", BB_SOURCE_LINE(line->line_col),
			   text ? text + strspn(text, " \t") : "");
}

const struct bpf_line_info *bb_code__line_at(const struct bb_code *code, uint32_t slot)
{
	size_t n = BB_N_LEADING(code->lines, code->n_lines, it->insn_off <= slot);

	return n ? &code->lines[n - 1] : NULL;
}

/* Header of .BTF.ext (Documentation/bpf/btf.rst). `funcs_at` and `lines_at` count from its end, in
 * bytes. */
struct ext_header {
	uint16_t magic;
	uint8_t version, flags;
	uint32_t bytes, funcs_at, funcs_bytes, lines_at, lines_bytes;
};

/* A table of .BTF.ext begins with the size of a record. Then it has, for each section, this header
 * and `n` records. `name` is an offset in the BTF's strings. */
struct ext_section {
	uint32_t name, n;
};

/* A function of n slots, at slot `at` of the loaded program. In the object file, it begins at slot
 * `offset` of the section with the index `section`. */
struct piece {
	uint32_t at, n;
	uint32_t section, offset;
};

struct walk {
	const struct bb_elf_file *file;
	struct bb_code *code;
	struct piece *pieces;
	size_t n_pieces;
	bool *has_piece; /* true for each slot of the loaded program where one of `pieces` begins */
};

static int add_piece(struct walk *w, uint32_t at, uint32_t section, uint32_t offset,
		     struct bb_err *err)
{
	const struct bb_elf_file *f = w->file;
	struct piece p = {.at = at, .section = section, .offset = offset};

	for (size_t i = 0; !p.n && i < f->n_symbols; i++)
		if (f->symbols[i].type == STT_FUNC && f->symbols[i].section == section &&
		    f->symbols[i].value == (uint64_t)offset * sizeof(struct bpf_insn))
			p.n = (uint32_t)(f->symbols[i].bytes / sizeof(struct bpf_insn));
	if (!p.n || !f->sections[section].insns ||
	    offset + (uint64_t)p.n > f->sections[section].n || at + (uint64_t)p.n > w->code->n)
		return bb_fail(err, -ENOTSUP,
			       "'%s': the function at instruction %u is not found in the object "
			       "file",
			       w->code->name, at);
	BB_PUSH(w->pieces, w->n_pieces, p);
	w->has_piece[at] = true;
	return 0;
}

static int by_slot(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	return BB_ORDER(x->at, y->at);
}

/* Adds the main function `name` of the program. `section` NULL means any section. */
static int add_first_piece(struct walk *w, const char *name, const char *section,
			   struct bb_err *err)
{
	const struct bb_elf_file *f = w->file;
	const struct bb_elf_symbol *s =
		BB_FIND(f->symbols, f->n_symbols,
			it->type == STT_FUNC && it->section && !strcmp(it->name, name) &&
				(!section || !strcmp(f->sections[it->section].name, section)));

	return s ? add_piece(w, 0, s->section, (uint32_t)(s->value / sizeof(struct bpf_insn)), err)
		 : 0;
}

static int find_pieces(struct walk *w, const char *program, const char *section, struct bb_err *err)
{
	uint64_t covered = 0;
	int rc = add_first_piece(w, program, section, err);

	/* this loop also visits the functions that it appends to w->pieces */
	for (size_t k = 0; !rc && k < w->n_pieces; k++) {
		struct piece p = w->pieces[k];

		covered += p.n;
		for (uint32_t i = 0; !rc && i < p.n; i++) {
			const struct bpf_insn *now = &w->code->insns[p.at + i];
			uint32_t to_section, offset;

			if (bb_insn_is_second_half(w->code->insns, p.at + i) ||
			    (!bb_insn_is_function_call(now) && !bb_insn_is_function_address(now)))
				continue;
			int64_t to = bb_insn_function_target(now, p.at + i);
			if (to < 0 || to >= w->code->n || w->has_piece[to])
				continue;
			bb_elf_file__callee(w->file, p.section, p.offset + i, &to_section, &offset);
			rc = add_piece(w, (uint32_t)to, to_section, offset, err);
		}
	}
	if (!rc && covered != w->code->n)
		rc = bb_fail(err, -ENOTSUP,
			     "'%s': of its %u instructions %llu are found in the object file",
			     w->code->name, w->code->n, (unsigned long long)covered);
	if (!rc)
		qsort(w->pieces, w->n_pieces, sizeof(*w->pieces), by_slot);
	return rc;
}

/* Reads a table of .BTF.ext in the order of the loaded program. Takes the first `size` bytes of
 * each record, because records of the file may be longer. */
static int read_table(const struct walk *w, const char *table, uint32_t bytes, size_t size,
		      void **ret_records, uint32_t *ret_n, struct bb_err *err)
{
	uint32_t record_bytes, room, n = 0;

	*ret_records = NULL;
	*ret_n = 0;
	if (bytes < sizeof(record_bytes))
		return 0;
	memcpy(&record_bytes, table, sizeof(record_bytes));
	if (record_bytes < size)
		return bb_fail(err, -EINVAL,
			       "the object file is broken: records of %u bytes in .BTF.ext",
			       record_bytes);
	room = bytes / record_bytes + 1;
	char *records = bb_calloc(room, size);
	for (size_t k = 0; k < w->n_pieces; k++) {
		const struct piece *p = &w->pieces[k];
		struct ext_section s;

		for (size_t at = sizeof(record_bytes); at + sizeof(s) <= bytes;
		     at += (size_t)s.n * record_bytes) {
			const char *name;

			memcpy(&s, table + at, sizeof(s));
			at += sizeof(s);
			if (s.n > (bytes - at) / record_bytes)
				break;
			name = btf__name_by_offset(w->code->btf, s.name);
			if (!name || strcmp(name, w->file->sections[p->section].full_name))
				continue;
			/* a record begins with its instruction's offset in the section, bytes */
			for (uint32_t i = 0; i < s.n && n < room; i++) {
				const char *record = table + at + (size_t)i * record_bytes;
				uint32_t insn;

				memcpy(&insn, record, sizeof(insn));
				insn = insn / sizeof(struct bpf_insn) - p->offset;
				if (insn >= p->n)
					continue;
				insn += p->at;
				memcpy(records + n * size, record, size);
				memcpy(records + n++ * size, &insn, sizeof(insn));
			}
		}
	}
	/* n reaches `room` only if some records were copied for two functions */
	if (n == room) {
		free(records);
		return bb_fail(err, -EINVAL,
			       "the object file is broken: two functions are at one offset");
	}
	*ret_records = records;
	*ret_n = n;
	return 0;
}

static int read_tables(const struct walk *w, const struct bb_elf_section *ext, struct bb_err *err)
{
	struct ext_header h;
	void *funcs, *lines;

	if (ext->bytes < sizeof(h))
		return bb_fail(err, -EINVAL, "the object file is broken: .BTF.ext has %zu bytes",
			       ext->bytes);
	memcpy(&h, ext->data, sizeof(h));
	size_t room = ext->bytes - h.bytes;
	if (h.bytes > ext->bytes || h.funcs_at > room || h.funcs_bytes > room - h.funcs_at ||
	    h.lines_at > room || h.lines_bytes > room - h.lines_at)
		return bb_fail(err, -EINVAL,
			       "the object file is broken: .BTF.ext says it is longer than it is");
	int rc = read_table(w, ext->data + h.bytes + h.funcs_at, h.funcs_bytes,
			    sizeof(*w->code->funcs), &funcs, &w->code->n_funcs, err);
	w->code->funcs = funcs;
	if (!rc) {
		rc = read_table(w, ext->data + h.bytes + h.lines_at, h.lines_bytes,
				sizeof(*w->code->lines), &lines, &w->code->n_lines, err);
		w->code->lines = lines;
	}
	return rc;
}

int bb_btf_ext__read(const char *elf, size_t len, const char *program, const char *section,
		     struct bb_code *code, struct bb_err *err)
{
	struct bb_elf_file file;
	struct walk w = {.file = &file, .code = code};
	const struct bb_elf_section *ext, *licence;
	int rc = bb_elf_file__open(elf, len, &file, err);

	if (rc)
		return rc;
	licence = bb_elf_file__section(&file, "license");
	snprintf(code->license, sizeof(code->license), "%.*s", licence ? (int)licence->bytes : 0,
		 licence ? licence->data : "");
	ext = bb_elf_file__section(&file, ".BTF.ext");
	if (ext && code->btf) {
		w.has_piece = bb_calloc(code->n, sizeof(*w.has_piece));
		rc = find_pieces(&w, program, section, err);
		if (!rc)
			rc = read_tables(&w, ext, err);
	}
	free(w.has_piece);
	free(w.pieces);
	bb_elf_file__close(&file);
	return rc;
}

void bb_btf_ext__source_line(const char *elf, size_t len, const struct btf *btf,
			     const char *function, uint32_t insn, char *ret_line, size_t size)
{
	struct bb_code code = {.btf = btf, .n = UINT32_MAX};
	const struct bpf_line_info *line = NULL;
	const struct bb_elf_section *ext;
	struct bb_elf_file file;
	bool has_piece = false;
	struct walk w = {.file = &file, .code = &code, .has_piece = &has_piece};

	*ret_line = '\0';
	if (bb_elf_file__open(elf, len, &file, NULL))
		return;
	ext = bb_elf_file__section(&file, ".BTF.ext");
	if (ext && btf)
		add_first_piece(&w, function, NULL, NULL);
	if (w.n_pieces && insn < w.pieces[0].n && !read_tables(&w, ext, NULL))
		line = bb_code__line_at(&code, insn);
	if (line)
		snprintf(ret_line, size, "%s:%u",
			 basename(bb_code__text(&code, line->file_name_off)),
			 BB_SOURCE_LINE(line->line_col));
	bb_code__done(&code);
	free(w.pieces);
	bb_elf_file__close(&file);
}
