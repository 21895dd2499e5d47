/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/object_info.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <gelf.h>

#include "bpf/elf_file.h"
#include "bpf/object_file.h"
#include "capture/file.h"
#include "bpf/prog_type.h"

#define MAX_RUN_BYTES 2048 /* most bytes of an input that we copy into a scenario */

static void add_program(struct bb_object_info *info, const struct bpf_program *p)
{
	struct bb_object_program *to = bb_append(&info->programs, &info->n_programs, sizeof(*to));

	*to = (struct bb_object_program){
		.name = bb_strdup(bpf_program__name(p)),
		.section = bb_strdup(bpf_program__section_name(p)),
		.type = bpf_program__type(p),
		.attach_type = bpf_program__expected_attach_type(p),
	};
	if (to->type == BPF_PROG_TYPE_UNSPEC &&
	    bb_section_type__find(to->section, &to->type, &to->attach_type, NULL))
		to->guess = bb_section_type__guess(to->section);
	if (to->guess)
		bb_section_type__find(to->guess, &to->type, &to->attach_type, NULL);
}

int bb_object_info__take_for(struct bb_object_info *info, const char *type, struct bb_err *err)
{
	int rc = info->is_capture ? bb_fail(err, -EINVAL, "captured programs have a type") : 0;

	for (size_t i = 0; !rc && i < info->n_programs; i++) {
		struct bb_object_program *p = &info->programs[i];

		rc = bb_section_type__find(type, &p->type, &p->attach_type, err);
		free(p->section);
		p->section = bb_strdup(type);
		p->guess = NULL;
	}
	return rc;
}

#define MOST_NESTED 4u    /* levels of nested structs whose members are listed */
#define MOST_GLOBALS 512u /* most variables and members that are listed */

/* Adds a variable if it is a number or an array of char. Of a struct, adds the members. */
static void add_global(struct bb_object_info *info, const struct btf *btf, const char *name,
		       __u32 type_id, unsigned int depth)
{
	const struct btf_type *t = btf__type_by_id(btf, (__u32)btf__resolve_type(btf, type_id));
	bool is_text = t && btf_is_array(t);
	__s64 size = btf__resolve_size(btf, type_id);

	if (is_text)
		t = btf__type_by_id(btf, (__u32)btf__resolve_type(btf, btf_array(t)->type));
	if (!t || size < 0 || info->n_globals == MOST_GLOBALS ||
	    BB_ANY(info->globals, info->n_globals, !strcmp(it->name, name)))
		return;
	for (__u16 i = 0; !is_text && btf_is_struct(t) && depth < MOST_NESTED && i < btf_vlen(t);
	     i++) {
		const struct btf_member *m = &btf_members(t)[i];
		const char *own = btf__name_by_offset(btf, m->name_off);

		if (!own || !*own || btf_member_bitfield_size(t, i))
			continue;
		char *whole = bb_asprintf("%s.%s", name, own);
		add_global(info, btf, whole, m->type, depth + 1);
		free(whole);
	}
	if (is_text ? !btf_is_int(t) || t->size != 1 : !btf_is_int(t) && !btf_is_any_enum(t))
		return;
	BB_PUSH(info->globals, info->n_globals,
		(struct bb_object_global){.name = bb_strdup(name),
					  .is_text = is_text,
					  .size_bytes = (uint32_t)size});
}

/* Adds the global variables of a section. Of static variables in .rodata, adds only structs,
 * because others are mostly the program's own strings. */
