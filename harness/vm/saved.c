/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "vm/saved.h"

#include "vm/initramfs.h"
#include "vm/machine.h"

static void write_identity(void *out, const char *path)
{
	struct stat st = {0};

	stat(path, &st);
	fprintf(out, "%s %ju %jd.%09ld\n", path, (uintmax_t)st.st_size, (intmax_t)st.st_mtim.tv_sec,
		st.st_mtim.tv_nsec);
}

/* Writes path, size and time of each file that a saved guest depends on. */
static int make_key(const struct bb_kernel *k, char *key)
{
	char qemu[PATH_MAX] = "";

	memset(key, 0, BB_SAVED_KEY_BYTES);
	FILE *out = fmemopen(key, BB_SAVED_KEY_BYTES, "w");
	if (!out)
		return -ENOMEM;
	bb_find_in_folders(getenv("PATH"), BB_QEMU, X_OK, qemu, sizeof(qemu));
	fprintf(out, "bpfbench guest\n");
	write_identity(out, k->image);
	write_identity(out, qemu);
	bb_initramfs__each_file(write_identity, out);
	return fclose(out) ? -errno : 0;
}

int bb_saved_guest__open(const struct bb_kernel *k)
{
	char *keys = bb_calloc(2, BB_SAVED_KEY_BYTES);
	int rc = make_key(k, keys);
	struct stat st;
	int fd = rc ? rc : bb_open_regular(k->saved, O_NOFOLLOW, &st), kept;

	if (fd >= 0 && (st.st_uid != geteuid() ||
			pread(fd, keys + BB_SAVED_KEY_BYTES, BB_SAVED_KEY_BYTES, 0) !=
				(ssize_t)BB_SAVED_KEY_BYTES ||
			memcmp(keys, keys + BB_SAVED_KEY_BYTES, BB_SAVED_KEY_BYTES)))
		bb_close(&fd);
	free(keys);
	/* QEMU inherits the duplicate, because dup() does not set O_CLOEXEC */
	kept = fd < 0 ? -1 : dup(fd);
	bb_close(&fd);
	return kept < 0 ? -ENOENT : kept;
}

int bb_new_guest__begin(const struct bb_kernel *k, struct bb_new_guest *ret_guest,
			struct bb_err *err)
{
	char *key = bb_calloc(1, BB_SAVED_KEY_BYTES);
	char *folder = bb_strdup(k->saved), *slash = strrchr(folder, '/');
	struct bb_new_guest *g = ret_guest;
	int dir_fd, rc = make_key(k, key);

	*g = (struct bb_new_guest){.fd = -1};
	if (!rc) {
		/* in the cache or, if that fails, in memory */
		*slash = '\0';
		dir_fd = bb_own__make_dirs(folder);
		g->name = bb_strdup(slash + 1);
		g->is_kept = dir_fd >= 0 && !bb_new_file__open(dir_fd, g->name, 0600, &g->file);
		if (!g->is_kept && dir_fd >= 0)
			close(dir_fd);
		g->fd = g->is_kept ? dup(g->file.fd) : memfd_create("bpfbench-guest", 0);
		rc = g->fd < 0 ? -errno : bb_write_all(g->fd, key, BB_SAVED_KEY_BYTES);
	}
	free(folder);
	free(key);
	if (rc)
		rc = bb_new_guest__finish(g, bb_fail(err, rc, "%s: %m", k->saved), err);
	return rc;
}

int bb_new_guest__finish(struct bb_new_guest *g, int rc, struct bb_err *err)
{
	char path[48];
	int fd = -1;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", g->fd);
	if (!rc) {
		/* no O_CLOEXEC, because the shell that QEMU starts reads from it */
		fd = open(path, O_RDONLY);
		if (fd < 0)
			rc = bb_fail(err, -errno, "the saved guest cannot be read: %m");
	}
	bb_close(&g->fd);
	if (g->is_kept) {
		int dir_fd = g->file.dir_fd;
		int kept = bb_new_file__finish(&g->file, rc, true, false);

		if (kept && !rc)
			rc = bb_fail(err, kept, "the saved guest cannot be kept: %m");
		close(dir_fd);
	}
	free(g->name);
	*g = (struct bb_new_guest){.fd = -1};
	if (rc)
		bb_close(&fd);
	return rc ? rc : fd;
}
