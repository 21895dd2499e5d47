/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs for test_kernel_hooks.sh, on hooks that many kernels lack or refuse (kprobes,
 * trampolines, LSM, links to many functions). mkdir(2) runs those on functions of the kernel.
 */
#include "counts_runs.h"

PROGRAM(users_multi, "uprobe.multi/libc.so.6:callo*", 0)
PROGRAM(users_return_multi, "uretprobe.multi/libc.so.6:malloc", 0)
PROGRAM(users_session, "uprobe.session/libc.so.6:malloc", 0)
PROGRAM(users_sleepable, "uprobe.s/libc.so.6:malloc", 0)
PROGRAM(users_sleepable_multi, "uprobe.multi.s/libc.so.6:malloc", 0)
PROGRAM(tasks_sleepable, "iter.s/task", 0)
PROGRAM(files, "iter/task_file", 0)

PROGRAM(kernel, "kprobe/vfs_mkdir", 0)
PROGRAM(kernel_return, "kretprobe/vfs_mkdir", 0)
PROGRAM(kernel_call, "ksyscall/mkdir", 0)
PROGRAM(kernel_multi, "kprobe.multi/vfs_mkdi*", 0)
PROGRAM(kernel_return_multi, "kretprobe.multi/vfs_mkdir", 0)
PROGRAM(kernel_session, "kprobe.session/vfs_mkdir", 0)
PROGRAM(on_entry, "fentry/vfs_mkdir", 0)
PROGRAM(on_exit, "fexit/vfs_mkdir", 0)
PROGRAM(entry_sleepable, "fentry.s/__x64_sys_mkdir", 0)
PROGRAM(allows_cgroup, "lsm_cgroup/inode_mkdir", 1)

/* Hooks that do not exist. */
PROGRAM(no_entry, "fentry/vfs_mkdri", 0)
PROGRAM(no_lsm, "lsm/inode_mkdri", 0)
PROGRAM(no_event, "tp_btf/sched_swicth", 0)
PROGRAM(no_raw, "raw_tp/sched_swicth", 0)
PROGRAM(no_function, "uprobe.multi/libc.so.6:maloc", 0)
