/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/io.h"

#include <sys/file.h>
#include <sys/random.h>

#include "base/caller.h"
#include "base/text.h"

#define MAX_LINKS 40 /* the kernel's MAXSYMLINKS */
/* least age of a temporary file that is removed, s; a younger one may not be locked yet */
#define LEAST_AGE_S 60

/* Reads a file to its end and closes `fd`, which may be the -errno of opening it. `is_kernels` is
 * true for a file of the kernel, as in /proc, whose size stat(2) does not tell. */
static int read_and_close(int fd, bool is_kernels, size_t max, char **ret_data, size_t *ret_len)
{
	size_t len = 0, size = 0, chunk = 65536;
	struct stat st = {.st_mode = S_IFREG};
	char *data = NULL;
	ssize_t n = 1;
	int rc = fd < 0 ? fd : !is_kernels && fstat(fd, &st) ? -errno : 0;

	if (!rc && !S_ISREG(st.st_mode))
		rc = S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
	if (!rc && (size_t)st.st_size > max)
		rc = -EFBIG;
	if (!rc && !is_kernels)
		chunk = (size_t)st.st_size + 1;
	while (!rc && n) {
		bb_reserve(&data, len + chunk + 1, &size, 1);
		n = read(fd, data + len, size - len - 1);
		if (n < 0 && errno != EINTR)
			rc = -errno;
		len += n > 0 ? (size_t)n : 0;
		if (len > max)
			rc = -EFBIG;
		chunk = 1;
	}
	bb_close(&fd);
	if (rc) {
		free(data);
		return rc;
	}
	data[len] = '\0';
	*ret_data = data;
	*ret_len = len;
	return 0;
}

int bb_read_and_close(int fd, size_t max, char **ret_data, size_t *ret_len)
{
	return read_and_close(fd, false, max, ret_data, ret_len);
}

