/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/json_writer.h"
#include "base/own.h"
#include "capture/file.h"

/* --- the manifest --- */

/* Absent where there is none. */
static void add_index(struct bb_json *w, const char *key, int32_t index)
{
	if (index >= 0)
		bb_json__add_u64(w, key, (uint64_t)index);
}

static void add_text(struct bb_json *w, const char *key, const char *text)
{
	if (text && *text)
		bb_json__add_text(w, key, text);
}

static void write_map(struct bb_json *w, const struct bb_captured_map *m)
{
	bb_json__open(w, NULL, "{");
	bb_json__add_text(w, "name", m->name);
	bb_json__add_text(w, "kernel_name", m->kernel_name);
	bb_json__add_u64(w, "type", m->type);
	bb_json__add_u64(w, "key_size", m->key_size);
	bb_json__add_u64(w, "value_size", m->value_size);
	bb_json__add_u64(w, "max_entries", m->max_entries);
	bb_json__add_u64(w, "flags", m->flags);
	bb_json__add_u64(w, "extra", m->extra);
	add_index(w, "btf", m->btf);
	bb_json__add_u64(w, "key_type_id", m->key_type_id);
	bb_json__add_u64(w, "value_type_id", m->value_type_id);
	add_index(w, "inner", m->inner);
	bb_json__add_bool(w, "frozen", m->frozen);
	bb_json__add_u64(w, "entries", m->n_entries);
	add_text(w, "left_out", m->left_out);
	bb_json__close(w);
}

static void write_tag(struct bb_json *w, const uint8_t *tag)
{
	char text[2 * BPF_TAG_SIZE + 1];

	for (size_t i = 0; i < BPF_TAG_SIZE; i++)
		snprintf(text + 2 * i, 3, "%02x", tag[i]);
	bb_json__add_text(w, "tag", text);
}

static void write_fds(struct bb_json *w, const struct bb_captured_prog *p)
{
	if (!p->n_fds)
		return;
	bb_json__open(w, "fd_array", "[");
	for (uint32_t i = 0; i < p->n_fds; i++) {
		bb_json__open(w, NULL, "{");
		if (p->fds[i].kind != BB_CAPTURED_NOTHING)
			add_index(w, p->fds[i].kind == BB_CAPTURED_MAP ? "map" : "btf",
				  p->fds[i].index);
		bb_json__close(w);
	}
	bb_json__close(w);
}

static void write_prog(struct bb_json *w, const struct bb_captured_prog *p)
{
	bb_json__open(w, NULL, "{");
	bb_json__add_text(w, "name", p->name);
	bb_json__add_text(w, "kernel_name", p->kernel_name);
	bb_json__add_text(w, "license", p->license);
	bb_json__add_u64(w, "type", p->type);
	bb_json__add_u64(w, "expected_attach_type", p->expected_attach_type);
	bb_json__add_u64(w, "flags", p->flags);
	bb_json__add_u64(w, "kern_version", p->kern_version);
	add_index(w, "btf", p->btf);
	bb_json__add_u64(w, "attach_btf_id", p->attach_btf_id);
	add_text(w, "attach_name", p->attach_name);
	add_index(w, "attach_btf", p->attach_btf);
	add_index(w, "attach_prog", p->attach_prog);
	write_fds(w, p);
	write_tag(w, p->tag);
	bb_json__add_u64(w, "xlated_bytes", p->xlated_bytes);
	bb_json__add_u64(w, "jited_bytes", p->jited_bytes);
	add_text(w, "refused", p->refused);
	add_text(w, "missing", p->missing);
	add_text(w, "probe", p->probe);
	bb_json__close(w);
}

static void write_attachment(struct bb_json *w, const struct bb_captured_attachment *a)
{
	bb_json__open(w, NULL, "{");
	add_index(w, "program", a->prog);
	bb_json__add_text(w, "kind", a->kind);
	bb_json__add_text(w, "where", a->where);
	bb_json__add_u64(w, "attach_type", a->attach_type);
	bb_json__add_u64(w, "times", a->n);
	if (a->refused)
		bb_json__add_bool(w, "refused", true);
	bb_json__close(w);
}

static void write_arrays(struct bb_json *w, const struct bb_capture *c)
{
	bb_json__open(w, "btfs", "[\n");
	for (size_t i = 0; i < c->n_btfs; i++) {
		bb_json__open(w, NULL, "{");
		add_text(w, "module", c->btfs[i].module);
		bb_json__close(w);
	}
	bb_json__close(w);
	bb_json__open(w, "maps", "[\n");
	for (size_t i = 0; i < c->n_maps; i++)
		write_map(w, &c->maps[i]);
	bb_json__close(w);
	bb_json__open(w, "programs", "[\n");
	for (size_t i = 0; i < c->n_progs; i++)
		write_prog(w, &c->progs[i]);
	bb_json__close(w);
	bb_json__open(w, "attachments", "[\n");
	for (size_t i = 0; i < c->n_attachments; i++)
		write_attachment(w, &c->attachments[i]);
	bb_json__close(w);
	bb_json__open(w, "test_runs", "[\n");
	for (size_t i = 0; i < c->n_inputs; i++) {
		bb_json__open(w, NULL, "{");
		add_index(w, "program", c->inputs[i].prog);
		bb_json__add_u64(w, "repeat", c->inputs[i].repeat);
		bb_json__close(w);
	}
	bb_json__close(w);
}

