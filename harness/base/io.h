/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* Reads a whole regular file into memory and adds a NUL; free() it. Returns 0, or -errno with a
 * message that has the path and the reason; -EFBIG beyond `max` bytes. */
int bb_read_file(const char *path, size_t max, char **ret_data, size_t *ret_len,
		 struct bb_err *err);

/* Reads a file as bb_read_file() does, but does not follow a symbolic link of another user (see
 * bb_own__openat()). */
int bb_read_own_file(const char *path, size_t max, char **ret_data, size_t *ret_len,
		     struct bb_err *err);

/* Reads an open regular file as bb_read_file() does, and closes it. `fd` < 0 is the -errno of
 * opening it. Returns 0 or -errno. */
int bb_read_and_close(int fd, size_t max, char **ret_data, size_t *ret_len);

/* Reads a file of unknown size, as in /proc, into memory and adds a NUL; free() it. Never waits.
 * Returns 0 or -errno; -EFBIG beyond `max` bytes. */
int bb_read_proc(const char *path, size_t max, char **ret_data, size_t *ret_len);

/*
 * Lists the names in an open folder that end in `suffix`, sorted and without the suffix, and closes
 * the folder. Hidden names are left out. `fd` < 0 is the -errno of opening it. Returns 0 or -errno.
 */
int bb_list_and_close(int fd, const char *suffix, char ***ret_names, size_t *ret_n);
void bb_names_free(char **names, size_t n);

/* Compares two char *, for qsort(3). */
int bb_by_text(const void *a, const void *b);

/* Writes everything, across signals. Returns 0 or -errno. */
int bb_write_all(int fd, const void *data, size_t len);

/*
 * Opens a regular file for reading. Never opens a device or FIFO, and never waits. `flags` is 0 or
 * O_NOFOLLOW. `*ret_st` receives the file's stat. Returns a descriptor or -errno; -EINVAL if it is
 * not a regular file.
 */
int bb_open_regular(const char *path, int flags, struct stat *ret_st);

/* Looks for `name` in the folders "A:B:C" and takes the first path on which access(2) allows
 * `mode`. `folders` may be NULL; empty names in it are left out. Returns false if there is no such
 * path or it is too long. */
bool bb_find_in_folders(const char *folders, const char *name, int mode, char *ret_path,
			size_t size);

/* True if both describe the same file, and the file was not written to between the two calls of
 * stat(). */
bool bb_is_unchanged(const struct stat *a, const struct stat *b);

/* Closes the descriptor unless it is -1, and sets it to -1. */
void bb_close(int *fd);

/*
 * Returns the folder of the running program, without a trailing slash; free() it. NULL without
 * /proc. Later calls return what the first call found, because in a chroot the kernel reports
 * another path once the process has its own mounts.
 */
char *bb_program_dir(void);

/*
 * Files in folders that another user may have made, such as results/ in a tree that was checked
 * out. A symbolic link in a path is followed only if it belongs to the caller or to root. Otherwise
 * its maker could choose which of the caller's files is written. The path is walked by descriptors,
 * so a link added meanwhile is not followed either.
 */

/* Opens a file as openat(2) does, with O_CLOEXEC. Returns a descriptor or -errno; -ELOOP if a
 * forbidden link is in the path. */
int bb_own__openat(int dir_fd, const char *path, int flags, mode_t mode);

/* Makes the folder `path` and its parents as needed. Returns a descriptor of the folder or
 * -errno. */
int bb_own__make_dirs(int dir_fd, const char *path);

/* Returns the text for `error`, a positive errno of the bb_own__ functions. */
const char *bb_own__strerror(int error);

/*
 * Removes temporary files and folders that killed processes left in `dir_fd`. Every process locks
 * its own (flock) until it ends. So this first locks `fd`, our temporary file or folder `name`.
 * Then it removes the unlocked ones of the same owner whose names differ from `name` only in the
 * last `n_random` characters, if they are at least a minute old. Failures to remove are ignored.
 */
void bb_leftover__lock_and_remove_others(int dir_fd, const char *name, size_t n_random, int fd);

/* A new file that appears in its folder complete or not at all. Until it is complete, it has a
 * hidden name. */
struct bb_new_file {
	int dir_fd, fd; /* dir_fd: its folder; fd: descriptor to write to, -1: closed already */
	const char *name;
	char temp[NAME_MAX + 1];
};

/* Makes the new file under its hidden name. `dir_fd` and `name` are borrowed until
 * bb_new_file__finish(). Removes leftovers of the same name. Returns 0 or -errno. */
int bb_new_file__open(int dir_fd, const char *name, mode_t mode, struct bb_new_file *ret_file);

/* Gives the file its final name, unless `rc`, the result of writing it, is an error. With
 * `replaces`, the file replaces a file of that name; without it, such a file gives -EEXIST. With
 * `synced`, the file is on the disk when this returns; without it, the file may be lost when the
 * machine fails. Returns 0 or -errno; after an error the new file is removed. */
int bb_new_file__finish(struct bb_new_file *f, int rc, bool replaces, bool synced);