static void add_section(struct bb_object_info *info, const struct btf *btf, const char *section)
{
	__s32 id = btf ? btf__find_by_name_kind(btf, section, BTF_KIND_DATASEC) : -1;
	const struct btf_type *sec = id > 0 ? btf__type_by_id(btf, (__u32)id) : NULL;
	size_t before = info->n_globals;
	bool is_state = strcmp(section, ".rodata") != 0;

	for (__u16 i = 0; sec && i < btf_vlen(sec); i++) {
		const struct btf_type *var = btf__type_by_id(btf, btf_var_secinfos(sec)[i].type),
				      *t;
		const char *name = var && btf_is_var(var) ? btf__name_by_offset(btf, var->name_off)
							  : NULL;

		t = name ? btf__type_by_id(btf, (__u32)btf__resolve_type(btf, var->type)) : NULL;
		if (t && (is_state || btf_is_struct(t) ||
			  btf_var(var)->linkage == BTF_VAR_GLOBAL_ALLOCATED))
			add_global(info, btf, name, var->type, 0);
	}
	for (size_t i = before; i < info->n_globals; i++)
		info->globals[i].is_state = is_state;
}

static void add_globals(struct bb_object_info *info, const struct btf *btf)
{
	add_section(info, btf, ".rodata");
	add_section(info, btf, ".data");
	add_section(info, btf, ".bss");
}

/* Returns NULL if there are no bytes or too many. */
static char *hex_of(const struct bb_blob *b)
{
	char *text = b->size && b->size <= MAX_RUN_BYTES ? bb_calloc(2 * b->size + 1, 1) : NULL;

	for (size_t i = 0; text && i < b->size; i++)
		snprintf(text + 2 * i, 3, "%02x", (unsigned char)b->data[i]);
	return text;
}

static int fill_from_capture(struct bb_object_info *info, const char *path, struct bb_err *err)
{
	const struct bb_capture *c;
	int rc = bb_capture__borrow(path, &c, err);
	/* of_prog[i] is the index in info->programs of the capture's program i, plus 1, or 0 if it
	 * is not there */

	if (rc)
		return rc;
	info->is_capture = true;
	const struct bb_captured_attachment **attachments = bb_capture__any_attachments(c);
	size_t *of_prog = bb_calloc(c->n_progs, sizeof(*of_prog));
	for (size_t i = 0; i < c->n_progs; i++) {
		const struct bb_captured_prog *p = &c->progs[i];
		struct bb_object_program to = {.type = p->type,
					       .attach_type = p->expected_attach_type};

		if (p->probe)
			continue;
		to.name = bb_strdup(p->name);
		to.section = bb_strdup(bb_captured_section(p, attachments[i]).text);
		if (p->missing)
			to.why_not = bb_asprintf("the capture has not %s", p->missing);
		else if (p->refused)
			to.why_not = bb_asprintf("the kernel refuses it: %s", p->refused);
		BB_PUSH(info->programs, info->n_programs, to);
		of_prog[i] = info->n_programs;
		info->has_btf |= p->btf >= 0;
		if (!info->licence && *p->license)
			info->licence = bb_strdup(p->license);
	}
	for (size_t i = 0; i < c->n_inputs; i++) {
		const struct bb_captured_input *in = &c->inputs[i];
		size_t of = in->prog < 0 ? 0 : of_prog[in->prog];
		struct bb_object_program *to = of ? &info->programs[of - 1] : NULL;

		if (to)
			BB_PUSH(to->runs, to->n_runs,
				(struct bb_object_run){hex_of(&in->data), hex_of(&in->ctx),
						       in->path ? bb_strdup(in->path) : NULL,
						       in->share});
	}
	for (size_t i = 0; i < c->n_maps; i++)
		BB_PUSH(info->maps, info->n_maps,
			(struct bb_object_map){bb_strdup(c->maps[i].name), c->maps[i].type});
	for (size_t i = 0; i < c->n_btfs; i++) {
		const struct bb_blob *raw = &c->btfs[i].raw;
		struct btf *btf = raw->size ? btf__new(raw->data, (__u32)raw->size) : NULL;

		add_globals(info, btf);
		btf__free(btf);
	}
	free(of_prog);
	free(attachments);
	bb_capture__give_back(c);
	return 0;
}

