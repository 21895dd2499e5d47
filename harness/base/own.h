/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BASE_OWN_H
#define BB_BASE_OWN_H

#include <sys/types.h>

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

#endif
