/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clean.h"
#include "base/leftover.h"
#include "base/own.h"
#include "base/parse.h"
#include "export/documents.h"

#define TAG_DIGITS 8

/* Where an output goes. One of these is looked up once, and everything is decided by what it holds.
 */
struct place {
	const char *path;
	int own_fd;       /* one of our own descriptors; -1: a file */
	int dir_fd;       /* the folder of the file */
	const char *name; /* in it; in path */
	bool in_place;    /* a pipe or a device: there is nothing to rename over */
	char temp[NAME_MAX + 1];
};

/* Names of descriptors that we have: opening them anew would ask who may open the terminal, and cut
 * off a file. */
static int own_fd_of(const char *path)
{
	static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
	uint64_t fd;

	if (!strcmp(path, "-") || !strcmp(path, "/dev/stdout"))
		return STDOUT_FILENO;
	if (!strcmp(path, "/dev/stderr"))
		return STDERR_FILENO;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		size_t len = strlen(folders[i]);

		if (!strncmp(path, folders[i], len) && !bb_parse_u64(path + len, &fd) &&
		    fd <= INT_MAX)
			return (int)fd;
	}
	return -1;
}

static int look_at(struct place *p, struct bb_err *err)
{
	struct stat st;

	if (fstatat(p->dir_fd, p->name, &st, AT_SYMLINK_NOFOLLOW)) {
		if (errno == ENOENT && *p->name)
			return 0;
		return bb_fail(err, -errno, "%s: %s", p->path, strerror(errno));
	}
	switch (st.st_mode & S_IFMT) {
	case S_IFREG: return 0;
	case S_IFCHR:
	case S_IFIFO: p->in_place = true; return 0;
	case S_IFDIR:
		return bb_fail(err, -EISDIR, "%s: is a folder; --output takes a file", p->path);
	case S_IFLNK:
		return bb_fail(err, -ELOOP,
			       "%s: is a symbolic link, and outputs do not follow one; name the "
			       "file that it leads to",
			       p->path);
	default: return bb_fail(err, -EINVAL, "%s: is neither a file nor a pipe", p->path);
	}
}

static void place_done(struct place *p)
{
	if (p->dir_fd >= 0)
		close(p->dir_fd);
	p->dir_fd = -1;
}

static int find_place(const char *path, struct place *ret_place, struct bb_err *err)
{
	struct place p = {.path = path, .own_fd = own_fd_of(path), .dir_fd = -1};
	const char *slash = strrchr(path, '/');
	char *dir;
	int rc = 0;

	if (p.own_fd < 0) {
		p.name = slash ? slash + 1 : path;
		dir = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
		if (!dir)
			return bb_fail_nomem(err);
		if (!*p.name) /* "", "folder/" */
			p.name = ".";
		p.dir_fd = *path ? bb_own__openat(AT_FDCWD, dir, O_PATH | O_DIRECTORY, 0) : -ENOENT;
		free(dir);
		rc = p.dir_fd < 0 ? bb_fail(err, p.dir_fd, "%s: cannot be written: %s", path,
					    bb_own__strerror(-p.dir_fd))
				  : look_at(&p, err);
	}
	if (rc)
		place_done(&p);
	else
		*ret_place = p;
	return rc;
}

int bb_output_check(const char *path, struct bb_err *err)
{
	struct place p;
	int rc = path ? find_place(path, &p, err) : 0;
	bool ok;

	if (rc || !path)
		return rc;
	/* AT_EACCESS: with the rights that opening it will have */
	if (p.own_fd >= 0)
		ok = fcntl(p.own_fd, F_GETFD) >= 0;
	else if (p.in_place)
		ok = !faccessat(p.dir_fd, p.name, W_OK, AT_EACCESS);
	else
		ok = !faccessat(p.dir_fd, ".", W_OK | X_OK, AT_EACCESS);
	if (!ok)
		rc = bb_fail(err, -errno, "%s: cannot be written: %s", path, strerror(errno));
	place_done(&p);
	return rc;
}

/* O_NONBLOCK: a pipe that nobody reads is an error, instead of a wait for who might. */
static int open_in_place(const struct place *p)
{
	int fd = openat(p->dir_fd, p->name,
			O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || (!S_ISCHR(st.st_mode) && !S_ISFIFO(st.st_mode)) ||
	    fcntl(fd, F_SETFL, 0)) {
		close(fd);
		return -EAGAIN; /* it has just become something else */
	}
	return fd;
}

