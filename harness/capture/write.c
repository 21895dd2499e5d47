/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/io.h"
#include "capture/file.h"

/* -ENOMEM, without a message. */
static int make_manifest(const struct bb_capture *c, struct bb_blob *ret_text)
{
	FILE *out = open_memstream(&ret_text->data, &ret_text->size);
	struct bb_json w = {.out = out, .indent = 1};

	if (!out)
		return -ENOMEM;
	bb_json__open(&w, NULL, "{\n");
	bb_record__write(&bb_capture_format, &bb_capture_record, c, c, &w);
	bb_json__end(&w);
	return fclose(out) ? -ENOMEM : 0;
}

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
	const char *slash = strrchr(path, '/');
	struct bb_new_file f;
	char dir[PATH_MAX];
	int dir_fd, rc;

	if (snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - path) + 1 : 1,
		     slash ? path : ".") >= (int)sizeof(dir))
		return bb_fail(err, -ENAMETOOLONG, "%s: the name is too long", path);
	dir_fd = bb_own__openat(AT_FDCWD, dir, O_RDONLY | O_DIRECTORY, 0);
	rc = dir_fd < 0 ? dir_fd : bb_new_file__open(dir_fd, slash ? slash + 1 : path, 0600, &f);
	if (!rc)
		rc = bb_new_file__finish(&f, write_fd(c, f.fd), true, false);
	bb_close(&dir_fd);
	if (rc == -ENAMETOOLONG)
		return bb_fail(err, rc, "%s: the name is too long", path);
	return rc ? bb_fail(err, rc, "%s: %s", path, bb_own__strerror(-rc)) : 0;
}
