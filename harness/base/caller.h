/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BASE_CALLER_H
#define BB_BASE_CALLER_H

#include "base/err.h"
#include "base/std.h"

/*
 * The caller is the user for whom bpfbench works. Root's rights are for bpf(), perf_event_open()
 * and namespaces; files belong to the caller:
 *
 * - main() calls bb_caller__own_files() first. From then on every file is opened, made and looked
 *   up with the caller's identity, by all code and libraries: open() of a path that the caller may
 *   not read fails with EACCES, and a new file is the caller's. No code has to remember it.
 * - bb_root__open() and bb_root__begin() are the exceptions, for files of the kernel that root
 *   alone may open: below /proc, /sys and tracefs.
 * - bb_caller__become() is for commands that need no root at all: it gives root's rights up for
 *   good.
 *
 * This does nothing when the caller is root itself. A child that changes its user for good uses
 * bb_become_user(); exec() by root makes files root's again.
 */

/* Returns the caller: SUDO_UID and SUDO_GID if root runs us under sudo, else the real user. */
void bb_caller(uid_t *ret_uid, gid_t *ret_gid);

/*
 * Gives this thread, and the threads and children it makes, the caller's identity for files: uid,
 * gid and groups (setfsuid(2)). Removes CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_CHOWN,
 * CAP_FOWNER and CAP_MKNOD from the effective set. Returns 0 or -EPERM.
 */
int bb_caller__own_files(struct bb_err *err);

/* Becomes the caller for good. Returns 0 or -errno. */
int bb_caller__become(struct bb_err *err);

/*
 * Opens a kernel file with root's rights, as open(2) does. `path` begins with /proc/ or /sys/, and
 * nobody else chooses a part of it (so no /proc/PID/root/...). Returns a descriptor or -errno.
 */
int bb_root__open(const char *path, int flags);

/* Reads the beginning of such a file into ret_text[size], which always ends in NUL. Returns its
 * length or -errno. */
int bb_root__read(const char *path, char *ret_text, size_t size);

/* Reads a number from the first line of such a file. Returns 0 or -errno. */
int bb_root__read_u64(const char *path, uint64_t *ret_value);

/*
 * Between these two calls this thread opens files with root's rights, for libraries that read
 * tracefs. They do not nest. Each costs a system call and clears the thread's PR_SET_PDEATHSIG, as
 * every change of identity does. errno is kept.
 */
void bb_root__begin(void);
void bb_root__end(void);

/* Makes a root process become that user for good, with the groups. Does nothing for other users,
 * or if the user is root. Returns 0 or -errno. */
int bb_become_user(uid_t uid, gid_t gid);

/* False for root in another user namespace, whose capabilities do not extend to BPF and perf. */
bool bb_user__is_initial_namespace(void);

#endif
