/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BASE_IO_H
#define BB_BASE_IO_H

#include "base/err.h"
#include "base/std.h"

/*
 * A whole regular file into memory, NUL-terminated; free() it. `max` bytes at the most (-EFBIG).
 * The message names the path and the reason.
 */
int bb_read_file(const char *path, size_t max, char **ret_data, size_t *ret_len,
		 struct bb_err *err);

/* The same without following another user's symbolic link (below). */
int bb_read_own_file(const char *path, size_t max, char **ret_data, size_t *ret_len,
		     struct bb_err *err);

/* The same of an open file, which is closed; `fd` < 0 is the -errno of opening it. */
int bb_read_and_close(int fd, size_t max, char **ret_data, size_t *ret_len);

/* The same of a file that does not know its size, as those of /proc do not. It waits for nothing.
 */
int bb_read_proc(const char *path, size_t max, char **ret_data, size_t *ret_len);

/*
 * The names in an open folder, which is closed, that end in `suffix`, without it and in order;
 * hidden ones are left out. `fd` < 0 is the -errno of opening it. 0 or -errno.
 */
int bb_list_and_close(int fd, const char *suffix, char ***ret_names, size_t *ret_n);
void bb_names_free(char **names, size_t n);

/* The order of two char *, for qsort(3). */
int bb_by_text(const void *a, const void *b);

/* Write all of it, whatever signals come. 0 or -errno. */
int bb_write_all(int fd, const void *data, size_t len);

/*
 * Open a regular file for reading, and nothing else: a device or a FIFO is not even opened.
 * `flags`: 0 or O_NOFOLLOW. *ret_st is that of the file. It waits for nothing. The descriptor or
 * -errno, -EINVAL for anything but a regular file.
 */
int bb_open_regular(const char *path, int flags, struct stat *ret_st);

/* Close it, unless it is -1, and make it -1. */
void bb_close(int *fd);

/*
 * The folder that holds the running program, as the first call found it, without a trailing slash;
 * free() it. NULL when /proc is not there. In a chroot the kernel tells another path once the
 * process has mounts of its own.
 */
char *bb_program_dir(void);

/*
 * Files in folders that another user may have made, such as results/ of a tree that was checked
 * out. A symbolic link in a path is followed only when it belongs to the caller or to root; through
 * any other link, its maker would choose which of the caller's files is written. The path is walked
 * by descriptors, so that a link which is put there meanwhile is not followed either.
 */

/* openat(2) with O_CLOEXEC. An fd or -errno; -ELOOP: such a link is in the way. */
int bb_own__openat(int dir_fd, const char *path, int flags, mode_t mode);

/* The folder, made with all that lead to it when they are not there. An fd or -errno. */
int bb_own__make_dirs(int dir_fd, const char *path);

/* The text for an errno that these functions return, 0 < error. */
const char *bb_own__strerror(int error);

/*
 * Temporary files and folders that a killed process could not remove: their maker holds a lock on
 * them (flock) as long as it exists. Lock `fd`, a temporary file or folder of ours in the folder
 * `dir_fd`, and remove its older siblings that nobody has locked: those called like it but for the
 * last `n_random` characters of its name, of the same owner, a minute old. What cannot be removed
 * stays.
 */
void bb_leftover__lock_and_remove_others(int dir_fd, const char *name, size_t n_random, int fd);

/* A file that appears whole or not at all: until it is written it is another, hidden one. */
struct bb_new_file {
	int dir_fd, fd; /* fd: to write to; -1: it is closed already */
	const char *name;
	char temp[NAME_MAX + 1];
};

/* 0 or -errno. The folder and the name are lent. Leftovers of the same name are removed. */
int bb_new_file__open(int dir_fd, const char *name, mode_t mode, struct bb_new_file *ret_file);

/* What `rc` says of the writing, what follows may add to: 0 or -errno, and then nothing is there.
 * It replaces another of that name, or there must be none (-EEXIST). One that is not synced may be
 * lost when the machine fails. */
int bb_new_file__finish(struct bb_new_file *f, int rc, bool replaces, bool synced);

#endif
