/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/file.h"

#include <archive.h>
#include <archive_entry.h>
#include <bpf/libbpf.h>
#include <jansson.h>
#include <sys/utsname.h>

#include "base/io.h"

/* Adds nothing if `size` is 0. Returns 0 or -errno. */
static __attribute__((format(printf, 4, 5))) int add_member(struct archive *a, const void *data,
							    size_t size, const char *fmt, ...)
{
	char name[64];
	va_list ap;

	if (!size)
		return 0;
	va_start(ap, fmt);
	vsnprintf(name, sizeof(name), fmt, ap);
	va_end(ap);
	struct archive_entry *e = archive_entry_new();
	if (!e)
		bb_out_of_memory();
	archive_entry_set_pathname(e, name);
	archive_entry_set_size(e, (la_int64_t)size);
	archive_entry_set_filetype(e, AE_IFREG);
	archive_entry_set_perm(e, 0600);
	archive_entry_set_mtime(e, time(NULL), 0);
	bool is_written = archive_write_header(a, e) == ARCHIVE_OK &&
			  archive_write_data(a, data, size) == (la_ssize_t)size;
	int rc = is_written ? 0 : archive_errno(a) > 0 ? -archive_errno(a) : -EIO;
	archive_entry_free(e);
	return rc;
}

static int add_members(struct archive *a, const struct bb_capture *c)
{
	struct bb_blob text = {0};
	FILE *out = bb_open_memstream(&text.data, &text.size);
	struct bb_json w = {.out = out, .indent = 1};

	bb_json__open(&w, NULL, "{\n");
	bb_record__write(&bb_capture_format, &bb_capture_record, c, c, &w);
	bb_json__end(&w);
	bb_close_memstream(out);
	int rc = add_member(a, text.data, text.size, BB_CAPTURE_MANIFEST);
	bb_blob__done(&text);
	for (size_t i = 0; !rc && i < c->n_progs; i++) {
		const struct bb_captured_prog *p = &c->progs[i];

		rc = add_member(a, p->insns, p->n_insns * sizeof(*p->insns), "prog/%zu.insns", i);
		if (!rc)
			rc = add_member(a, p->funcs, p->n_funcs * sizeof(*p->funcs),
					"prog/%zu.funcs", i);
		if (!rc)
			rc = add_member(a, p->lines, p->n_lines * sizeof(*p->lines),
					"prog/%zu.lines", i);
	}
	for (size_t i = 0; !rc && i < c->n_btfs; i++)
		rc = add_member(a, c->btfs[i].raw.data, c->btfs[i].raw.size, "btf/%zu", i);
	for (size_t i = 0; !rc && i < c->n_maps; i++)
		rc = add_member(a, c->maps[i].entries.data, c->maps[i].entries.size, "map/%zu", i);
	for (size_t i = 0; !rc && i < c->n_inputs; i++) {
		const struct bb_captured_input *in = &c->inputs[i];

		rc = add_member(a, in->data.data, in->data.size, "input/%zu.data", i);
		if (!rc)
			rc = add_member(a, in->ctx.data, in->ctx.size, "input/%zu.ctx", i);
	}
	return rc;
}

static int write_fd(const struct bb_capture *c, int fd)
{
	struct archive *a = archive_write_new();

	if (!a)
		bb_out_of_memory();
	int rc = archive_write_set_format_ustar(a) != ARCHIVE_OK ||
				 archive_write_open_fd(a, fd) != ARCHIVE_OK
			 ? -EIO
			 : add_members(a, c);
	if (!rc && archive_write_close(a) != ARCHIVE_OK)
		rc = archive_errno(a) > 0 ? -archive_errno(a) : -EIO;
	archive_write_free(a);
	return rc;
}

int bb_capture__write(const struct bb_capture *c, const char *path, struct bb_err *err)
{
	const char *slash = strrchr(path, '/');
	struct bb_new_file f;
	char dir[PATH_MAX];
	int dir_fd, rc;

	if (snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - path) + 1 : 1,
		     slash ? path : ".") >= (int)sizeof(dir))
		return bb_fail(err, -ENAMETOOLONG, "%s: the name is too long", path);
	dir_fd = bb_own__open(dir, O_RDONLY | O_DIRECTORY);
	rc = dir_fd < 0 ? dir_fd : bb_new_file__open(dir_fd, slash ? slash + 1 : path, 0600, &f);
	if (!rc)
		rc = bb_new_file__finish(&f, write_fd(c, f.fd), true, false);
	bb_close(&dir_fd);
	if (rc == -ENAMETOOLONG)
		return bb_fail(err, rc, "%s: the name is too long", path);
	return rc ? bb_fail(err, rc, "%s: %s", path, bb_own__strerror(-rc)) : 0;
}

#define TAKE_ANEW "; take the capture anew: bpfbench capture -- COMMAND"

struct member {
	char name[64];
	struct bb_blob bytes;
};

struct reading {
	const char *path;
	struct bb_err *err;
	struct member *members; /* sorted by name once all are read */
	size_t n_members;
	/* the first error, or 0 */
	int rc;
};

