/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/store.h"

#include <assert.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/own.h"
#include "base/parse.h"
#include "store/run_json.h"

#define SUFFIX ".json"
#define SCHEMA "schema.json"
#define FILE_MAX_BYTES                                                                             \
	(256L << 20) /* ten million samples take a few; more is somebody else's file */

/* --- writing --- */

static const char *remedy(int error)
{
	switch (error) {
	case ENOSPC:
	case EDQUOT: return "make room there, or choose another folder with --results DIR";
	case EACCES:
	case EPERM:
	case EROFS:
		return "choose a folder that you may write to with --results DIR, or store nothing "
		       "with --no-store";
	case ENOTDIR:
		return "part of that path is a file: choose another folder with --results DIR";
	case ELOOP: return "remove the link, or choose another folder with --results DIR";
	case EEXIST: return "stored runs are never overwritten: move that file away, or run again";
	default:
		return "choose another folder with --results DIR, or store nothing with --no-store";
	}
}

static int fail_write(struct bb_err *err, int error, const char *path)
{
	return bb_fail(err, -error, "%s: %s; nothing was stored (%s)", path,
		       bb_own__strerror(error), remedy(error));
}

static int write_all(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		text += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Rename without overwriting; link() where the file system cannot (renameat2(2): EINVAL, old
 * kernels ENOSYS). */
static int publish(int dir_fd, const char *temp, const char *name)
{
	if (!renameat2(dir_fd, temp, dir_fd, name, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (linkat(dir_fd, temp, dir_fd, name, 0))
		return -errno;
	unlinkat(dir_fd, temp, 0);
	return 0;
}

/* The whole of `text` as a hidden file beside `name`, whose own name goes to temp[NAME_MAX + 1]; on
 * failure there is none. */
static int write_temp(int dir_fd, const char *name, const char *text, size_t len, bool synced,
		      char *temp)
{
	int fd, rc;

	if (snprintf(temp, NAME_MAX + 1, ".%s.%d.tmp", name, (int)getpid()) > NAME_MAX)
		return -ENAMETOOLONG;
	fd = openat(dir_fd, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	rc = write_all(fd, text, len);
	if (!rc && synced && fsync(fd))
		rc = -errno;
	if (close(fd) && !rc)
		rc = -errno;
	if (rc)
		unlinkat(dir_fd, temp, 0);
	return rc;
}

/* The whole of `text` as the file `name` of the folder, or no file. */
static int store_text(int dir_fd, const char *name, const char *text, size_t len)
{
	char temp[NAME_MAX + 1];
	int rc = write_temp(dir_fd, name, text, len, true, temp);

	if (rc)
		return rc;
	rc = publish(dir_fd, temp, name);
	if (rc) {
		unlinkat(dir_fd, temp, 0);
		return rc;
	}
	/* Some file systems cannot sync a folder (EINVAL); the file itself is on the disk by now.
	 */
	if (fsync(dir_fd) && errno != EINVAL) {
		rc = -errno;
		unlinkat(dir_fd, name, 0);
	}
	return rc;
}

int bb_store__replace(const char *dir, const char *name, const void *data, size_t len, bool synced)
{
	int dir_fd = bb_own__openat(AT_FDCWD, dir, O_RDONLY | O_DIRECTORY, 0), rc;
	char temp[NAME_MAX + 1];
	sigset_t all, before;

	if (dir_fd < 0)
		return dir_fd;
	/* Ctrl-C waits until there is no temporary file. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	rc = write_temp(dir_fd, name, data, len, synced, temp);
	if (!rc && renameat(dir_fd, temp, dir_fd, name)) {
		rc = -errno;
		unlinkat(dir_fd, temp, 0);
	}
	if (!rc && synced && fsync(dir_fd) && errno != EINVAL) /* some cannot sync a folder */
		rc = -errno;
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(dir_fd);
	return rc;
}

int bb_store__write_text(const char *dir, const char *name, const char *text, size_t len,
			 char **ret_path, struct bb_err *err)
{
	char *path = NULL;
	int dir_fd, rc;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		return bb_fail_nomem(err);
	dir_fd = bb_own__make_dirs(AT_FDCWD, dir);
	if (dir_fd < 0) {
		rc = fail_write(err, -dir_fd, dir);
	} else {
		rc = store_text(dir_fd, name, text, len);
		close(dir_fd);
		if (rc)
			fail_write(err, -rc, path);
	}
	if (rc || !ret_path)
		free(path);
	else
		*ret_path = path;
	return rc;
}

int bb_store__write(const char *dir, const struct bb_report *r, char **ret_path, struct bb_err *err)
{
	char *text = NULL, *name = NULL;
	size_t len;
	int rc;

	assert(r->id && *r->id && *r->id != '.' && !strchr(r->id, '/'));
	if (bb_run_json__compose(r, &text, &len))
		return bb_fail_nomem(err);
	if (asprintf(&name, "%s" SUFFIX, r->id) < 0) {
		free(text);
		return bb_fail_nomem(err);
	}
	rc = bb_store__write_text(dir, name, text, len, ret_path, err);
	free(name);
	free(text);
	return rc;
}

/* --- listing --- */

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The ids that the names of files stand for. */
static int list_dir(DIR *d, char ***ids, size_t *n)
{
	const struct dirent *e;

	while ((errno = 0, e = readdir(d))) {
		size_t len = strlen(e->d_name), suffix = strlen(SUFFIX);
		char **kept;

		if (e->d_name[0] == '.' || len <= suffix ||
		    strcmp(e->d_name + len - suffix, SUFFIX) || !strcmp(e->d_name, SCHEMA))
			continue;
		kept = bb_append(ids, n, sizeof(*kept));
		if (kept)
			*kept = strndup(e->d_name, len - suffix);
		if (!kept || !*kept)
			return -ENOMEM;
	}
	return -errno;
}

int bb_store__list(const char *dir, char ***ret_ids, size_t *ret_n, struct bb_err *err)
{
	int fd = bb_own__openat(AT_FDCWD, dir, O_RDONLY | O_DIRECTORY, 0), rc;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	char **ids = NULL;
	size_t n = 0;

	if (!d && fd != -ENOENT) {
		rc = fd < 0 ? fd : -ENOMEM;
		if (fd >= 0)
			close(fd);
		return bb_fail(err, rc,
			       "%s: %s: the folder of stored runs cannot be read (--results DIR "
			       "chooses another)",
			       dir, bb_own__strerror(-rc));
	}
	if (d) {
		rc = list_dir(d, &ids, &n);
		closedir(d);
		if (rc) {
			bb_store__list_free(ids, n);
			return bb_fail(err, rc, "%s: cannot be listed: %s", dir, strerror(-rc));
		}
	}
	if (n)
		qsort(ids, n, sizeof(*ids), by_name);
	*ret_ids = ids;
	*ret_n = n;
	return 0;
}

void bb_store__list_free(char **ids, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(ids[i]);
	free(ids);
}

/* --- reading --- */

static int read_path(const char *path, struct bb_report **ret_report, struct bb_err *err)
{
	/* a FIFO shall not hang us */
	int fd = bb_own__openat(AT_FDCWD, path, O_RDONLY | O_NONBLOCK, 0), rc;
	struct stat st;
	FILE *in;

	if (fd < 0)
		return bb_fail(err, fd, "%s: %s", path, bb_own__strerror(-fd));
	if (fstat(fd, &st)) {
		rc = bb_fail(err, -errno, "%s: %s", path, strerror(errno));
		close(fd);
		return rc;
	}
	if (!S_ISREG(st.st_mode) || st.st_size > FILE_MAX_BYTES) {
		close(fd);
		return bb_fail(err, -EINVAL, "%s: not a bpfbench run: it is %s", path,
			       S_ISREG(st.st_mode) ? "larger than any" : "not a file");
	}
	in = fdopen(fd, "r");
	if (!in) {
		close(fd);
		return bb_fail_nomem(err);
	}
	rc = bb_run_json__read(in, path, ret_report, err);
	fclose(in);
	return rc;
}

/* "20261121T131700Z-...": runs that we stored, as against baselines and samples that people named.
 */
static const char form[] = "########T######Z-";

static bool has_time(const char *id)
{
	for (size_t i = 0; form[i]; i++)
		if (form[i] == '#' ? !isdigit((unsigned char)id[i]) : id[i] != form[i])
			return false;
	return true;
}

/* Of those that began in the same second, the one whose nanoseconds, at the end of its id, are the
 * most. */
static int pick_latest(char **ids, size_t n, const char *dir, const char **ret_id,
		       struct bb_err *err)
{
	while (n && !has_time(ids[n - 1]))
		n--;
	if (!n)
		return bb_fail(err, -ENOENT,
			       "%s: no runs are stored there yet (a run stores itself; --results "
			       "DIR looks elsewhere)",
			       dir);
	*ret_id = ids[--n];
	while (n-- && !strncmp(ids[n], *ret_id, strlen(form)))
		if (strcmp(strrchr(ids[n], '-'), strrchr(*ret_id, '-')) > 0)
			*ret_id = ids[n];
	return 0;
}

static int pick_prefix(char **ids, size_t n, const char *which, const char *dir,
		       const char **ret_id, struct bb_err *err)
{
	size_t hits = 0, first = 0;
	const char *near;

	for (size_t i = 0; i < n; i++)
		if (!strncmp(ids[i], which, strlen(which)) && !hits++)
			first = i;
	if (hits == 1) {
		*ret_id = ids[first];
		return 0;
	}
	if (hits)
		return bb_fail(err, -ENOTUNIQ,
			       "'%s' fits %zu runs in %s, among them %s and %s: give more of the "
			       "id",
			       which, hits, dir, ids[first], ids[first + 1]);
	near = bb_nearest(which, (const char *const *)ids, n);
	return bb_fail(err, -ENOENT,
		       "no run '%s' in %s (%zu stored there%s%s%s): give an id, its beginning, a "
		       "path, or 'latest'",
		       which, dir, n, near ? "; did you mean '" : "", near ? near : "",
		       near ? "'?" : "");
}

/* `which` as a file by its own name: in `dir`, in `dir` with the suffix, or here. */
static int find_file(const char *which, const char *dir, char **ret_path)
{
	const char *const parts[][3] = {{dir, "/", ""}, {dir, "/", SUFFIX}, {"", "", ""}};
	struct stat st;

	*ret_path = NULL;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		char *path;

		if (asprintf(&path, "%s%s%s%s", parts[i][0], parts[i][1], which, parts[i][2]) < 0)
			return -ENOMEM;
		if (!stat(path, &st) && S_ISREG(st.st_mode)) {
			*ret_path = path;
			return 0;
		}
		free(path);
	}
	return 0;
}

static int resolve(const char *which, const char *dir, char **ret_path, struct bb_err *err)
{
	const char *id = "";
	char **ids;
	size_t n;
	int rc = bb_store__list(dir, &ids, &n, err);

	if (rc)
		return rc;
	rc = !strcmp(which, "latest") ? pick_latest(ids, n, dir, &id, err)
				      : pick_prefix(ids, n, which, dir, &id, err);
	if (!rc && asprintf(ret_path, "%s/%s" SUFFIX, dir, id) < 0) {
		*ret_path = NULL;
		rc = bb_fail_nomem(err);
	}
	bb_store__list_free(ids, n);
	return rc;
}

int bb_store__read(const char *which, const char *dir, struct bb_report **ret_report,
		   struct bb_err *err)
{
	char *path = NULL;
	int rc = 0;

	if (strchr(which, '/'))
		return read_path(which, ret_report, err);
	if (!*which)
		return bb_fail(err, -EINVAL,
			       "which run? Give an id, its beginning, a path, or 'latest'");
	if (strcmp(which, "latest") && find_file(which, dir, &path))
		return bb_fail_nomem(err);
	if (!path)
		rc = resolve(which, dir, &path, err);
	if (!rc)
		rc = read_path(path, ret_report, err);
	free(path);
	return rc;
}
