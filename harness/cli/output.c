/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_special(const char *path)
{
	struct stat st;

	/* /dev/stdout, a pipe: nothing to rename over */
	return !stat(path, &st) && !S_ISREG(st.st_mode);
}

int bb_output_check(const char *path, struct bb_err *err)
{
	struct stat st;
	char *copy;
	int rc = 0;

	if (!path)
		return 0;
	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		return bb_fail(err, -EISDIR, "%s: is a folder; --output takes a file", path);
	if (is_special(path))
		return access(path, W_OK) ? bb_fail(err, -errno, "%s: %s", path, strerror(errno))
					  : 0;
	copy = strdup(path);
	if (!copy)
		return bb_fail_nomem(err);
	if (access(dirname(copy), W_OK | X_OK)) {
		rc = -errno;
		bb_fail(err, rc, "%s: cannot be written: %s", path, strerror(-rc));
	}
	free(copy);
	return rc;
}

static int write_and_close(bb_output_writer writer, void *arg, FILE *out, const char *name,
			   struct bb_err *err)
{
	int rc = writer(arg, out, err);

	errno = 0;
	if (!rc && (fflush(out) || ferror(out)))
		rc = bb_fail(err, errno ? -errno : -EIO, "%s: %s", name,
			     strerror(errno ? errno : EIO));
	if (out != stdout && fclose(out) && !rc)
		rc = bb_fail(err, -errno, "%s: %s", name, strerror(errno));
	return rc;
}

int bb_output_of(bb_output_writer writer, void *arg, const char *path, struct bb_err *err)
{
	char *temp = NULL;
	FILE *out;
	int rc, fd;

	if (!path)
		return write_and_close(writer, arg, stdout, "stdout", err);
	if (is_special(path)) {
		out = fopen(path, "we");
		return out ? write_and_close(writer, arg, out, path, err)
			   : bb_fail(err, -errno, "%s: %s", path, strerror(errno));
	}
	if (asprintf(&temp, "%s.XXXXXX", path) < 0)
		return bb_fail_nomem(err);
	fd = mkostemp(temp, O_CLOEXEC);
	out = fd < 0 ? NULL : fdopen(fd, "w");
	if (!out) {
		rc = bb_fail(err, -errno, "%s: %s", path, strerror(errno));
		free(temp);
		return rc;
	}
	/* mkstemp's 0600 is not what a shell's redirection would give */
	if (fchmod(fd, 0644))
		errno = 0;
	rc = write_and_close(writer, arg, out, path, err);
	if (!rc && rename(temp, path))
		rc = bb_fail(err, -errno, "%s: %s", path, strerror(errno));
	if (rc)
		unlink(temp);
	free(temp);
	return rc;
}

struct formatted {
	const struct bb_report *report;
	const struct bb_exporter *format;
};

static int write_report(void *arg, FILE *out, struct bb_err *err)
{
	const struct formatted *f = arg;

	return f->format->write(f->report, out, err);
}

int bb_output(const struct bb_report *report, const struct bb_exporter *format, const char *path,
	      struct bb_err *err)
{
	struct formatted f = {.report = report, .format = format};

	return bb_output_of(write_report, &f, path, err);
}