static void damaged(struct reading *r, const char *what, size_t index)
{
	if (!r->rc)
		r->rc = bb_fail(r->err, -EINVAL, "%s: a damaged capture: %s %zu" TAKE_ANEW, r->path,
				what, index);
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
	m->bytes.data = bb_calloc(1, (size_t)size + 1); /* +1: ends in NUL */
	snprintf(m->name, sizeof(m->name), "%s", name);
	if (archive_read_data(a, m->bytes.data, (size_t)size) != (la_ssize_t)size) {
		damaged(r, "it is cut off in member", r->n_members - 1);
		return false;
	}
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

	if (!a || archive_read_support_format_tar(a) != ARCHIVE_OK)
		bb_out_of_memory();
	if (archive_read_open_memory(a, data, len) != ARCHIVE_OK) {
		damaged(r, "no tar archive", 0);
	} else {
		while (!r->rc && (rc = archive_read_next_header(a, &e)) == ARCHIVE_OK) {
			if (take_member(r, a, e, len - sum))
				sum += r->members[r->n_members - 1].bytes.size;
		}
		if (!r->rc && rc != ARCHIVE_EOF)
			damaged(r, "no tar archive from member", r->n_members);
	}
	archive_read_free(a);
	if (r->n_members)
		qsort(r->members, r->n_members, sizeof(*r->members), by_member_name);
}

/* Hands the bytes of the member named by `fmt` and `index` to the caller. The result is empty if
 * there is no such member. */
static __attribute__((format(printf, 2, 0))) struct bb_blob take_bytes(struct reading *r,
								       const char *fmt,
								       size_t index)
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

static void *take_records(struct reading *r, const char *fmt, size_t i, size_t size,
			  uint32_t *ret_n)
{
	struct bb_blob bytes = take_bytes(r, fmt, i);

	if (bytes.size % size || bytes.size / size > BB_CAPTURE_MAX_INSNS)
		damaged(r, "records of program", i);
	*ret_n = (uint32_t)(bytes.size / size);
	return bytes.data;
}

static void take_members(struct reading *r, struct bb_capture *c)
{
	for (size_t i = 0; i < c->n_btfs; i++)
		c->btfs[i].raw = take_bytes(r, "btf/%zu", i);
	for (size_t i = 0; i < c->n_maps; i++)
		c->maps[i].entries = take_bytes(r, "map/%zu", i);
	for (size_t i = 0; i < c->n_progs; i++) {
		struct bb_captured_prog *p = &c->progs[i];

		p->insns = take_records(r, "prog/%zu.insns", i, sizeof(*p->insns), &p->n_insns);
		p->funcs = take_records(r, "prog/%zu.funcs", i, sizeof(*p->funcs), &p->n_funcs);
		p->lines = take_records(r, "prog/%zu.lines", i, sizeof(*p->lines), &p->n_lines);
	}
	for (size_t i = 0; i < c->n_inputs; i++) {
		c->inputs[i].data = take_bytes(r, "input/%zu.data", i);
		c->inputs[i].ctx = take_bytes(r, "input/%zu.ctx", i);
	}
}

/* True if `index` is below n, or negative, which means no element. */
static bool is_index(int32_t index, size_t n)
{
	return index < 0 || (size_t)index < n;
}

static bool map_fits(const struct bb_capture *c, const struct bb_captured_map *m)
{
	uint64_t value = bb_captured_map__value_bytes(c, m);
	bool holds_maps = m->type == BPF_MAP_TYPE_ARRAY_OF_MAPS ||
			  m->type == BPF_MAP_TYPE_HASH_OF_MAPS;
	bool holds_progs = m->type == BPF_MAP_TYPE_PROG_ARRAY;
	size_t n = holds_maps ? c->n_maps : c->n_progs;

	if (!is_index(m->btf, c->n_btfs) || !is_index(m->inner, c->n_maps))
		return false;
	if (m->n_entries && (!value || !m->key_size || m->n_entries > m->max_entries))
		return false;
	/* without this check, the product n_entries * (key_size + value) below could overflow */
	if (m->n_entries && (value > m->entries.size || m->key_size > m->entries.size))
		return false;
	if (m->entries.size != m->n_entries * (m->key_size + value))
		return false;
	/* Inner maps must not have inner maps, so that the recursion of make_map() in replay.c
	 * ends. */
	if (m->inner >= 0 && (!holds_maps || c->maps[m->inner].inner >= 0))
		return false;
	if (holds_maps && m->inner < 0 && m->n_entries)
		return false;
	if ((holds_maps || holds_progs) && m->value_size != sizeof(int32_t))
		return false;
	for (uint32_t i = 0; (holds_maps || holds_progs) && i < m->n_entries; i++) {
		int32_t index;

		memcpy(&index, bb_captured_map__values(m) + i * sizeof(index), sizeof(index));
		if (index < 0 || (size_t)index >= n)
			return false;
	}
	return true;
}