/* A new file beside it, with the mode that a shell's redirection would give. */
static int open_temp(struct place *p)
{
	uint32_t tag;
	int fd;

	do {
		if (getrandom(&tag, sizeof(tag), 0) != sizeof(tag))
			return -errno;
		if (snprintf(p->temp, sizeof(p->temp), ".%s.%0*" PRIx32, p->name, TAG_DIGITS,
			     tag) >= (int)sizeof(p->temp))
			return -ENAMETOOLONG;
		fd = openat(p->dir_fd, p->temp,
			    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	} while (fd < 0 && errno == EEXIST);
	if (fd < 0)
		return -errno;
	bb_leftover__lock_and_remove_others(p->dir_fd, p->temp, TAG_DIGITS, fd);
	return fd;
}

static int open_place(struct place *p)
{
	int fd;

	if (p->own_fd < 0)
		return p->in_place ? open_in_place(p) : open_temp(p);
	fflush(stdout);
	fd = fcntl(p->own_fd, F_DUPFD_CLOEXEC, 0);
	return fd < 0 ? -errno : fd;
}

static int write_and_close(bb_output_writer writer, void *arg, FILE *out, const char *name,
			   struct bb_err *err)
{
	int rc = writer(arg, out, err);

	if (!rc)
		rc = bb_clean__check(out, name, err);
	if (out != stdout && fclose(out) && !rc)
		rc = bb_fail(err, -errno, "%s: %s", name, strerror(errno));
	return rc;
}

static int write_place(bb_output_writer writer, void *arg, struct place *p, struct bb_err *err)
{
	int fd = open_place(p), rc;
	FILE *out;

	if (fd < 0)
		return bb_fail(err, fd, "%s: %s", p->path,
			       fd == -ENXIO ? "nobody reads this pipe" : strerror(-fd));
	out = bb_clean__open(fd, _IOFBF);
	if (!out)
		close(fd);
	rc = out ? write_and_close(writer, arg, out, p->path, err) : bb_fail_nomem(err);
	if (!rc && *p->temp && renameat(p->dir_fd, p->temp, p->dir_fd, p->name))
		rc = bb_fail(err, -errno, "%s: %s", p->path, strerror(errno));
	if (rc && *p->temp)
		unlinkat(p->dir_fd, p->temp, 0);
	return rc;
}

int bb_output_of(bb_output_writer writer, void *arg, const char *path, struct bb_err *err)
{
	struct place p;
	int rc;

	if (!path)
		return write_and_close(writer, arg, stdout, "stdout", err);
	rc = find_place(path, &p, err);
	if (rc)
		return rc;
	rc = write_place(writer, arg, &p, err);
	place_done(&p);
	return rc;
}

struct formatted {
	const struct bb_report *report;
	const struct bb_exporter *format;
	struct bb_doc_look look;
};

struct bb_doc_look bb_output_look(FILE *stream)
{
	const char *no_colour = getenv("NO_COLOR"), *term = getenv("TERM");
	struct bb_doc_look look = bb_doc_plain_look;
	int fd = stream == stdout ? STDOUT_FILENO : STDERR_FILENO;
	struct winsize size;

	if (!isatty(fd))
		return look;
	look.wrap = true;
	look.colour = (!no_colour || !*no_colour) && term && strcmp(term, "dumb");
	if (!ioctl(fd, TIOCGWINSZ, &size) && size.ws_col)
		look.width = size.ws_col;
	return look;
}

int bb_output_document(const struct bb_doc *d, FILE *stream, struct bb_err *err)
{
	struct bb_doc_look look = bb_output_look(stream);

	if (bb_doc__text(d, &look, stream))
		return bb_fail_nomem(err);
	return stream == stdout ? bb_clean__check(stdout, "stdout", err) : 0;
}

int bb_output_table(const struct bb_report *r, FILE *stream, struct bb_err *err)
{
	struct bb_doc d = {0};
	int rc;

	bb_doc_run(r, BB_SHORT, &d);
	rc = bb_output_document(&d, stream, err);
	bb_doc__done(&d);
	return rc;
}

static int write_report(void *arg, FILE *out, struct bb_err *err)
{
	const struct formatted *f = arg;

	return bb_export(f->format, f->report, &f->look, out, err);
}

int bb_say_in_vain(const struct bb_report *report, struct bb_err *err)
{
	struct bb_doc d = {0};
	int rc;

	bb_doc_in_vain(report, NULL, &d);
	rc = bb_output_document(&d, stderr, err);
	bb_doc__done(&d);
	return rc;
}

int bb_output(const struct bb_report *report, const struct bb_exporter *format, const char *path,
	      bool has_table, struct bb_err *err)
{
	struct formatted f = {.report = report, .format = format, .look = bb_doc_plain_look};
	int rc;

	if (!path)
		f.look = bb_output_look(stdout);
	rc = bb_output_of(write_report, &f, path, err);
	if (rc || !format->is_for_service)
		return rc;
	rc = has_table ? 0 : bb_say_in_vain(report, err);
	return rc ? rc : bb_export_say_left_out(report, err);
}
