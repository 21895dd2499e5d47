/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <archive.h>
#include <archive_entry.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/io.h"
#include "base/parse.h"
#include "capture/file.h"

#define TAKE_ANEW "; take the capture anew: bpfbench capture -- COMMAND"
#define MAX_NAME 4096 /* bytes of any text in the manifest */

/* --- the archive --- */

struct member {
	char name[64];
	struct bb_blob bytes;
};

struct reading {
	const char *path;
	struct bb_err *err;
	struct member *members; /* in the end sorted by name */
	size_t n_members;
	int rc; /* the first error; calls after it do nothing */
};

static void damaged(struct reading *r, const char *what, size_t index)
{
	if (!r->rc)
		r->rc = bb_fail(r->err, -EINVAL, "%s: a damaged capture: %s %zu" TAKE_ANEW, r->path,
				what, index);
}

static void nomem(struct reading *r)
{
	if (!r->rc)
		r->rc = bb_fail_nomem(r->err);
}

static bool take_member(struct reading *r, struct archive *a, struct archive_entry *e, size_t max)
{
	const char *name = archive_entry_pathname(e);
	la_int64_t size = archive_entry_size(e);
	struct member *m;

	if (!name || strlen(name) >= sizeof(m->name) || archive_entry_filetype(e) != AE_IFREG ||
	    size < 0 || (size_t)size > max || r->n_members >= 8 * BB_CAPTURE_MAX_ITEMS) {
		damaged(r, "member", r->n_members);
		return false;
	}
	m = bb_append(&r->members, &r->n_members, sizeof(*m));
	if (!m || !(m->bytes.data = malloc((size_t)size + 1))) {
		nomem(r);
		return false;
	}
	snprintf(m->name, sizeof(m->name), "%s", name);
	if (archive_read_data(a, m->bytes.data, (size_t)size) != (la_ssize_t)size) {
		damaged(r, "it is cut off in member", r->n_members - 1);
		return false;
	}
	m->bytes.data[size] = '\0';
	m->bytes.size = (size_t)size;
	return true;
}

static int by_member_name(const void *a, const void *b)
{
	return strcmp(((const struct member *)a)->name, ((const struct member *)b)->name);
}

static void read_members(struct reading *r, const char *data, size_t len)
{
	struct archive *a = archive_read_new();
	struct archive_entry *e;
	size_t sum = 0;
	int rc;

	if (!a || archive_read_support_format_tar(a) != ARCHIVE_OK) {
		nomem(r);
	} else if (archive_read_open_memory(a, data, len) != ARCHIVE_OK) {
		damaged(r, "no tar archive", 0);
	} else {
		while (!r->rc && (rc = archive_read_next_header(a, &e)) == ARCHIVE_OK) {
			if (take_member(r, a, e, len - sum))
				sum += r->members[r->n_members - 1].bytes.size;
		}
		if (!r->rc && rc != ARCHIVE_EOF)
			damaged(r, "no tar archive from member", r->n_members);
	}
	if (a)
		archive_read_free(a);
	if (r->n_members)
		qsort(r->members, r->n_members, sizeof(*r->members), by_member_name);
}

/* Hands the bytes over; nothing where there is no such member. */
static struct bb_blob take_bytes(struct reading *r, const char *fmt, size_t index)
	__attribute__((format(printf, 2, 0)));
static struct bb_blob take_bytes(struct reading *r, const char *fmt, size_t index)
{
	struct bb_blob bytes = {0};
	struct member *m, key;

	if (!r->n_members)
		return bytes;
	snprintf(key.name, sizeof(key.name), fmt, index);
	m = bsearch(&key, r->members, r->n_members, sizeof(key), by_member_name);
	if (m) {
		bytes = m->bytes;
		m->bytes = (struct bb_blob){0};
	}
	return bytes;
}

/* --- the manifest's values: absent is 0, none, NULL --- */

static uint64_t get_u64(struct reading *r, const json_t *o, const char *key, uint64_t max)
{
	const json_t *v = json_object_get(o, key);
	uint64_t value = 0;

	if (!v)
		return 0;
	if (json_is_integer(v) && json_integer_value(v) >= 0)
		value = (uint64_t)json_integer_value(v);
	else if (!json_is_string(v) || bb_parse_u64(json_string_value(v), &value))
		value = UINT64_MAX;
	if (value > max || (value == UINT64_MAX && max != UINT64_MAX)) {
		damaged(r, key, 0);
		return 0;
	}
	return value;
}