static int fill_from_object(struct bb_object_info *info, const char *path, struct bb_err *err)
{
	struct bpf_object *obj = NULL;
	char *elf = NULL;
	size_t len = 0;
	int rc = bb_object_read(path, &elf, &len, err);
	struct bb_elf_part licence;
	struct bpf_program *p;
	const Elf_Data *data;
	struct bpf_map *m;
	Elf *e;

	if (!rc)
		rc = bb_object_open(path, elf, len, &obj, err);
	if (!rc) {
		bpf_object__for_each_program(p, obj) add_program(info, p);
		bpf_object__for_each_map(m, obj) if (!bpf_map__is_internal(m))
			BB_PUSH(info->maps, info->n_maps,
				(struct bb_object_map){bb_strdup(bpf_map__name(m)),
						       bpf_map__type(m)});
		info->has_btf = bpf_object__btf(obj) != NULL;
		add_globals(info, bpf_object__btf(obj));
		/* libbpf reads the licence from this section, too */
		e = bb_elf__of_memory(elf, len);
		data = e && bb_elf__find(e, "license", &licence) ? elf_rawdata(licence.scn, NULL)
								 : NULL;
		if (data && data->d_buf && data->d_size && *(const char *)data->d_buf)
			info->licence = bb_strndup(data->d_buf, data->d_size);
		elf_end(e);
	}
	bpf_object__close(obj);
	free(elf);
	return rc;
}

int bb_object_info__read(const char *path, struct bb_object_info *ret_info, struct bb_err *err)
{
	bool is_capture = bb_capture_is_one(path);
	struct bb_object_info info = {0};
	int rc = (is_capture ? fill_from_capture : fill_from_object)(&info, path, err);

	if (!rc && !info.n_programs)
		rc = bb_fail(err, -ENOENT, "%s holds no program%s", path,
			     is_capture ? " but tests of the loader's: bpfbench capture --all -- "
					  "COMMAND lists them"
					: ": its section makes a function a program, as in "
					  "SEC(\"xdp\") int f(struct xdp_md *ctx)");
	if (rc)
		bb_object_info__done(&info);
	else
		*ret_info = info;
	return rc;
}

void bb_object_info__done(struct bb_object_info *info)
{
	if (!info)
		return;
	for (size_t i = 0; i < info->n_programs; i++) {
		free(info->programs[i].name);
		free(info->programs[i].section);
		free(info->programs[i].why_not);
		for (size_t k = 0; k < info->programs[i].n_runs; k++) {
			free(info->programs[i].runs[k].packet);
			free(info->programs[i].runs[k].context);
			free(info->programs[i].runs[k].path);
		}
		free(info->programs[i].runs);
	}
	for (size_t i = 0; i < info->n_maps; i++)
		free(info->maps[i].name);
	for (size_t i = 0; i < info->n_globals; i++)
		free(info->globals[i].name);
	free(info->programs);
	free(info->maps);
	free(info->globals);
	free(info->licence);
	*info = (struct bb_object_info){0};
}

#define MAX_NAMED 64u /* most names in a message */

static size_t names_of(const struct bb_object_info *info, const char **ret_names)
{
	size_t n = info->n_programs < MAX_NAMED ? info->n_programs : MAX_NAMED;

	for (size_t i = 0; i < n; i++)
		ret_names[i] = info->programs[i].name;
	return n;
}

struct bb_phrase bb_object_info__list(const struct bb_object_info *info)
{
	const char *names[MAX_NAMED];

	return bb_phrase__join(names, names_of(info, names));
}

const struct bb_object_program *bb_object_info__find(const struct bb_object_info *info,
						     const char *name)
{
	return BB_FIND(info->programs, info->n_programs, !strcmp(it->name, name));
}

int bb_object_info__need_program(const struct bb_object_info *info, const char *path,
				 const char *name, struct bb_err *err)
{
	const char *names[MAX_NAMED];

	if (bb_object_info__find(info, name))
		return 0;
	return bb_object_say_no_program(path, names, names_of(info, names), name, err);
}
