/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/captured_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/leftover.h"
#include "capture/file.h"
#include "plan/field.h"

void bb_capture_name(const char *program, char *ret_name, size_t size)
{
	size_t len = strcspn(program, " \t\n;|&<>()"); /* of a shell command, the first word */
	char name[BB_NAME_MAX_BYTES + 2];
	size_t at = len;

	while (at > 0 && program[at - 1] != '/')
		at--;
	bb_name_from(program + at, len - at, name);
	snprintf(ret_name, size, "%s", *name ? name : "command");
}

static int make_place(struct bb_captured_file *f, const char *name, struct bb_err *err)
{
	const char *tmp = getenv("TMPDIR");
	int tmp_fd;

	tmp = tmp && *tmp ? tmp : "/tmp";
	if (asprintf(&f->dir, "%s/bpfbench-capture-XXXXXX", tmp) < 0) {
		f->dir = NULL;
		return bb_fail_nomem(err);
	}
	if (!mkdtemp(f->dir)) {
		int rc = -errno;

		free(f->dir);
		f->dir = NULL;
		return bb_fail(err, rc, "%s: no folder can be made there: %s", tmp, strerror(-rc));
	}
	f->lock_fd = open(f->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	tmp_fd = open(tmp, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (f->lock_fd >= 0 && tmp_fd >= 0)
		bb_leftover__lock_and_remove_others(tmp_fd, strrchr(f->dir, '/') + 1,
						    sizeof("XXXXXX") - 1, f->lock_fd);
	if (tmp_fd >= 0)
		close(tmp_fd);
	if (asprintf(&f->path, "%s/%s.capture", f->dir, name) < 0)
		f->path = NULL;
	if (!f->path || asprintf(&f->object, "%s=%s", name, f->path) < 0)
		f->object = NULL;
	return f->object ? 0 : bb_fail_nomem(err);
}

int bb_captured_file__make(const struct bb_capture_args *a, const char *const *argv,
			   const char *shell, struct bb_captured_file *ret_file, struct bb_err *err)
{
	const char *const by_shell[] = {"sh", "-c", shell, NULL};
	struct bb_capture *capture = NULL;
	struct bb_captured_file f = {0};
	char name[BB_NAME_MAX_BYTES + 2];
	int rc;

	bb_capture_name(shell ? shell : argv[0], name, sizeof(name));
	rc = bb_capture_args__run(a, shell ? by_shell : argv, false, false, &capture, err);
	if (!rc)
		rc = make_place(&f, name, err);
	if (!rc)
		rc = bb_capture__write(capture, f.path, err);
	bb_capture__free(capture);
	if (rc)
		bb_captured_file__remove(&f);
	else
		*ret_file = f;
	return rc;
}

void bb_captured_file__remove(struct bb_captured_file *f)
{
	if (f->path)
		unlink(f->path);
	if (f->dir) {
		rmdir(f->dir);
		if (f->lock_fd >= 0)
			close(f->lock_fd);
	}
	free(f->path);
	free(f->dir);
	free(f->object);
	*f = (struct bb_captured_file){0};
}