static uint32_t get_u32(struct reading *r, const json_t *o, const char *key)
{
	return (uint32_t)get_u64(r, o, key, UINT32_MAX);
}

/* An index below n. */
static int32_t get_index(struct reading *r, const json_t *o, const char *key, size_t n)
{
	if (!json_object_get(o, key))
		return BB_CAPTURE_NONE;
	if (!n) {
		damaged(r, key, 0);
		return BB_CAPTURE_NONE;
	}
	return (int32_t)get_u64(r, o, key, n - 1);
}

static char *get_text(struct reading *r, const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);
	char *text = NULL;

	if (!v)
		return NULL;
	if (!json_is_string(v) || json_string_length(v) > MAX_NAME)
		damaged(r, key, 0);
	else if (!(text = strdup(json_string_value(v))))
		nomem(r);
	return text;
}

/* One that has to be there. */
static char *need_text(struct reading *r, const json_t *o, const char *key)
{
	char *text = get_text(r, o, key);

	if (!text)
		damaged(r, key, 0);
	return text;
}

static void put_text(struct reading *r, const json_t *o, const char *key, char *dest, size_t size)
{
	char *text = get_text(r, o, key);

	if (text && strlen(text) >= size)
		damaged(r, key, 0);
	snprintf(dest, size, "%s", text ? text : "");
	free(text);
}

/* The array of that name; its length, 0 where it is not there. */
static size_t get_array(struct reading *r, const json_t *root, const char *key,
			const json_t **ret_array)
{
	*ret_array = json_object_get(root, key);
	if (*ret_array &&
	    (!json_is_array(*ret_array) || json_array_size(*ret_array) > BB_CAPTURE_MAX_ITEMS)) {
		damaged(r, key, 0);
		*ret_array = NULL;
	}
	return json_array_size(*ret_array);
}

/* --- its parts --- */

static void read_map(struct reading *r, const json_t *o, const struct bb_capture *c, size_t i)
{
	struct bb_captured_map *m = &c->maps[i];

	m->name = need_text(r, o, "name");
	put_text(r, o, "kernel_name", m->kernel_name, sizeof(m->kernel_name));
	m->type = get_u32(r, o, "type");
	m->key_size = get_u32(r, o, "key_size");
	m->value_size = get_u32(r, o, "value_size");
	m->max_entries = get_u32(r, o, "max_entries");
	m->flags = get_u32(r, o, "flags");
	m->extra = get_u64(r, o, "extra", UINT64_MAX);
	m->btf = get_index(r, o, "btf", c->n_btfs);
	m->key_type_id = get_u32(r, o, "key_type_id");
	m->value_type_id = get_u32(r, o, "value_type_id");
	m->inner = get_index(r, o, "inner", c->n_maps);
	m->frozen = json_is_true(json_object_get(o, "frozen"));
	m->n_entries = get_u32(r, o, "entries");
	m->left_out = get_text(r, o, "left_out");
	m->entries = take_bytes(r, "map/%zu", i);
}

static struct bb_captured_ref read_ref(struct reading *r, const json_t *o,
				       const struct bb_capture *c)
{
	int32_t map = get_index(r, o, "map", c->n_maps), btf = get_index(r, o, "btf", c->n_btfs);

	if (map >= 0)
		return (struct bb_captured_ref){BB_CAPTURED_MAP, map};
	if (btf >= 0)
		return (struct bb_captured_ref){BB_CAPTURED_BTF, btf};
	return (struct bb_captured_ref){BB_CAPTURED_NOTHING, BB_CAPTURE_NONE};
}

static void read_fds(struct reading *r, const json_t *o, const struct bb_capture *c,
		     struct bb_captured_prog *p)
{
	const json_t *array;
	size_t n = get_array(r, o, "fd_array", &array);

	p->fds = n ? calloc(n, sizeof(*p->fds)) : NULL;
	if (n && !p->fds) {
		nomem(r);
		return;
	}
	p->n_fds = (uint32_t)n;
	for (size_t i = 0; i < n; i++)
		p->fds[i] = read_ref(r, json_array_get(array, i), c);
}

static void read_tag(struct reading *r, const json_t *o, uint8_t *tag)
{
	char text[2 * BPF_TAG_SIZE + 1];
	size_t len = 0, at;

	put_text(r, o, "tag", text, sizeof(text));
	if (*text && (bb_parse_hex(text, tag, BPF_TAG_SIZE, &len, &at) || len != BPF_TAG_SIZE))
		damaged(r, "tag", 0);
}

