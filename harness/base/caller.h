/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/*
 * The caller is the user for whom bpfbench works: under sudo, the user who called sudo. bpfbench
 * uses root's rights for bpf(), perf_event_open() and namespaces, but opens files with the caller's
 * rights:
 *
 * - main() calls bb_caller__own_files() first. From then on, open() of a path that the caller may
 * not read fails with EACCES, also in libraries. A new file belongs to the caller.
 *
 * - bb_root__open() and bb_root__begin() are the exceptions. They open files of the kernel that
 * only root may open, below /proc, /sys and tracefs.
 *
 * - bb_caller__become() gives up root's rights for good. Commands that need no root call it.
 *
 * If the caller is root, these functions change no identity. After exec() in a process of root, the
 * new program opens files as root again.
 */

/* Returns the caller: SUDO_UID and SUDO_GID if root runs us under sudo, else the real user. */
void bb_caller(uid_t *ret_uid, gid_t *ret_gid);

/* Gives this thread the caller's uid, gid and groups for opening files (setfsuid(2)). Later threads
 * and child processes of this thread inherit them. The kernel then removes CAP_DAC_OVERRIDE,
 * CAP_DAC_READ_SEARCH, CAP_CHOWN, CAP_FOWNER and CAP_MKNOD from the thread's effective
 * capabilities. Returns 0 or -errno. */
int bb_caller__own_files(struct bb_err *err);

int bb_caller__become(struct bb_err *err);

/* Opens a kernel file with root's rights, as open(2) does. `path` must begin with /proc/ or /sys/.
 * It must not begin with /proc/PID/root/, because the owner of that process controls what the path
 * names. Returns a descriptor or -errno. */
int bb_root__open(const char *path, int flags);

/* Reads the beginning of a kernel file into ret_text[size], which always ends in NUL. `path` is as
 * in bb_root__open(). Returns the length of the text or -errno. */
int bb_root__read(const char *path, char *ret_text, size_t size);

/* Reads a number from the first line of a kernel file, like bb_root__read(). */
int bb_root__read_u64(const char *path, uint64_t *ret_value);

/* Between bb_root__begin() and bb_root__end(), which do not nest, this thread opens files with
 * root's rights, for libraries that read tracefs. bb_root__end() aborts the process if it cannot
 * give up these rights. Both leave errno unchanged. Unless the caller is root, both clear the
 * thread's PR_SET_PDEATHSIG. */
void bb_root__begin(void);
void bb_root__end(void);

/* Makes a process of root become the user `uid` for good, with that user's groups. Does nothing if
 * the process is not root's, or if `uid` is 0. Returns 0 or -errno. */
int bb_become_user(uid_t uid, gid_t gid);

/* True in the initial user namespace. Elsewhere root's capabilities do not cover BPF and perf. */
bool bb_user__is_initial_namespace(void);
