/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BASE_IO_H
#define BB_BASE_IO_H

#include "base/err.h"
#include "base/std.h"

/* Reads a whole regular file into memory and adds a NUL; free() it. Returns -EFBIG beyond `max`
 * bytes. The message has the path and the reason. */
int bb_read_file(const char *path, size_t max, char **ret_data, size_t *ret_len,
		 struct bb_err *err);

/* Does the same, but does not follow another user's symbolic link (below). */
int bb_read_own_file(const char *path, size_t max, char **ret_data, size_t *ret_len,
		     struct bb_err *err);

/* Does the same with an open file, and closes it. `fd` < 0 is the -errno of opening it. */
int bb_read_and_close(int fd, size_t max, char **ret_data, size_t *ret_len);

/* Does the same with a file of unknown size, as in /proc. Never waits. */
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

/* Closes the descriptor unless it is -1, and sets it to -1. */
void bb_close(int *fd);

/*
 * Returns the folder of the running program, without a trailing slash, as the first call found it;
 * free() it. NULL without /proc. In a chroot the kernel reports another path once the process has
 * its own mounts.
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

/* Makes the folder and its parents as needed. Returns a descriptor or -errno. */
int bb_own__make_dirs(int dir_fd, const char *path);

/* Returns the text for an errno of these functions, 0 < error. */
const char *bb_own__strerror(int error);

/*
 * Handles temporary files and folders that a killed process left. A maker locks its own (flock) as
 * long as it exists. Locks `fd`, a temporary file or folder of ours in `dir_fd`. Removes older
 * unlocked ones of the same owner whose names differ only in the last `n_random` characters, if
 * they are a minute old. Ignores failures to remove.
 */
void bb_leftover__lock_and_remove_others(int dir_fd, const char *name, size_t n_random, int fd);

/* A file that appears complete or not at all. Until then it has a hidden name. */
struct bb_new_file {
	int dir_fd, fd; /* fd: where to write; -1: closed already */
	const char *name;
	char temp[NAME_MAX + 1];
};

/* Returns 0 or -errno. Folder and name are borrowed. Removes leftovers of the same name. */
int bb_new_file__open(int dir_fd, const char *name, mode_t mode, struct bb_new_file *ret_file);

/*
 * Puts the file in place, unless `rc`, the result of writing, is an error. Returns 0 or -errno;
 * after an error there is no file. It replaces a file of that name, or must be the first (-EEXIST).
 * Without a sync it may be lost when the machine fails.
 */
int bb_new_file__finish(struct bb_new_file *f, int rc, bool replaces, bool synced);

#endif