int bb_open(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int bb_read_proc(const char *path, size_t max, char **ret_data, size_t *ret_len)
{
	return read_and_close(bb_open(path, O_RDONLY | O_NONBLOCK), true, max, ret_data, ret_len);
}

/* `path` is for the message. */
static int read_or_say(int fd, const char *path, size_t max, char **ret_data, size_t *ret_len,
		       struct bb_err *err)
{
	int rc = read_and_close(fd, false, max, ret_data, ret_len);

	return rc ? bb_fail(err, rc, "%s: %s", path,
			    rc == -EINVAL ? "not a regular file" : bb_own__strerror(-rc))
		  : 0;
}

int bb_read_file(const char *path, size_t max, char **ret_data, size_t *ret_len, struct bb_err *err)
{
	return read_or_say(bb_open(path, O_RDONLY | O_NONBLOCK), path, max, ret_data, ret_len, err);
}

int bb_read_own_file(const char *path, size_t max, char **ret_data, size_t *ret_len,
		     struct bb_err *err)
{
	return read_or_say(bb_own__open(path, O_RDONLY | O_NONBLOCK), path, max, ret_data, ret_len,
			   err);
}

int bb_by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int bb_list_and_close(int fd, const char *suffix, char ***ret_names, size_t *ret_n)
{
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	int rc = fd < 0 ? fd : d ? 0 : -errno;
	const struct dirent *e;
	char **names = NULL;
	size_t n = 0;

	if (!d)
		bb_close(&fd);
	while (!rc && (errno = 0, e = readdir(d))) {
		int len = (int)(strlen(e->d_name) - strlen(suffix));

		if (e->d_name[0] != '.' && bb_ends_in(e->d_name, suffix))
			BB_PUSH(names, n, bb_asprintf("%.*s", len, e->d_name));
	}
	if (!rc)
		rc = -errno;
	if (d)
		closedir(d);
	if (rc) {
		bb_names_free(names, n);
		return rc;
	}
	if (n)
		qsort(names, n, sizeof(*names), bb_by_text);
	*ret_names = names;
	*ret_n = n;
	return 0;
}

void bb_names_free(char **names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(names[i]);
	free(names);
}

int bb_write_all(int fd, const void *data, size_t len)
{
	for (const char *at = data, *end = at + len; at < end;) {
		ssize_t n = write(fd, at, (size_t)(end - at));

		if (n < 0 && errno != EINTR)
			return -errno;
		at += n < 0 ? 0 : n;
	}
	return 0;
}

int bb_open_regular(const char *path, int flags, struct stat *ret_st)
{
	int found = bb_open(path, O_PATH | flags), rc = found < 0 ? found : 0;
	char again[64];

	if (!rc && fstat(found, ret_st))
		rc = -errno;
	if (!rc && !S_ISREG(ret_st->st_mode))
		rc = -EINVAL;
	if (!rc) {
		snprintf(again, sizeof(again), "/proc/self/fd/%d", found);
		rc = bb_open(again, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	}
	bb_close(&found);
	return rc;
}

bool bb_find_in_folders(const char *folders, const char *name, int mode, char *ret_path,
			size_t size)
{
	while (folders && *folders) {
		size_t len = strcspn(folders, ":");

		if (len &&
		    (size_t)snprintf(ret_path, size, "%.*s/%s", (int)len, folders, name) < size &&
		    !access(ret_path, mode))
			return true;
		folders += len + (folders[len] == ':');
	}
	return false;
}

bool bb_is_unchanged(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       !memcmp(&a->st_mtim, &b->st_mtim, sizeof(a->st_mtim)) &&
	       !memcmp(&a->st_ctim, &b->st_ctim, sizeof(a->st_ctim));
}

void bb_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

char *bb_program_dir(void)
{
	static char dir[PATH_MAX];

	if (!*dir) {
		ssize_t n = readlink("/proc/self/exe", dir, sizeof(dir) - 1);

		if (n < 0)
			return NULL;
		dir[n] = '\0';
		char *slash = strrchr(dir, '/');
		if (slash)
			*slash = '\0';
	}
	return bb_strdup(dir);
}

struct walk {
	bool makes_dirs;
	unsigned int n_links;
};

static int walk_path(struct walk *w, int dir_fd, const char *path, int flags);

/* Opens one part of a path. If it is a symbolic link, opens the link's target. */
static int step(struct walk *w, int dir_fd, const char *name, int flags)
{
	int not_made = w->makes_dirs && mkdirat(dir_fd, name, 0755) ? errno : 0;
	int fd = openat(dir_fd, name, flags | O_NOFOLLOW | O_CLOEXEC, 0600), rc;
	char target[PATH_MAX];
	struct stat st;
	ssize_t n = 0;
	uid_t uid;
	gid_t gid;

	if (fd >= 0)
		return fd;
	if (errno == ENOENT && not_made && not_made != EEXIST)
		return -not_made;
	/* For a symbolic link, openat() fails with ELOOP, or with ENOTDIR if O_DIRECTORY is set. */
	if (errno != ELOOP && errno != ENOTDIR)
		return -errno;
	fd = openat(dir_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	rc = fd < 0 ? -errno : 0;
	bb_caller(&uid, &gid);
	if (!rc && fstat(fd, &st))
		rc = -errno;
	if (!rc && !S_ISLNK(st.st_mode))
		rc = -ENOTDIR;
	else if (!rc && ((st.st_uid != uid && st.st_uid != 0) || ++w->n_links > MAX_LINKS))
		rc = -ELOOP;
	if (!rc) {
		n = readlinkat(fd, "", target, sizeof(target) - 1);
		rc = n < 0 ? -errno : 0;
	}
	bb_close(&fd);
	if (rc)
		return rc;
	target[n] = '\0';
	return walk_path(w, dir_fd, target, flags);
}

/* Opens the folders of a path one by one, and then its last part with `flags`. */
static int walk_path(struct walk *w, int dir_fd, const char *path, int flags)
{
	int at = openat(dir_fd, *path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	const char *part = path + strspn(path, "/");
	char name[NAME_MAX + 1];

	if (at < 0)
		return -errno;
	if (!*part && *path) /* the path is "/" */
		part = ".";
	do {
		size_t len = strcspn(part, "/");
		const char *next = part + len + strspn(part + len, "/");
		int fd = len ? -ENAMETOOLONG : -ENOENT;

		if (len && len < sizeof(name)) {
			memcpy(name, part, len);
			name[len] = '\0';
			fd = step(w, at, name, *next ? O_PATH | O_DIRECTORY : flags);
		}
		close(at);
		at = fd;
		part = next;
	} while (at >= 0 && *part);
	return at;
}

int bb_own__open(const char *path, int flags)
{
	struct walk w = {0};

	return walk_path(&w, AT_FDCWD, path, flags);
}

int bb_own__make_dirs(const char *path)
{
	struct walk w = {.makes_dirs = true};

	return walk_path(&w, AT_FDCWD, path, O_RDONLY | O_DIRECTORY);
}

const char *bb_own__strerror(int error)
{
	return error == ELOOP ? "a symbolic link that is not the caller's leads there, and is not "
				"followed"
			      : strerror(error);
}

/* Removes the file or folder `name` if it is unlocked, a minute old, and has the owner and file
 * type of `like`. A folder with a folder in it stays, because we never make one. */
static void remove_one(int dir_fd, const char *name, const struct stat *like)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	const struct dirent *e;
	DIR *dir = NULL;
	struct stat st;

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && st.st_uid == like->st_uid && st.st_ino != like->st_ino &&
	    (st.st_mode & S_IFMT) == (like->st_mode & S_IFMT) &&
	    time(NULL) - st.st_mtime >= LEAST_AGE_S && !flock(fd, LOCK_EX | LOCK_NB)) {
		if (S_ISDIR(st.st_mode))
			dir = fdopendir(dup(fd));
		while (dir && (e = readdir(dir)))
			if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
				unlinkat(fd, e->d_name, 0);
		if (dir)
			closedir(dir);
		unlinkat(dir_fd, name, S_ISDIR(st.st_mode) ? AT_REMOVEDIR : 0);
	}
	close(fd);
}

void bb_leftover__lock_and_remove_others(int dir_fd, const char *name, size_t n_random, int fd)
{
	size_t prefix = strlen(name) - n_random;
	const struct dirent *e;
	struct stat like;

	flock(fd, LOCK_EX | LOCK_NB);
	if (fstat(fd, &like))
		return;
	int again = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = again < 0 ? NULL : fdopendir(again);
	if (!dir)
		bb_close(&again);
	while (dir && (e = readdir(dir)))
		if (strlen(e->d_name) == strlen(name) && !strncmp(e->d_name, name, prefix))
			remove_one(dir_fd, e->d_name, &like);
	if (dir)
		closedir(dir);
}

#define TAG_DIGITS 8

int bb_new_file__open(int dir_fd, const char *name, mode_t mode, struct bb_new_file *ret_file)
{
	struct bb_new_file *f = ret_file;
	uint32_t tag;

	*f = (struct bb_new_file){.dir_fd = dir_fd, .name = name};
	do {
		if (getrandom(&tag, sizeof(tag), 0) != sizeof(tag))
			return -errno;
		if (snprintf(f->temp, sizeof(f->temp), ".%s.%0*" PRIx32, name, TAG_DIGITS, tag) >=
		    (int)sizeof(f->temp))
			return -ENAMETOOLONG;
		f->fd = openat(dir_fd, f->temp,
			       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	} while (f->fd < 0 && errno == EEXIST);
	if (f->fd < 0)
		return -errno;
	bb_leftover__lock_and_remove_others(dir_fd, f->temp, TAG_DIGITS, f->fd);
	return 0;
}

int bb_new_file__finish(struct bb_new_file *f, int rc, bool replaces, bool synced)
{
	if (!rc && synced && fsync(f->fd))
		rc = -errno;
	if (f->fd >= 0 && close(f->fd) && !rc)
		rc = -errno;
	if (!rc && replaces) {
		rc = renameat(f->dir_fd, f->temp, f->dir_fd, f->name) ? -errno : 0;
	} else if (!rc && renameat2(f->dir_fd, f->temp, f->dir_fd, f->name, RENAME_NOREPLACE)) {
		/* Some file systems and kernels lack RENAME_NOREPLACE. There we use link(). */
		if ((errno != EINVAL && errno != ENOSYS) ||
		    linkat(f->dir_fd, f->temp, f->dir_fd, f->name, 0))
			rc = -errno;
		else
			unlinkat(f->dir_fd, f->temp, 0);
	}
	if (rc) {
		unlinkat(f->dir_fd, f->temp, 0);
		return rc;
	}
	/* Writes the new name to the disk. Some file systems cannot sync a folder (EINVAL). */
	if (synced && fsync(f->dir_fd) && errno != EINVAL) {
		rc = -errno;
		if (!replaces)
			unlinkat(f->dir_fd, f->name, 0);
	}
	return rc;
}