/* The records of a member; *ret_n of them. */
static void *take_records(struct reading *r, const char *fmt, size_t i, size_t size,
			  uint32_t *ret_n)
{
	struct bb_blob bytes = take_bytes(r, fmt, i);

	if (bytes.size % size || bytes.size / size > BB_CAPTURE_MAX_INSNS)
		damaged(r, "records of program", i);
	*ret_n = (uint32_t)(bytes.size / size);
	return bytes.data;
}

static void read_prog(struct reading *r, const json_t *o, const struct bb_capture *c, size_t i)
{
	struct bb_captured_prog *p = &c->progs[i];

	p->name = need_text(r, o, "name");
	put_text(r, o, "kernel_name", p->kernel_name, sizeof(p->kernel_name));
	put_text(r, o, "license", p->license, sizeof(p->license));
	p->type = get_u32(r, o, "type");
	p->expected_attach_type = get_u32(r, o, "expected_attach_type");
	p->flags = get_u32(r, o, "flags");
	p->kern_version = get_u32(r, o, "kern_version");
	p->btf = get_index(r, o, "btf", c->n_btfs);
	p->attach_btf_id = get_u32(r, o, "attach_btf_id");
	put_text(r, o, "attach_name", p->attach_name, sizeof(p->attach_name));
	p->attach_btf = get_index(r, o, "attach_btf", c->n_btfs);
	p->attach_prog = get_index(r, o, "attach_prog", i);
	read_fds(r, o, c, p);
	read_tag(r, o, p->tag);
	p->xlated_bytes = get_u32(r, o, "xlated_bytes");
	p->jited_bytes = get_u32(r, o, "jited_bytes");
	p->refused = get_text(r, o, "refused");
	p->missing = get_text(r, o, "missing");
	p->probe = get_text(r, o, "probe");
	p->insns = take_records(r, "prog/%zu.insns", i, sizeof(*p->insns), &p->n_insns);
	p->funcs = take_records(r, "prog/%zu.funcs", i, sizeof(*p->funcs), &p->n_funcs);
	p->lines = take_records(r, "prog/%zu.lines", i, sizeof(*p->lines), &p->n_lines);
}

static void read_attachment(struct reading *r, const json_t *o, const struct bb_capture *c,
			    struct bb_captured_attachment *a)
{
	a->prog = get_index(r, o, "program", c->n_progs);
	put_text(r, o, "kind", a->kind, sizeof(a->kind));
	put_text(r, o, "where", a->where, sizeof(a->where));
	a->attach_type = get_u32(r, o, "attach_type");
	a->n = get_u32(r, o, "times");
	a->refused = json_is_true(json_object_get(o, "refused"));
}

static void read_input(struct reading *r, const json_t *o, const struct bb_capture *c, size_t i)
{
	struct bb_captured_input *in = &c->inputs[i];

	in->prog = get_index(r, o, "program", c->n_progs);
	in->repeat = get_u32(r, o, "repeat");
	in->data = take_bytes(r, "input/%zu.data", i);
	in->ctx = take_bytes(r, "input/%zu.ctx", i);
}

/* --- do they fit each other? --- */

/* An entry of a map of maps or a prog array is an index below n. */
static bool are_indexes(const struct bb_captured_map *m, size_t n)
{
	const char *values = bb_captured_map__values(m);

	for (uint32_t i = 0; i < m->n_entries; i++) {
		int32_t index;

		memcpy(&index, values + i * sizeof(index), sizeof(index));
		if (index < 0 || (size_t)index >= n)
			return false;
	}
	return true;
}

static bool map_fits(const struct bb_capture *c, const struct bb_captured_map *m)
{
	uint64_t value = bb_captured_map__value_bytes(c, m);
	bool holds_maps = m->type == BPF_MAP_TYPE_ARRAY_OF_MAPS ||
			  m->type == BPF_MAP_TYPE_HASH_OF_MAPS;
	bool holds_progs = m->type == BPF_MAP_TYPE_PROG_ARRAY;

	if (m->n_entries && (!value || !m->key_size || m->n_entries > m->max_entries))
		return false;
	/* so that the product below has room */
	if (m->n_entries && (value > m->entries.size || m->key_size > m->entries.size))
		return false;
	if (m->entries.size != m->n_entries * (m->key_size + value))
		return false;
	/* a template has none of its own, so the chain ends */
	if (m->inner >= 0 && (!holds_maps || c->maps[m->inner].inner >= 0))
		return false;
	if (holds_maps && m->inner < 0 && m->n_entries)
		return false;
	if ((holds_maps || holds_progs) && m->value_size != sizeof(int32_t))
		return false;
	return !(holds_maps || holds_progs) || are_indexes(m, holds_maps ? c->n_maps : c->n_progs);
}

