/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* Reads a whole regular file. `*ret_data` receives its bytes and a NUL; free() it. `*ret_len` does
 * not count the NUL. Returns 0, or -errno with a message; -EFBIG if the file has more than `max`
 * bytes. */
int bb_read_file(const char *path, size_t max, char **ret_data, size_t *ret_len,
		 struct bb_err *err);

/* Like bb_read_file(), but follows no symbolic link of another user (bb_own__open()). */
int bb_read_own_file(const char *path, size_t max, char **ret_data, size_t *ret_len,
		     struct bb_err *err);

/* Like bb_read_file(), but reads `fd`, closes it, and sets no message. `fd` may be the -errno with
 * which opening the file failed. */
int bb_read_and_close(int fd, size_t max, char **ret_data, size_t *ret_len);

/* Like bb_read_file() without a message, for files of /proc, whose size stat(2) does not tell. */
int bb_read_proc(const char *path, size_t max, char **ret_data, size_t *ret_len);

/* Lists an open folder and closes it. (*ret_names)[*ret_n] receives the names that end in `suffix`,
 * sorted and without the suffix. Hidden names are left out. The caller calls bb_names_free(). `fd`
 * may be the -errno with which opening the folder failed. Returns 0 or -errno. */
int bb_list_and_close(int fd, const char *suffix, char ***ret_names, size_t *ret_n);
void bb_names_free(char **names, size_t n);

/* For qsort(3) of an array of char *. */
int bb_by_text(const void *a, const void *b);

int bb_write_all(int fd, const void *data, size_t len);

/* Like open(2) with O_CLOEXEC. Returns a descriptor or -errno. */
int bb_open(const char *path, int flags);

/* Opens a regular file for reading, and never a device or FIFO. Never waits. `flags` is 0 or
 * O_NOFOLLOW. Returns a descriptor or -errno; -EINVAL if `path` is not a regular file. */
int bb_open_regular(const char *path, int flags, struct stat *ret_st);

/* Looks for the file `name` in the folders "A:B:C". `ret_path` receives the first path for which
 * access(2) allows `mode`. `folders` may be NULL. Returns false if there is no such path, or if
 * none fits into `size` bytes. */
bool bb_find_in_folders(const char *folders, const char *name, int mode, char *ret_path,
			size_t size);

/* True if `a` and `b` are stats of the same file, and the file was not changed between them. */
bool bb_is_unchanged(const struct stat *a, const struct stat *b);

/* Closes `*fd` unless it is -1, and sets it to -1. */
void bb_close(int *fd);

/* Returns the folder of the running program, without a trailing slash; free() it. Returns NULL
 * without /proc. Later calls return the first result, because in a chroot the kernel reports
 * another path once the process has its own mounts. */
char *bb_program_dir(void);

/* The bb_own__ functions open files in folders that another user may have made, such as results/ in
 * a checked-out tree. They follow a symbolic link only if it belongs to the caller or to root.
 * Otherwise another user could choose by a link which of the caller's files is written. They open
 * each part of a path relative to the folder before it, so a link that is added meanwhile is not
 * followed either. */

/* Like open(2) with O_CLOEXEC; a new file gets the mode 0600. Returns -errno, and -ELOOP at a link
 * of another user. */
int bb_own__open(const char *path, int flags);

/* Makes the folder `path` and missing parents. Returns a descriptor of the folder or -errno. */
int bb_own__make_dirs(const char *path);

/* Like strerror(3), for errors of the bb_own__ functions. */
const char *bb_own__strerror(int error);

/* Removes temporary files and folders that killed processes left in the folder `dir_fd`. Every
 * process locks its temporary files (flock) until it ends. So this function first locks `fd`, our
 * temporary file or folder `name`. Then it removes those whose names differ from `name` only in the
 * last `n_random` characters, if they are unlocked, of the same owner and type, and at least a
 * minute old. Errors are ignored. */
void bb_leftover__lock_and_remove_others(int dir_fd, const char *name, size_t n_random, int fd);

/* A new file that gets its final name only when it is complete. */
struct bb_new_file {
	int dir_fd, fd; /* dir_fd: folder of the file; fd: for writing */
	const char *name;
	char temp[NAME_MAX + 1]; /* hidden name until the file is complete */
};

/* Makes the file under a hidden name. `dir_fd` and `name` are borrowed until bb_new_file__finish().
 * Removes temporary files that killed processes left for the same `name`. Returns 0 or -errno. */
int bb_new_file__open(int dir_fd, const char *name, mode_t mode, struct bb_new_file *ret_file);

/* Closes the file and gives it its final name, unless `rc`, the result of writing it, is an error.
 * If a file of that name exists, it is replaced if `replaces`, else the result is -EEXIST. If not
 * `synced`, the file may be lost when the machine fails. Returns 0 or -errno. After an error the
 * new file is removed. */
int bb_new_file__finish(struct bb_new_file *f, int rc, bool replaces, bool synced);