/* -ENOMEM, without a message. */
static int make_manifest(const struct bb_capture *c, struct bb_blob *ret_text)
{
	FILE *out = open_memstream(&ret_text->data, &ret_text->size);
	struct bb_json w = {.out = out, .indent = 1};

	if (!out)
		return -ENOMEM;
	bb_json__open(&w, NULL, "{\n");
	bb_json__add_u64(&w, "bpfbench_capture", BB_CAPTURE_VERSION);
	bb_json__add_text(&w, "command", c->command);
	bb_json__open(&w, "kernel", "{");
	bb_json__add_text(&w, "release", c->kernel.release);
	bb_json__add_text(&w, "version", c->kernel.version);
	bb_json__add_text(&w, "machine", c->kernel.machine);
	bb_json__close(&w);
	bb_json__add_u64(&w, "cpus", c->n_cpus);
	write_arrays(&w, c);
	bb_json__end(&w);
	return fclose(out) ? -ENOMEM : 0;
}

/* --- the archive --- */

static int add_member(struct archive *a, const void *data, size_t size, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Nothing for no data. 0 or -errno. */
static int add_member(struct archive *a, const void *data, size_t size, const char *fmt, ...)
{
	struct archive_entry *e;
	char name[64];
	va_list ap;
	int rc;

	if (!size)
		return 0;
	va_start(ap, fmt);
	vsnprintf(name, sizeof(name), fmt, ap);
	va_end(ap);
	e = archive_entry_new();
	if (!e)
		return -ENOMEM;
	archive_entry_set_pathname(e, name);
	archive_entry_set_size(e, (la_int64_t)size);
	archive_entry_set_filetype(e, AE_IFREG);
	archive_entry_set_perm(e, 0600);
	archive_entry_set_mtime(e, time(NULL), 0);
	rc = archive_write_header(a, e) == ARCHIVE_OK &&
			     archive_write_data(a, data, size) == (la_ssize_t)size
		     ? 0
	     : archive_errno(a) > 0 ? -archive_errno(a)
				    : -EIO;
	archive_entry_free(e);
	return rc;
}

static int add_prog(struct archive *a, const struct bb_captured_prog *p, size_t i)
{
	int rc = add_member(a, p->insns, p->n_insns * sizeof(*p->insns), "prog/%zu.insns", i);

	if (!rc)
		rc = add_member(a, p->funcs, p->n_funcs * sizeof(*p->funcs), "prog/%zu.funcs", i);
	return rc ? rc
		  : add_member(a, p->lines, p->n_lines * sizeof(*p->lines), "prog/%zu.lines", i);
}

static int add_members(struct archive *a, const struct bb_capture *c)
{
	struct bb_blob text = {0};
	int rc = make_manifest(c, &text);

	if (!rc)
		rc = add_member(a, text.data, text.size, BB_CAPTURE_MANIFEST);
	bb_blob__done(&text);
	for (size_t i = 0; !rc && i < c->n_progs; i++)
		rc = add_prog(a, &c->progs[i], i);
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
	int rc = a ? 0 : -ENOMEM;

	if (!rc && (archive_write_set_format_ustar(a) != ARCHIVE_OK ||
		    archive_write_open_fd(a, fd) != ARCHIVE_OK))
		rc = -EIO;
	if (!rc)
		rc = add_members(a, c);
	if (!rc && archive_write_close(a) != ARCHIVE_OK)
		rc = archive_errno(a) > 0 ? -archive_errno(a) : -EIO;
	if (a)
		archive_write_free(a);
	return rc;
}

int bb_capture__write(const struct bb_capture *c, const char *path, struct bb_err *err)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char dir[PATH_MAX], temp[NAME_MAX + 1];
	int dir_fd, fd = -1, rc = 0;
	uint32_t tag;

	if (snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - path) + 1 : 1,
		     slash ? path : ".") >= (int)sizeof(dir) ||
	    getrandom(&tag, sizeof(tag), 0) != sizeof(tag) ||
	    snprintf(temp, sizeof(temp), ".%s.%08" PRIx32, name, tag) >= (int)sizeof(temp))
		return bb_fail(err, -ENAMETOOLONG, "%s: the name is too long", path);
	dir_fd = bb_own__openat(AT_FDCWD, dir, O_RDONLY | O_DIRECTORY, 0);
	fd = dir_fd < 0
		     ? dir_fd
		     : bb_own__openat(dir_fd, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
	if (fd >= 0) {
		rc = write_fd(c, fd);
		if (close(fd) && !rc)
			rc = -errno;
		if (!rc && renameat(dir_fd, temp, dir_fd, name))
			rc = -errno;
		if (rc)
			unlinkat(dir_fd, temp, 0);
	} else {
		rc = fd;
	}
	if (dir_fd >= 0)
		close(dir_fd);
	return rc ? bb_fail(err, rc, "%s: %s", path, bb_own__strerror(-rc)) : 0;
}