static bool insn_fits(const struct bb_capture *c, const struct bpf_insn *insn)
{
	switch (insn->src_reg) {
	case BPF_PSEUDO_MAP_FD:
	case BPF_PSEUDO_MAP_VALUE: return insn->imm >= 0 && (size_t)insn->imm < c->n_maps;
	case BPF_PSEUDO_BTF_ID: return insn[1].imm >= 0 && (size_t)insn[1].imm <= c->n_btfs;
	default: return true;
	}
}

static bool prog_fits(const struct bb_capture *c, const struct bb_captured_prog *p)
{
	if (!p->n_insns || (p->btf < 0 && (p->n_funcs || p->n_lines)))
		return false;
	for (uint32_t i = 0; i < p->n_insns; i++) {
		if (p->insns[i].code != (BPF_LD | BPF_IMM | BPF_DW))
			continue;
		if (i + 1 == p->n_insns || !insn_fits(c, &p->insns[i]))
			return false;
		i++;
	}
	for (uint32_t i = 0; i < p->n_funcs; i++)
		if (p->funcs[i].insn_off >= p->n_insns)
			return false;
	for (uint32_t i = 0; i < p->n_lines; i++)
		if (p->lines[i].insn_off >= p->n_insns)
			return false;
	return true;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Programs are asked for by name, and maps kept by it. */
static void check_names(struct reading *r, const struct bb_capture *c, bool maps)
{
	size_t n = maps ? c->n_maps : c->n_progs;
	const char **names = calloc(n + 1, sizeof(*names));

	if (!names) {
		nomem(r);
		return;
	}
	for (size_t i = 0; i < n; i++)
		names[i] = maps ? c->maps[i].name : c->progs[i].name;
	qsort(names, n, sizeof(*names), by_name);
	for (size_t i = 1; i < n; i++)
		if (!strcmp(names[i - 1], names[i]))
			damaged(r,
				maps ? "two maps of one name, of" : "two programs of one name, of",
				n);
	free(names);
}

static void check_fit(struct reading *r, const struct bb_capture *c)
{
	for (size_t i = 0; !r->rc && i < c->n_btfs; i++)
		if (!c->btfs[i].raw.size == !*c->btfs[i].module)
			damaged(r, "type information", i);
	for (size_t i = 0; !r->rc && i < c->n_maps; i++)
		if (!map_fits(c, &c->maps[i]))
			damaged(r, "map", i);
	for (size_t i = 0; !r->rc && i < c->n_progs; i++)
		if (!prog_fits(c, &c->progs[i]))
			damaged(r, "program", i);
	if (!r->rc)
		check_names(r, c, true);
	if (!r->rc)
		check_names(r, c, false);
}

/* Room for the array of that name, before any of its elements is read: they refer to each other. */
static void make_room(struct reading *r, const json_t *root, const char *key, void *items,
		      size_t size, size_t *ret_n)
{
	const json_t *array;
	size_t n = get_array(r, root, key, &array);
	void *room = calloc(n + 1, size);

	memcpy(items, &room, sizeof(room));
	*ret_n = room ? n : 0;
	if (!room)
		nomem(r);
}

static void read_capture(struct reading *r, const json_t *root, struct bb_capture *c)
{
	const json_t *kernel = json_object_get(root, "kernel"), *o;
	size_t i;

	c->command = need_text(r, root, "command");
	c->kernel.release = need_text(r, kernel, "release");
	c->kernel.version = need_text(r, kernel, "version");
	c->kernel.machine = need_text(r, kernel, "machine");
	c->n_cpus = (uint32_t)get_u64(r, root, "cpus", BB_CAPTURE_MAX_ITEMS);
	make_room(r, root, "btfs", &c->btfs, sizeof(*c->btfs), &c->n_btfs);
	make_room(r, root, "maps", &c->maps, sizeof(*c->maps), &c->n_maps);
	make_room(r, root, "programs", &c->progs, sizeof(*c->progs), &c->n_progs);
	make_room(r, root, "attachments", &c->attachments, sizeof(*c->attachments),
		  &c->n_attachments);
	make_room(r, root, "test_runs", &c->inputs, sizeof(*c->inputs), &c->n_inputs);
	if (r->rc)
		return;
	json_array_foreach(json_object_get(root, "btfs"), i, o)
	{
		put_text(r, o, "module", c->btfs[i].module, sizeof(c->btfs[i].module));
		c->btfs[i].raw = take_bytes(r, "btf/%zu", i);
	}
	json_array_foreach(json_object_get(root, "maps"), i, o) read_map(r, o, c, i);
	json_array_foreach(json_object_get(root, "programs"), i, o) read_prog(r, o, c, i);
	json_array_foreach(json_object_get(root, "attachments"), i, o)
		read_attachment(r, o, c, &c->attachments[i]);
	json_array_foreach(json_object_get(root, "test_runs"), i, o) read_input(r, o, c, i);
	if (!r->rc)
		check_fit(r, c);
}

static json_t *read_manifest(struct reading *r)
{
	struct bb_blob text = take_bytes(r, BB_CAPTURE_MANIFEST "%.0zu", 0);
	json_error_t e;
	json_t *root = NULL;
	uint64_t version;

	if (!text.data)
		damaged(r, "no " BB_CAPTURE_MANIFEST " among its members, of which there are",
			r->n_members);
	else if (!(root = json_loadb(text.data, text.size, JSON_REJECT_DUPLICATES, &e)) ||
		 !json_is_object(root))
		damaged(r, BB_CAPTURE_MANIFEST ", line", (size_t)(e.line > 0 ? e.line : 0));
	bb_blob__done(&text);
	if (r->rc)
		return root;
	version = get_u64(r, root, "bpfbench_capture", UINT32_MAX);
	if (!r->rc && !version)
		damaged(r, "its version is", 0);
	else if (!r->rc && version > BB_CAPTURE_VERSION)
		r->rc = bb_fail(r->err, -EINVAL,
				"%s: a capture of version %llu, and this bpfbench reads up to %d; "
				"use a newer bpfbench",
				r->path, (unsigned long long)version, BB_CAPTURE_VERSION);
	return root;
}

int bb_capture__parse(const char *data, size_t len, const char *path,
		      struct bb_capture **ret_capture, struct bb_err *err)
{
	struct reading r = {.path = path, .err = err};
	struct bb_capture *c = calloc(1, sizeof(*c));
	json_t *root = NULL;

	if (c)
		c->path = strdup(path);
	if (!c || !c->path)
		nomem(&r);
	if (!r.rc)
		read_members(&r, data, len);
	if (!r.rc)
		root = read_manifest(&r);
	if (!r.rc)
		read_capture(&r, root, c);
	json_decref(root);
	for (size_t i = 0; i < r.n_members; i++)
		bb_blob__done(&r.members[i].bytes);
	free(r.members);
	if (r.rc)
		bb_capture__free(c);
	else
		*ret_capture = c;
	return r.rc;
}

int bb_capture__read(const char *path, struct bb_capture **ret_capture, struct bb_err *err)
{
	char *data = NULL;
	size_t len = 0;
	int rc = bb_read_file(path, BB_CAPTURE_MAX_BYTES, &data, &len, err);

	if (!rc)
		rc = bb_capture__parse(data, len, path, ret_capture, err);
	free(data);
	return rc;
}

bool bb_capture_is_one(const char *path)
{
	char head[sizeof(BB_CAPTURE_MANIFEST)];
	struct stat st;
	int fd = bb_open_regular(path, 0, &st);
	bool is_one = fd >= 0 && read(fd, head, sizeof(head)) == sizeof(head) &&
		      !memcmp(head, BB_CAPTURE_MANIFEST, sizeof(head));

	if (fd >= 0)
		close(fd);
	return is_one;
}

int bb_capture__check_kernel(const struct bb_capture *c, struct bb_err *err)
{
	uint32_t n_cpus = (uint32_t)libbpf_num_possible_cpus();
	struct utsname now;

	if (n_cpus != c->n_cpus)
		return bb_fail(err, -ENOTSUP,
			       "%s: a capture of a machine with %u possible CPUs, and this one has "
			       "%u: its per-CPU maps do not fit" TAKE_ANEW,
			       c->path, c->n_cpus, n_cpus);
	if (uname(&now) ||
	    (!strcmp(now.release, c->kernel.release) && !strcmp(now.version, c->kernel.version) &&
	     !strcmp(now.machine, c->kernel.machine)))
		return 0;
	return bb_fail(err, -ENOTSUP,
		       "%s: a capture of Linux %s (%s, %s), and this is %s (%s, %s): its "
		       "instructions refer to that kernel's types and offsets" TAKE_ANEW,
		       c->path, c->kernel.release, c->kernel.version, c->kernel.machine,
		       now.release, now.version, now.machine);
}
