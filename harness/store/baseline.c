/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/baseline.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "store/store.h"

#define FOLDER "baselines"
#define NAME_MAX_LEN 100
#define FILE_MAX_BYTES 1024

static const char name_bytes[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._"
				 "-";

static bool is_name(const char *name)
{
	size_t len = strlen(name);

	return len && len <= NAME_MAX_LEN && strspn(name, name_bytes) == len && *name != '.' &&
	       *name != '-' && strcmp(name, "latest");
}

/* dir/ID.json, to be freed; NULL when out of memory. */
static char *run_path(const char *dir, const char *id)
{
	char *path;

	return asprintf(&path, "%s/%s.json", dir, id) < 0 ? NULL : path;
}

int bb_baseline__save(const char *dir, const char *name, const char *id, struct bb_err *err)
{
	char *path, *folder = NULL, *line = NULL;
	int rc = 0, fd;

	if (!is_name(name))
		return bb_fail(err, -EINVAL,
			       "'%.120s' cannot be the name of a baseline: take letters, digits, "
			       "'.', '_' and '-', at most %d, beginning with a letter or digit, "
			       "and not 'latest'",
			       name, NAME_MAX_LEN);
	path = run_path(dir, id);
	if (!path)
		return bb_fail_nomem(err);
	if (!*id || strchr(id, '/') || access(path, F_OK))
		rc = bb_fail(err, -ENOENT,
			     "the run '%s' is not stored in %s: a baseline names one that is", id,
			     dir);
	free(path);
	if (rc)
		return rc;
	if (asprintf(&folder, "%s/" FOLDER, dir) < 0 || asprintf(&line, "%s\n", id) < 0) {
		rc = bb_fail_nomem(err);
	} else {
		fd = bb_own__make_dirs(AT_FDCWD, folder);
		rc = fd < 0 ? fd : bb_store__replace(folder, name, line, strlen(line), true);
		if (fd >= 0)
			close(fd);
		if (rc)
			bb_fail(err, rc,
				"%s/%s: %s; the baseline was not saved (--results DIR chooses "
				"another folder)",
				folder, name, bb_own__strerror(-rc));
	}
	free(folder);
	free(line);
	return rc;
}

/* --- finding --- */

/* The id in a baseline's file: one line without anything that would lead out of the folder. */
static int read_id(const char *path, char *ret_id, size_t size, struct bb_err *err)
{
	char *text = NULL;
	size_t len = 0, line;
	int rc = bb_read_own_file(path, FILE_MAX_BYTES, &text, &len, err);

	if (rc)
		return rc;
	line = strcspn(text, "\n");
	if (!line || line >= size || line + 1 < len || strlen(text) != len || *text == '.' ||
	    memchr(text, '/', line))
		rc = bb_fail(err, -EINVAL,
			     "%s: not a baseline: expected the id of a run and nothing else (save "
			     "it again with --save-baseline)",
			     path);
	if (!rc)
		snprintf(ret_id, size, "%.*s", (int)line, text);
	free(text);
	return rc;
}

/*
 * The argument for bb_store__read() that `which` stands for, to be freed: the path of the run when
 * `which` is a baseline's name, else `which` itself (a path, an id, the beginning of one,
 * "latest"). -ENOENT when the baseline's run is not stored any more, -EINVAL when the baseline's
 * file holds no id, other -errno.
 */
static int resolve(const char *which, const char *dir, char **ret_run, struct bb_err *err)
{
	char id[FILE_MAX_BYTES], *file;
	struct stat st;
	int rc = -ENOENT;

	if (is_name(which)) {
		if (asprintf(&file, "%s/" FOLDER "/%s", dir, which) < 0)
			return bb_fail_nomem(err);
		if (!lstat(file, &st))
			rc = read_id(file, id, sizeof(id), err);
		else if (errno != ENOENT && errno != ENOTDIR)
			rc = bb_fail(err, -errno, "%s: %s", file, strerror(errno));
		free(file);
		if (rc && rc != -ENOENT)
			return rc;
	}
	*ret_run = rc ? strdup(which) : run_path(dir, id);
	if (!*ret_run)
		return bb_fail_nomem(err);
	if (!rc && access(*ret_run, F_OK))
		return bb_fail(err, -ENOENT,
			       "the baseline '%s' is the run %s, which is not in %s any more (save "
			       "it again with --save-baseline)",
			       which, id, dir);
	return 0;
}

/* "a, b, c", or "none", cut to the room there is. In the order of the folder: enough for a hint. */
static void list_names(const char *dir, char *text, size_t size)
{
	char path[4096];
	const struct dirent *e;
	size_t used = 0;
	DIR *d;

	snprintf(text, size, "none");
	snprintf(path, sizeof(path), "%s/" FOLDER, dir);
	d = opendir(path);
	while (d && (e = readdir(d)) && used < size)
		if (is_name(e->d_name))
			used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
						 e->d_name);
	if (d)
		closedir(d);
}

int bb_baseline__read(const char *which, const char *dir, struct bb_report **ret_report,
		      struct bb_err *err)
{
	struct bb_err own = {0};
	char names[512], *run = NULL;
	int rc = resolve(which, dir, &run, &own);

	if (!rc) {
		rc = bb_store__read(run, dir, ret_report, &own);
		if (rc == -ENOENT && is_name(which) && !strcmp(run, which)) {
			list_names(dir, names, sizeof(names));
			bb_fail(err, rc, "%.2000s. Baselines saved there: %s", own.msg, names);
			free(run);
			return rc;
		}
	}
	free(run);
	if (rc && err)
		*err = own;
	return rc;
}
