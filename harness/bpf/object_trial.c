/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/object_trial.h"

#include <bpf/libbpf.h>

#include "base/child.h"
#include "bpf/elf_file.h"

/* most programs of an object: libbpf's time grows with their square, and 20 000 take 40 s */
#define MOST_PROGRAMS 4096u

/* The child loads `obj` if it is set, else it opens the file in elf[len]. */
struct trial {
	const char *path, *elf;
	size_t len;
	struct bpf_object *obj;
};

/* Counts global functions outside of .text, because libbpf makes a program of each. */
static size_t count_programs(const char *elf, size_t len)
{
	Elf *e = bb_elf__of_memory(elf, len);
	struct bb_elf_part text, part = {0};
	size_t n = 0, of_text = e && bb_elf__find(e, ".text", &text) ? elf_ndxscn(text.scn) : 0;

	while (e && bb_elf__next(e, &part)) {
		Elf_Data *symbols = part.head.sh_type == SHT_SYMTAB ? elf_getdata(part.scn, NULL)
								    : NULL;
		GElf_Sym sym;

		for (int i = 0; symbols && gelf_getsym(symbols, i, &sym); i++)
			n += GELF_ST_TYPE(sym.st_info) == STT_FUNC &&
			     GELF_ST_BIND(sym.st_info) == STB_GLOBAL && sym.st_shndx != SHN_UNDEF &&
			     sym.st_shndx != of_text;
	}
	elf_end(e);
	return n;
}

/* Only a crash matters here, because libbpf reports errors again in the parent. */
static int try_object(void *arg, void *reply, struct bb_err *err)
{
	const struct trial *t = arg;
	size_t n = t->obj ? 0 : count_programs(t->elf, t->len);
	struct bpf_object *obj;
	struct bpf_program *p;
	struct bpf_map *map;

	if (n > MOST_PROGRAMS)
		return bb_fail(err, -E2BIG,
			       "%s: %zu programs are too many for one object, which holds %u at "
			       "the most; split it into several",
			       t->path, n, MOST_PROGRAMS);
	libbpf_set_print(NULL);
	if (t->obj) {
		bpf_object__close(bpf_object__load(t->obj) ? NULL : t->obj);
		return 0;
	}
	/* read all names, because a bad one would crash the parent when it reads them */
	obj = bpf_object__open_mem(t->elf, t->len, NULL);
	n = 0;
	if (obj) {
		bpf_object__for_each_program(p, obj)
			n += strlen(bpf_program__name(p)) + strlen(bpf_program__section_name(p));
		bpf_object__for_each_map(map, obj) n += strlen(bpf_map__name(map));
	}
	bpf_object__close(obj);
	*(size_t *)reply = n;
	return 0;
}

static int run_trial(const char *path, struct trial *t, struct bb_err *err)
{
	const struct bb_confined c = {
		.path = path,
		.kind = "BPF object",
		.library = "libbpf",
		.verb = t->obj ? "load" : "open",
		.remedy = "; build it with clang -target bpf -g -O2 -c",
		.work = try_object,
		.arg = t,
		.fd = -1,
		.is_trial = t->obj,
		.reply_bytes = sizeof(size_t),
	};

	return bb_confined__run(&c, err);
}

int bb_object_trial_open(const char *path, const char *elf, size_t len, struct bb_err *err)
{
	return run_trial(path, &(struct trial){.path = path, .elf = elf, .len = len}, err);
}

int bb_object_trial_load(const char *path, struct bpf_object *obj, struct bb_err *err)
{
	return run_trial(path, &(struct trial){.obj = obj}, err);
}
