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

/* sudo's SUDO_UID and SUDO_GID when root runs us, the real user when it is not root, else
 * ourselves. */
void bb_caller(uid_t *ret_uid, gid_t *ret_gid);

/*
 * The file identity of this thread and of the threads and children that it makes: uid, gid and
 * groups of the caller (setfsuid(2)). It takes CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_CHOWN,
 * CAP_FOWNER and CAP_MKNOD out of the effective set. 0 or -EPERM.
 */
int bb_caller__own_files(struct bb_err *err);

/* Become the caller for good. 0 or -errno. */
int bb_caller__become(struct bb_err *err);

/* open(2) of a file of the kernel with root's rights; `path` begins with /proc/ or /sys/ and no
 * part of it is chosen by somebody else (not /proc/PID/root/...). An fd or -errno. */
int bb_root__open(const char *path, int flags);

/*
 * Between these two, this thread's files are opened with root's rights: for libraries that read
 * tracefs. They do not nest. They cost a system call each, and, as every change of identity does,
 * clear the thread's PR_SET_PDEATHSIG. errno is kept.
 */
void bb_root__begin(void);
void bb_root__end(void);

/* Root becomes that user for good, groups and all; nothing for others, and for root itself. 0 or
 * -errno. */
int bb_become_user(uid_t uid, gid_t gid);

/* Root of another user namespace has its capabilities over that namespace, not over BPF and perf.
 */
bool bb_user__is_initial_namespace(void);

#endif