/* A target must have a lower index than `i`, because replay.c loads programs in that order. */
static bool prog_fits(const struct bb_capture *c, const struct bb_captured_prog *p, size_t i)
{
	uint32_t at = 0;
	int32_t *name;
	bool is_btf;

	if (!is_index(p->btf, c->n_btfs) || !is_index(p->attach_btf, c->n_btfs) ||
	    !is_index(p->attach_prog, i))
		return false;
	if (BB_ANY(p->fds, p->n_fds,
		   !is_index(it->map, c->n_maps) || !is_index(it->btf, c->n_btfs)))
		return false;
	if (!p->n_insns || (p->btf < 0 && (p->n_funcs || p->n_lines)) ||
	    bb_insns__are_cut_off(p->insns, p->n_insns))
		return false;
	while ((name = bb_insns__next_name(p->insns, p->n_insns, &at, &is_btf)))
		if ((uint32_t)*name - is_btf >= (is_btf ? c->n_btfs : c->n_maps))
			return false;
	return !BB_ANY(p->funcs, p->n_funcs, it->insn_off >= p->n_insns) &&
	       !BB_ANY(p->lines, p->n_lines, it->insn_off >= p->n_insns);
}

/* Names must be unique, because users refer to programs and maps by name. */
static void check_names(struct reading *r, const struct bb_capture *c, bool maps)
{
	size_t n = maps ? c->n_maps : c->n_progs;
	const char **names = bb_calloc(n, sizeof(*names));

	for (size_t i = 0; i < n; i++)
		names[i] = maps ? c->maps[i].name : c->progs[i].name;
	qsort(names, n, sizeof(*names), bb_by_text);
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
		if (!prog_fits(c, &c->progs[i], i))
			damaged(r, "program", i);
	for (size_t i = 0; !r->rc && i < c->n_attachments; i++)
		if (!is_index(c->attachments[i].prog, c->n_progs))
			damaged(r, "attachment", i);
	for (size_t i = 0; !r->rc && i < c->n_inputs; i++)
		if (!is_index(c->inputs[i].prog, c->n_progs))
			damaged(r, "test run", i);
	if (!r->rc && c->n_cpus > BB_CAPTURE_MAX_ITEMS)
		damaged(r, "CPUs", c->n_cpus);
	if (!r->rc)
		check_names(r, c, true);
	if (!r->rc)
		check_names(r, c, false);
}

static void read_manifest(struct reading *r, struct bb_capture *c)
{
	struct bb_blob text = take_bytes(r, BB_CAPTURE_MANIFEST "%.0zu", 0);
	struct bb_err why = {0};
	struct bb_record_reader rd = {.format = &bb_capture_format, .path = r->path, .err = &why};
	json_error_t e;
	json_t *root = NULL;

	if (!text.data)
		damaged(r, "no " BB_CAPTURE_MANIFEST " among its members, of which there are",
			r->n_members);
	else if (!(root = json_loadb(text.data, text.size, JSON_REJECT_DUPLICATES, &e)))
		damaged(r, BB_CAPTURE_MANIFEST ", line", (size_t)(e.line > 0 ? e.line : 0));
	else if ((r->rc = bb_record__read(&rd, &bb_capture_record, root, c)))
		bb_fail(r->err, r->rc, "%s%s", why.msg,
			strstr(why.msg, "use a newer") ? "" : TAKE_ANEW);
	json_decref(root);
	bb_blob__done(&text);
}

int bb_capture__parse(const char *data, size_t len, const char *path,
		      struct bb_capture **ret_capture, struct bb_err *err)
{
	struct reading r = {.path = path, .err = err};
	struct bb_capture *c = bb_calloc(1, sizeof(*c));

	c->path = bb_strdup(path);
	read_members(&r, data, len);
	if (!r.rc)
		read_manifest(&r, c);
	if (!r.rc)
		take_members(&r, c);
	if (!r.rc)
		check_fit(&r, c);
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

	bb_close(&fd);
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

struct lent {
	struct bb_capture *capture;
	/* stat() when the file was read, to see whether it has changed */
	struct stat file;
	unsigned int n; /* users of the capture */
	struct lent *next;
};

static struct lent *all;

int bb_capture__borrow(const char *path, const struct bb_capture **ret_capture, struct bb_err *err)
{
	struct stat now = {0};
	struct lent *l;
	int rc = stat(path, &now);

	for (l = all; l && !rc; l = l->next)
		if (bb_is_unchanged(&l->file, &now) && !strcmp(l->capture->path, path)) {
			l->n++;
			*ret_capture = l->capture;
			return 0;
		}
	/* Free the captures without users. bb_capture__give_back() does not free them, because the
	 * next program is often from the same file. */
	for (struct lent **at = &all; (l = *at);) {
		if (l->n) {
			at = &l->next;
			continue;
		}
		*at = l->next;
		bb_capture__free(l->capture);
		free(l);
	}
	l = bb_calloc(1, sizeof(*l));
	rc = bb_capture__read(path, &l->capture, err);
	if (rc) {
		free(l);
		return rc;
	}
	l->file = now;
	l->n = 1;
	l->next = all;
	all = l;
	*ret_capture = l->capture;
	return 0;
}

void bb_capture__give_back(const struct bb_capture *c)
{
	for (struct lent *l = all; l; l = l->next)
		if (l->capture == c)
			l->n--;
}
